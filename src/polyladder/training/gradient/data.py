"""The data of a training run, checked once: inputs, targets, weights and the row numbers of every model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

from torch import Tensor

from polyladder.models.batched import BatchedModule
from polyladder.polynomial.ladder import check_tensor
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.gradient.robust import Robust, ladder
from polyladder.training.losses import AnyLoss, loss_and_targets
from polyladder.training.losses.loss import Loss
from polyladder.training.rows import Rows, check_inputs, chosen_rows


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Data in the dtype and on the device of the network that is to learn it.

    Args:
        loss: which loss.
        x: inputs, dense or CSR. Shape (n, d).
        target: as the loss codes it. Shape (n, m), or (n,) for classes.
        weight: of the rows, or None. Shape (n,).
        rows: numbers of the rows to train on, one vector per model of the flattened batch. Shapes (r_i,).
        validation: numbers of the rows to validate on, or None. Shapes (v_i,).
        robust: how far rows may move, or None.
    """

    loss: Loss
    x: Tensor
    target: Tensor
    weight: Tensor | None
    rows: list[Tensor]
    validation: list[Tensor] | None
    robust: Robust | None = None


def checked_data(
    net: BatchedModule, loss: AnyLoss, x: Tensor, y: Tensor, weight: Tensor | None, rows: Rows, validation: Rows
) -> TrainingData:
    """Refuse data that the network cannot learn from, with the reason; the arguments are those of `train`."""
    d, m = cast(int, net.in_features), cast(int, net.out_features)
    check_inputs(x, d)
    check_tensor("y", y)
    if weight is not None:
        check_tensor("sample_weight", weight)
    if not any(p.requires_grad for p in net.parameters()):
        raise ValueError("net must have a parameter to train; got none that requires a gradient.")
    if is_sparse(x) and math.prod(net.batch_shape) != 1:
        raise ValueError(
            f"x must be dense for a batch of models, as each has rows of its own; got a sparse tensor for "
            f"{math.prod(net.batch_shape)} models. Train them one by one."
        )
    n, like = len(x), next(net.parameters())
    found, target = loss_and_targets(loss, y, n, m, like.dtype)
    chosen, held_out = chosen_rows(rows, validation, weight, n, net.batch_shape)
    if weight is not None:
        weight = weight.detach().to(dtype=like.dtype, device=like.device)
    x = x.detach().to(dtype=like.dtype, device=like.device)
    return TrainingData(found, x, target.detach().to(like.device), weight, chosen, held_out)


def check_movable(net: BatchedModule, x: Tensor) -> None:
    """Refuse data and networks without derivatives by the inputs."""
    ladder(net)
    if is_sparse(x):
        raise ValueError("x must be dense for jacobian_penalty and robust, which move all inputs; got a sparse tensor.")
