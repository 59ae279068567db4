"""Which rows a model trains and validates on, and what they weigh: row numbers, never copies of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from polyladder.polynomial.ladder import check_tensor
from polyladder.polynomial.sparse import is_sparse, stored_values

Rows = Tensor | Sequence[Tensor] | None


def check_inputs(x: Tensor, in_features: int) -> None:
    """Refuse inputs that are not rows (n, d) of finite numbers."""
    check_tensor("x", x)
    if x.dim() != 2 or x.shape[1] != in_features or not len(x):
        raise ValueError(f"x must have shape (n, {in_features}), n > 0; got shape {tuple(x.shape)}.")
    if not bool(stored_values(x).isfinite().all()):
        raise ValueError("x must be finite; got NaN or infinity. Drop or impute those rows first.")


def checked_rows(x: Tensor, in_features: int, device: torch.device) -> Tensor:
    """The inputs (n, d) in float64 on a device, if exact solves can read them."""
    check_inputs(x, in_features)
    if is_sparse(x):
        raise ValueError("x must be dense for exact solves; got a sparse tensor. Train by gradient steps instead.")
    return x.detach().to(dtype=torch.float64, device=device)


def chosen_rows(
    rows: Rows, validation: Rows, sample_weight: Tensor | None, count: int, batch_shape: Sequence[int]
) -> tuple[list[Tensor], list[Tensor] | None]:
    """Row numbers to train and to validate on, one vector per model of the flattened batch; models may share one.

    Args:
        rows: in the forms of `row_vectors`; None is all but the validation rows.
        validation: in the same forms, or None.
        sample_weight: checked against both; see `check_weight`.
        count: n, the number of rows there are.
        batch_shape: of the models.
    """
    held_out = None if validation is None else row_vectors("validation", validation, count, batch_shape)
    if rows is not None:
        chosen = row_vectors("rows", rows, count, batch_shape)
    elif held_out is not None:
        chosen = all_but(held_out, count)
    else:
        chosen = [torch.arange(count, dtype=torch.int32)] * math.prod(batch_shape)
    if sample_weight is not None:
        check_weight(sample_weight, [*chosen, *(held_out or [])], count)
    return chosen, held_out


def row_weights(vectors: list[Tensor], sample_weight: Tensor | None, like: Tensor) -> Tensor:
    """The weight of every row for every model: how often its number occurs, times its sample weight.

    Args:
        vectors: row numbers, as `chosen_rows` returns them.
        sample_weight: shape (n,), or None.
        like: the rows, of whose dtype and device the weights are. Shape (n, d).

    Returns:
        Shape (B, n), or (1, n) where all models share one vector.
    """
    distinct = vectors[:1] if all(v is vectors[0] for v in vectors) else vectors
    times = torch.stack([torch.bincount(v, minlength=len(like)) for v in distinct]).to(like)
    return times if sample_weight is None else times * sample_weight.detach().to(like)


def row_vectors(name: str, rows: Tensor | Sequence[Tensor], count: int, batch_shape: Sequence[int]) -> list[Tensor]:
    """One vector of row numbers for each model of the flattened batch.

    Args:
        name: of the argument, for the error.
        rows: one vector for all models, shape (r,); one of the same length for each, shape (*batch_shape, r); or a
            sequence of vectors, one per model of the flattened batch.
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
            raise ValueError(f"{name} must hold {models} vectors, one per model; got {len(vectors)}.")
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
        raise ValueError(f"{name} must name at least one row per model; got none.")
    if vector.min() < 0 or vector.max() >= count:
        raise ValueError(
            f"{name} must be in 0, ..., {count - 1}, the rows of x; got {int(vector.min())} to {int(vector.max())}."
        )
    return vector.detach().to(device="cpu", dtype=torch.int32)


def all_but(held_out: list[Tensor], count: int) -> list[Tensor]:
    """For each vector of row numbers, the numbers of all other rows."""
    others: dict[int, Tensor] = {}
    for vector in held_out:
        if id(vector) not in others:
            left = torch.ones(count, dtype=torch.bool)
            left[vector.long()] = False
            if not left.any():
                raise ValueError(f"validation must leave rows to train on; got all {count}. Give rows as well.")
            others[id(vector)] = left.nonzero().squeeze(-1).to(torch.int32)
    return [others[id(vector)] for vector in held_out]


def check_weight(weight: Tensor, rows: list[Tensor], count: int) -> None:
    """Refuse weights of another length, negative weights, and models whose rows all have weight zero."""
    if tuple(weight.shape) != (count,):
        raise ValueError(f"sample_weight must have shape ({count},); got shape {tuple(weight.shape)}.")
    if not bool(((weight >= 0) & weight.isfinite()).all()):
        raise ValueError(f"sample_weight must be finite and not negative; got {weight.min():g} to {weight.max():g}.")
    positive = weight.cpu() > 0
    if not all(bool(positive[r].any()) for r in rows):
        raise ValueError("sample_weight must be positive for some row of every model; got only zeros for one of them.")
