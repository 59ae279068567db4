"""The losses by name, their targets, and their values row by row for many models at once."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

Loss = Literal["squared", "logistic", "softmax"]


def row_losses(loss: Loss, prediction: Tensor, target: Tensor) -> Tensor:
    """The loss of every row under every model; several outputs of one row are averaged, classes are not outputs.

    Args:
        loss: ``"squared"``, ``"logistic"`` (each output on its own) or ``"softmax"`` (cross-entropy over the outputs).
        prediction: outputs; for the two losses of classes, before softmax or sigmoid. Shape (*batch_shape, n, m).
        target: as `targets` returns it, shared or gathered for each model. Shape (n, m) or (*batch_shape, n, m); for
            ``"softmax"`` (n,) or (*batch_shape, n).

    Returns:
        Shape (*batch_shape, n).
    """
    if loss == "squared":
        return (prediction - target).square().mean(-1)
    if loss == "softmax":
        classes = target.expand(prediction.shape[:-1])
        return F.cross_entropy(prediction.flatten(0, -2), classes.reshape(-1), reduction="none").view(classes.shape)
    labels = target.expand(prediction.shape)
    return F.binary_cross_entropy_with_logits(prediction, labels, reduction="none").mean(-1)


def targets(loss: Loss, y: Tensor, rows: int, out_features: int, dtype: torch.dtype) -> Tensor:
    """Check the targets against the loss and the network, and bring them into the form that `row_losses` reads.

    Args:
        loss: one of the three.
        y: numbers of shape (n, m), or (n,) for one output, for ``"squared"``; the same with values 0 and 1 for
            ``"logistic"``; whole numbers 0, ..., m - 1 of shape (n,) for ``"softmax"``.
        rows: n, the number of rows of x.
        out_features: m, the number of outputs of the network.
        dtype: of the network.

    Returns:
        Shape (n, m) in ``dtype``; for ``"softmax"`` shape (n,), int64.
    """
    if loss not in get_args(Loss):
        raise ValueError(f"loss must be one of {', '.join(map(repr, get_args(Loss)))}; got {loss!r}.")
    if loss == "softmax":
        if y.is_floating_point() or y.is_complex() or tuple(y.shape) != (rows,):
            raise ValueError(
                f"y must hold one whole number per row, shape ({rows},), for the loss 'softmax'; "
                f"got shape {tuple(y.shape)} of {y.dtype}."
            )
        if y.min() < 0 or y.max() >= out_features:
            raise ValueError(
                f"y must be in 0, ..., {out_features - 1}, one class per output; got {int(y.min())} to {int(y.max())}."
            )
        return y.long()
    column = y.unsqueeze(-1) if y.dim() == 1 else y
    if tuple(column.shape) != (rows, out_features):
        wanted = f"({rows}, {out_features})" + (f" or ({rows},)" if out_features == 1 else "")
        raise ValueError(f"y must have shape {wanted}; got shape {tuple(y.shape)}.")
    column = column.to(dtype)
    if loss == "logistic" and not bool(((column == 0) | (column == 1)).all()):
        raise ValueError(f"y must hold only 0 and 1 for the loss 'logistic'; got {y.min():g} to {y.max():g}.")
    if not bool(column.isfinite().all()):
        raise ValueError("y must be finite; got NaN or infinity. Drop or impute those rows first.")
    return column
