"""The data of a training run, checked once: inputs, targets, weights and the row numbers of every model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from polyladder.models.batched import BatchedModule
from polyladder.polynomial.sparse import is_sparse, stored_values
from polyladder.training.losses import Loss, targets
from polyladder.training.row_stream import Rows, row_vectors


@dataclass(frozen=True, eq=False)
class Problem:
    """Data in the dtype and on the device of the network that is to learn it.

    Args:
        loss: which loss.
        x: inputs, dense or CSR. Shape (n, d).
        target: as `polyladder.training.losses.targets` returns it. Shape (n, m), or (n,) for classes.
        weight: of the rows, or None. Shape (n,).
        rows: numbers of the rows to train on, one vector a model of the flattened batch. Shapes (r_i,).
        validation: numbers of the rows to validate on, or None. Shapes (v_i,).
    """

    loss: Loss
    x: Tensor
    target: Tensor
    weight: Tensor | None
    rows: list[Tensor]
    validation: list[Tensor] | None


def checked_problem(
    net: BatchedModule, loss: Loss, x: Tensor, y: Tensor, weight: Tensor | None, rows: Rows, validation: Rows
) -> Problem:
    """Refuse data that the network cannot learn from, with the reason; the arguments are those of `train`."""
    for name, value in (("x", x), ("y", y), ("sample_weight", weight)):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a torch.Tensor; got {type(value).__name__}. Wrap it in torch.as_tensor.")
    if not any(p.requires_grad for p in net.parameters()):
        raise ValueError("net must have a parameter to train; got none that requires a gradient.")
    d, m = cast(int, net.in_features), cast(int, net.out_features)
    if x.dim() != 2 or x.shape[1] != d or not len(x):
        raise ValueError(f"x must have shape (n, {d}) with n at least 1; got shape {tuple(x.shape)}.")
    if is_sparse(x) and math.prod(net.batch_shape) != 1:
        raise ValueError(
            f"x must be dense for a batch of models, as each has rows of its own; got a sparse tensor for "
            f"{math.prod(net.batch_shape)} models. Train them one by one."
        )
    if not bool(stored_values(x).isfinite().all()):
        raise ValueError("x must be finite; got NaN or infinity. Drop or impute those rows first.")
    n, like = len(x), next(net.parameters())
    target = targets(loss, y, n, m, like.dtype)
    held_out = None if validation is None else row_vectors("validation", validation, n, net.batch_shape)
    if rows is not None:
        chosen = row_vectors("rows", rows, n, net.batch_shape)
    elif held_out is not None:
        chosen = all_but(held_out, n)
    else:
        chosen = [torch.arange(n, dtype=torch.int32)] * math.prod(net.batch_shape)
    if weight is not None:
        check_weight(weight, [*chosen, *(held_out or [])], n)
        weight = weight.detach().to(dtype=like.dtype, device=like.device)
    x = x.detach().to(dtype=like.dtype, device=like.device)
    return Problem(loss, x, target.detach().to(like.device), weight, chosen, held_out)


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
    """Refuse weights of another length, negative ones, and models all of whose rows weigh nothing."""
    if tuple(weight.shape) != (count,):
        raise ValueError(f"sample_weight must have shape ({count},); got shape {tuple(weight.shape)}.")
    if not bool(((weight >= 0) & weight.isfinite()).all()):
        raise ValueError(f"sample_weight must be finite and not negative; got {weight.min():g} to {weight.max():g}.")
    positive = weight.cpu() > 0
    if not all(bool(positive[r].any()) for r in rows):
        raise ValueError("sample_weight must be positive for some row of every model; got only zeros for one of them.")
