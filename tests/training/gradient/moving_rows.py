"""Ladders, rows and targets for every loss, with rows that may move."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder import LadderPolynomial
from polyladder.training.losses import LOSSES as NAMED
from polyladder.training.losses.huber import Huber
from polyladder.training.losses.loss import Loss
from tests.ladders import random_ladder, rows

LOSSES: tuple[Loss, ...] = (*(loss for loss in NAMED.values() if loss.settled), Huber((0.7, 0.3, 2.0)))
"""Every loss, settled."""


def case(
    loss: Loss, batch_shape: tuple[int, ...] = (), hidden: tuple[int, ...] = (5, 4, 3)
) -> tuple[LadderPolynomial, Tensor, Tensor, Tensor]:
    """A ladder of 4 inputs and 3 outputs, 7 rows, their targets and a radius, which differs from model to model."""
    p = random_ladder(4, hidden, 3, batch_shape=batch_shape, seed=3)
    x, y = rows(7, 4, seed=1), rows(7, 3, seed=2)
    target = target_for(loss, y)
    radius = 0.1 + 0.1 * torch.rand(*batch_shape, 1, 1, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    return p, x, target, radius


def target_for(loss: Loss, y: Tensor) -> Tensor:
    """Targets of a loss, from numbers (n, m)."""
    if loss.answer == "numbers":
        return y
    return y.argmax(1) if loss.name == "softmax" else (y > 0).double()


def moved_rows(p: LadderPolynomial, x: Tensor, radius: Tensor, seed: int) -> Tensor:
    """Rows of the boxes, corners among them. Shape (*batch_shape, n, d)."""
    noise = torch.rand(*p.batch_shape, *x.shape, generator=torch.Generator().manual_seed(seed), dtype=x.dtype) * 2 - 1
    return x + radius * (noise.sign() if seed % 2 else noise)
