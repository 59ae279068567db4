"""A number is held to a range."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyladder.fitted.steps.step import Array, Step


@dataclass(frozen=True)
class Clip(Step):
    """A number is held to [low, high]; what is missing stays missing."""

    low: float
    high: float

    def apply(self, x: Array) -> Array:
        """The values at x."""
        return np.clip(x, self.low, self.high)

    def inverse(self, y: Array) -> Array:
        """The values themselves, held to the range too."""
        return np.clip(y, self.low, self.high)

    def slope(self, x: Array) -> Array:
        """One inside of the range, its ends included."""
        return np.where((x >= self.low) & (x <= self.high), 1.0, 0.0)

    @property
    def bends(self) -> tuple[float, ...]:
        """The ends of the range."""
        return self.low, self.high
