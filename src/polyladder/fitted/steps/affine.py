"""A number is shifted and scaled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polyladder.fitted.steps.operations import Operations, T
from polyladder.fitted.steps.step import Array, Step


@dataclass(frozen=True)
class Affine(Step):
    """(x - shift) / scale."""

    shift: float
    scale: float

    def apply(self, x: Array) -> Array:
        """The values at x."""
        return (x - self.shift) / self.scale

    @classmethod
    def together(cls, steps: Sequence[Affine]) -> Callable[[Array], Array]:
        """All of them, in place."""
        all_steps = cls.stacked(steps)

        def apply(x: Array) -> Array:
            x -= all_steps.shift
            x /= all_steps.scale
            return x

        return apply

    def inverse(self, y: Array) -> Array:
        """Y scale + shift."""
        return y * self.scale + self.shift

    def slope(self, x: Array) -> Array:
        """One over the scale."""
        return np.ones_like(x) / self.scale

    def written(self, x: T, language: Operations[T]) -> T:
        """The difference times one over the scale."""
        return language.times(language.minus(x, language.number(self.shift)), language.number(1.0 / self.scale))
