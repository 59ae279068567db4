"""Ladders, rows and targets for every loss, with rows that may move."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder import LadderPolynomial
from polyladder.training.losses import Loss
from tests.ladders import random_ladder, rows

LOSSES: tuple[Loss, ...] = ("squared", "logistic", "softmax")


def case(
    loss: Loss, batch_shape: tuple[int, ...] = (), hidden: tuple[int, ...] = (5, 4, 3)
) -> tuple[LadderPolynomial, Tensor, Tensor, Tensor]:
    """A ladder of 4 inputs and 3 outputs, 7 rows, their targets and a radius, which differs from model to model."""
    p = random_ladder(4, hidden, 3, batch_shape=batch_shape, seed=3)
    x, y = rows(7, 4, seed=1), rows(7, 3, seed=2)
    target = {"squared": y, "logistic": (y > 0).double(), "softmax": y.argmax(1)}[loss]
    radius = 0.1 + 0.1 * torch.rand(*batch_shape, 1, 1, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    return p, x, target, radius


def moved_rows(p: LadderPolynomial, x: Tensor, radius: Tensor, seed: int) -> Tensor:
    """Rows of the boxes, corners among them. Shape (*batch_shape, n, d)."""
    noise = torch.rand(*p.batch_shape, *x.shape, generator=torch.Generator().manual_seed(seed), dtype=x.dtype) * 2 - 1
    return x + radius * (noise.sign() if seed % 2 else noise)
