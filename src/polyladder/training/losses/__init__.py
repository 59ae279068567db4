"""The losses that models are fitted by, one file each. A new one is its file and its line here."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.training.losses.huber import Huber
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.loss import Loss
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import Squared

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Squared(), Logistic(), Softmax(), Huber())}
"""All losses by their names."""

AnyLoss = Loss | str
"""A loss, or its name."""

NUMBER_LOSSES = tuple(name for name, loss in LOSSES.items() if loss.answer == "numbers")
"""Names of the losses of numbers."""


def loss_named(loss: AnyLoss) -> Loss:
    """The loss of a name, or the loss itself."""
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))}; got {loss!r}.")
    return LOSSES[loss]


def loss_and_targets(loss: AnyLoss, y: Tensor, rows: int, out_features: int, dtype: torch.dtype) -> tuple[Loss, Tensor]:
    """The loss with all that it learns from the targets, and these as it codes them (`Loss.coded`)."""
    found = loss_named(loss)
    target = found.coded(y, rows, out_features, dtype)
    if not found.settled:
        center, _ = found.standards(target, torch.full_like(target[:, 0], 1 / len(target)))
        found = found.settle(center.expand_as(target), target)
    return found, target
