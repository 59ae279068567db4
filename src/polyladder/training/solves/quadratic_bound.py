"""Losses as weighted least squares: each is bounded from above by a quadratic that touches it at the current output.

A step that lowers the quadratic therefore lowers the loss, so block solves stay monotone for classification as well.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from polyladder.training.losses import Loss, targets


class QuadraticBound(Protocol):
    """What exact solves need to know of a loss.

    Attributes:
        noise: the noise variance that a negative log-likelihood corresponds to, 1/2 (it counts a squared error over
            2 s as one nat); None where the noise is to be estimated.
    """

    noise: float | None

    def value(self, f: Tensor) -> Tensor:
        """Loss of every row. Shape (B, m, n) to (B, n)."""

    def quadratic(self, f: Tensor) -> tuple[Tensor, Tensor]:
        """(response (B, m, n), curvature (B, n) or (1, n)) of the bound curvature * sum_o (f_o - response_o)^2."""


class SquaredError:
    """Sum over outputs of (f - y)^2; its own quadratic."""

    noise: float | None = None

    def __init__(self, y: Tensor) -> None:
        self.y = y

    def value(self, f: Tensor) -> Tensor:
        """Loss of every row."""
        return (f - self.y).square().sum(1)

    def quadratic(self, f: Tensor) -> tuple[Tensor, Tensor]:
        """The targets themselves, with curvature 1."""
        return self.y.expand_as(f), f.new_ones(1, f.shape[-1])


class Logistic:
    """log(1 + exp(-s f)) for signs s = +-1, bounded as by Jaakkola and Jordan: curvature tanh(f / 2) / (4 f)."""

    noise: float | None = 0.5

    def __init__(self, sign: Tensor) -> None:
        self.sign = sign

    def value(self, f: Tensor) -> Tensor:
        """Loss of every row."""
        return torch.nn.functional.softplus(-self.sign * f).sum(1)

    def quadratic(self, f: Tensor) -> tuple[Tensor, Tensor]:
        """The tightest quadratic that is even in f and touches the loss at the current output."""
        small = f.abs() < 1e-4
        safe = torch.where(small, torch.ones_like(f), f)
        curvature = torch.where(small, torch.full_like(f, 0.125), (safe / 2).tanh() / (4 * safe))
        return self.sign / (4 * curvature), curvature[:, 0]


class Softmax:
    """Cross-entropy of several classes, bounded as by Boehning: its Hessian is at most 1/2."""

    noise: float | None = 0.5

    def __init__(self, one_hot: Tensor) -> None:
        self.one_hot = one_hot

    def value(self, f: Tensor) -> Tensor:
        """Loss of every row."""
        return f.logsumexp(1) - (f * self.one_hot).sum(1)

    def quadratic(self, f: Tensor) -> tuple[Tensor, Tensor]:
        """One gradient step of length 2, with curvature 1/4."""
        return f + 2 * (self.one_hot - f.softmax(1)), f.new_full((1, f.shape[-1]), 0.25)


def quadratic_bound(loss: Loss, y: Tensor, like: Tensor, out_features: int) -> QuadraticBound:
    """The loss by name over checked targets.

    Args:
        loss: one of the three.
        y: as `polyladder.training.losses.targets` reads it; one output alone for "logistic".
        like: the rows, of whose dtype and device the bound is. Shape (n, d).
        out_features: m, the number of outputs.
    """
    if loss == "logistic" and out_features != 1:
        raise ValueError(f"The model must have 1 output for the loss 'logistic'; got {out_features}. Use 'softmax'.")
    target = targets(loss, y.detach(), len(like), out_features, like.dtype).to(like.device)
    if loss == "softmax":
        target = torch.nn.functional.one_hot(target, out_features).to(like.dtype)
    column = target.mT.unsqueeze(0)
    if loss == "squared":
        return SquaredError(column)
    return Softmax(column) if loss == "softmax" else Logistic(2 * column - 1)
