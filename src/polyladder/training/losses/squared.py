"""The squared error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from polyladder.training.losses.loss import Loss


@dataclass(frozen=True)
class Squared(Loss):
    """(f - y)^2 of each output; its own quadratic."""

    name: ClassVar[str] = "squared"
    measure: ClassVar[str] = "share of variance"
    quadratic: ClassVar[bool] = True
    curvature: ClassVar[float | None] = 2.0

    def each(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Squared errors."""
        return (outputs - target).square()

    def slopes(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Twice the errors."""
        return 2 * (outputs - target)

    def curvatures(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Two everywhere."""
        return torch.full_like(outputs, 2.0)

    def bound(self, outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """The targets themselves, with weight 1."""
        return target.expand_as(outputs), outputs.new_ones(1, outputs.shape[-2])


SQUARED = Squared()
