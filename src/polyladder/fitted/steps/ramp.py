"""A number as its way through one part of a range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polyladder.fitted.steps.step import Array, Step


@dataclass(frozen=True)
class Ramp(Step):
    """clip((x - low) / (high - low), 0, 1): 0 before a piece of the range, rising inside of it, 1 behind it."""

    low: float
    high: float

    def apply(self, x: Array) -> Array:
        """The values at x."""
        return np.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    @classmethod
    def together(cls, steps: Sequence[Ramp]) -> Callable[[Array], Array]:
        """All of them, in place."""
        all_steps = cls.stacked(steps)
        width = np.asarray(all_steps.high) - all_steps.low

        def apply(x: Array) -> Array:
            x -= all_steps.low
            x /= width
            return np.clip(x, 0.0, 1.0, out=x)

        return apply

    def inverse(self, y: Array) -> Array:
        """Between the ends of the piece."""
        return self.low + np.clip(y, 0.0, 1.0) * (self.high - self.low)

    def slope(self, x: Array) -> Array:
        """Nothing but inside of the piece."""
        return np.where((self.low < x) & (x < self.high), 1.0 / (self.high - self.low), 0.0)

    @property
    def bends(self) -> tuple[float, ...]:
        """The ends of the piece."""
        return self.low, self.high
