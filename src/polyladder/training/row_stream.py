"""Which rows each model sees, in which order: row numbers only, never copies of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

Rows = Tensor | Sequence[Tensor] | None


class RowStream:
    """For every model an endless stream of its own rows: one permutation after another, from its own generator.

    A mini-batch is the next ``batch_size`` rows of the stream, so every batch is full, a row is never seen twice
    before all others were seen once, and what a model sees depends on neither its neighbors nor their rows. An epoch
    of a model with r rows is ceil(r / batch_size) batches.

    Args:
        rows: the row numbers of each model. Shapes (r_i,).
        batch_size: rows a batch.
        generators: one a model; None stands for torch's global stream.
    """

    def __init__(self, rows: list[Tensor], batch_size: int, generators: list[torch.Generator | None]) -> None:
        self.rows, self.batch_size, self.generators = rows, batch_size, generators
        self.rest = [r[:0] for r in rows]
        self.steps = torch.tensor([math.ceil(len(r) / batch_size) for r in rows])

    def epoch(self) -> Tensor:
        """The row numbers of the next epoch. Shape (steps, models, batch_size), int32.

        A model with fewer steps than its neighbors has row 0 in the steps that it must sit out.
        """
        index = torch.zeros(int(self.steps.max()), len(self.rows), self.batch_size, dtype=torch.int32)
        for i, (rows, generator, steps) in enumerate(zip(self.rows, self.generators, self.steps.tolist(), strict=True)):
            wanted = steps * self.batch_size
            pieces = [self.rest[i]]
            while (missing := wanted - sum(map(len, pieces))) > 0:
                pieces.append(rows[torch.randperm(len(rows), generator=generator)])
            self.rest[i] = pieces[-1][len(pieces[-1]) + missing :]
            index[:steps, i] = torch.cat(pieces)[:wanted].view(steps, self.batch_size)
        return index

    def part(self, models: Tensor) -> RowStream:
        """The same streams, at the same place, of some of the models."""
        chosen = models.tolist()
        other = RowStream([self.rows[i] for i in chosen], self.batch_size, [self.generators[i] for i in chosen])
        other.rest = [self.rest[i] for i in chosen]
        return other


def row_vectors(name: str, rows: Tensor | Sequence[Tensor], count: int, batch_shape: Sequence[int]) -> list[Tensor]:
    """One vector of row numbers for each model of the flattened batch.

    Args:
        name: of the argument, for the error.
        rows: one vector for all models, shape (r,); one of the same length for each, shape (*batch_shape, r); or a
            sequence of vectors, one a model of the flattened batch.
        count: n, the number of rows there are.
        batch_shape: of the models.
    """
    models, batch = math.prod(batch_shape), tuple(batch_shape)
    if isinstance(rows, Tensor):
        if rows.dim() == 1:
            vectors = [rows] * models
        elif tuple(rows.shape[:-1]) == batch:
            vectors = list(rows.reshape(models, -1))
        else:
            shapes = f"(r,) or {(*batch, 'r')}".replace("'", "")
            raise ValueError(f"{name} must have shape {shapes}; got shape {tuple(rows.shape)}.")
    else:
        vectors = [torch.as_tensor(r) for r in rows]
        if len(vectors) != models:
            raise ValueError(f"{name} must hold {models} vectors, one a model; got {len(vectors)}.")
    checked: dict[int, Tensor] = {}
    for vector in vectors:
        if id(vector) not in checked:
            checked[id(vector)] = check_row_numbers(name, vector, count)
    return [checked[id(vector)] for vector in vectors]


def check_row_numbers(name: str, vector: Tensor, count: int) -> Tensor:
    """Refuse anything but a vector of numbers of existing rows; return it as int32 on the CPU."""
    if vector.dim() != 1 or vector.is_floating_point() or vector.dtype == torch.bool:
        raise ValueError(
            f"{name} must be vectors of row numbers; got shape {tuple(vector.shape)} of {vector.dtype}. "
            "Turn a mask into numbers with mask.nonzero().squeeze(-1)."
        )
    if not len(vector):
        raise ValueError(f"{name} must name at least one row a model; got none.")
    if vector.min() < 0 or vector.max() >= count:
        raise ValueError(
            f"{name} must be in 0, ..., {count - 1}, the rows of x; got {int(vector.min())} to {int(vector.max())}."
        )
    return vector.detach().to(device="cpu", dtype=torch.int32)
