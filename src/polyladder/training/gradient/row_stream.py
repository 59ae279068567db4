"""Which rows each model sees, in which order: row numbers only, never copies of the rows."""

from __future__ import annotations

import math

import torch
from torch import Tensor


class RowStream:
    """For every model an endless stream of its own rows: one permutation after another, from its own generator.

    A mini-batch is the next ``batch_size`` rows of the stream, so every batch is full, a row is never seen twice
    before all others were seen once, and what a model sees depends on neither its neighbors nor their rows. An epoch
    of a model with r rows is ceil(r / batch_size) batches.

    Args:
        rows: the row numbers of each model. Shapes (r_i,).
        batch_size: rows of a batch.
        generators: one per model; None stands for torch's global stream.
    """

    def __init__(self, rows: list[Tensor], batch_size: int, generators: list[torch.Generator | None]) -> None:
        self.rows, self.batch_size, self.generators = rows, batch_size, generators
        self.rest = [r[:0] for r in rows]
        self.steps = torch.tensor([math.ceil(len(r) / batch_size) for r in rows])

    def epoch(self) -> Tensor:
        """The row numbers of the next epoch. Shape (steps, models, batch_size), int32.

        A model with fewer steps than its neighbors has row 0 in the steps that it does not take.
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
