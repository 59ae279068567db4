"""A loss at given targets as weighted least squares: a quadratic lies above it and touches it at the current output.

A step that lowers the quadratic therefore lowers the loss: block solves are monotone for every loss that has a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from polyladder.training.losses import AnyLoss, loss_and_targets, loss_named
from polyladder.training.losses.loss import Loss


class QuadraticBound(Protocol):
    """What exact solves need from a loss. Outputs come before rows: shape (B, m, n)."""

    @property
    def noise(self) -> float | None:
        """The noise variance; None where it is to be estimated."""

    def value(self, f: Tensor) -> Tensor:
        """Loss of every row, summed over outputs. Shape (B, m, n) to (B, n)."""

    def scatter(self, f: Tensor) -> Tensor:
        """What every row adds to an estimate of the noise variance. Shape (B, m, n) to (B, n)."""

    def quadratic(self, f: Tensor) -> tuple[Tensor, Tensor]:
        """(response (B, m, n), curvature (B, n) or (1, n)) of the bound curvature * sum_o (f_o - response_o)^2."""


@dataclass(frozen=True, eq=False)
class BoundAt:
    """A loss at coded targets."""

    loss: Loss
    target: Tensor

    @property
    def noise(self) -> float | None:
        """Of the loss."""
        return self.loss.noise

    def value(self, f: Tensor) -> Tensor:
        """Loss of every row."""
        return self.loss.each(f.mT, self.target).sum(-1)

    def scatter(self, f: Tensor) -> Tensor:
        """What every row adds to an estimate of the noise variance."""
        return self.loss.scatter(f.mT, self.target)

    def quadratic(self, f: Tensor) -> tuple[Tensor, Tensor]:
        """`Loss.bound`, with outputs before rows."""
        response, curvature = self.loss.bound(f.mT, self.target)
        return response.mT, curvature


def quadratic_bound(loss: AnyLoss, y: Tensor, like: Tensor, out_features: int) -> BoundAt:
    """A loss, or that of a name, at checked targets.

    Args:
        loss: see `polyladder.training.losses`.
        y: as `Loss.coded` reads it; one output alone for "logistic".
        like: the rows, of whose dtype and device the bound is. Shape (n, d).
        out_features: m, the number of outputs.
    """
    loss_named(loss).check_outputs(out_features)
    found, target = loss_and_targets(loss, y.detach(), len(like), out_features, like.dtype)
    return BoundAt(found, target.to(like.device))
