"""Every loss, settled, with outputs and targets that it reads."""

from __future__ import annotations

import pytest
from torch import Tensor

from polyladder.training.losses import LOSSES
from polyladder.training.losses.huber import Huber
from polyladder.training.losses.loss import Loss
from tests.ladders import rows

EVERY = [pytest.param(loss, id=loss.name) for loss in LOSSES.values() if loss.settled]
EVERY += [pytest.param(Huber((0.7,)), id="huber"), pytest.param(Huber((0.1, 0.5, 3.0)), id="huber of three")]


def target_for(loss: Loss, y: Tensor) -> Tensor:
    """Targets of a loss, from numbers (n, m)."""
    if loss.answer == "numbers":
        return y
    return y.argmax(-1) if loss.name == "softmax" else (y > 0).double()


def case(loss: Loss, n: int = 7, m: int = 3, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Outputs (n, m) and targets."""
    return 2 * rows(n, m, seed=seed), target_for(loss, rows(n, m, seed=seed + 1))


def total(loss: Loss, outputs: Tensor, target: Tensor) -> Tensor:
    """The loss of each row, summed over outputs."""
    return loss.each(outputs, target).sum(-1)
