"""A number as its phase in a period, such as the hour of a day."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polyladder.fitted.steps.operations import Operations, T
from polyladder.fitted.steps.step import Array, Span, Step

ULPS = 8 * np.finfo(np.float64).eps
"""By how much, relatively, rounding may move a phase or a sine; twice what it does, and more."""


@dataclass(frozen=True)
class Cyclic(Step):
    """sin(2 pi (x - shift) / period): the sine of a phase, and its cosine where the shift is -period / 4."""

    straight: ClassVar[bool] = False

    period: float
    shift: float

    def apply(self, x: Array) -> Array:
        """The values at x."""
        return np.sin((x - self.shift) * (2 * np.pi / self.period))

    def inverse(self, y: Array) -> Array:
        """Of all numbers with that sine, the one next to the shift."""
        return self.shift + np.arcsin(np.clip(y, -1.0, 1.0)) / (2 * np.pi / self.period)

    def slope(self, x: Array) -> Array:
        """The cosine of the same phase, times 2 pi / period."""
        rate = 2 * np.pi / self.period
        return np.cos((x - self.shift) * rate) * rate

    def span(self, low: float, high: float) -> Span:
        """From the lesser to the greater end, rounded outward; to -1 or 1 where the phase passes a crest."""
        if not high - low < self.period:
            return -1.0, 1.0
        rate = 2 * math.pi / self.period
        room = ULPS * rate * (max(abs(low), abs(high)) + abs(self.shift))
        start, end = (low - self.shift) * rate - room, (high - self.shift) * rate + room

        def passes(crest: float) -> bool:
            return math.floor((end - crest) / (2 * math.pi) + ULPS) >= math.ceil((start - crest) / (2 * math.pi) - ULPS)

        ends = math.sin(start), math.sin(end)
        least = -1.0 if passes(-math.pi / 2) else max(-1.0, min(ends) - ULPS)
        most = 1.0 if passes(math.pi / 2) else min(1.0, max(ends) + ULPS)
        return least, most

    def named(self, name: str) -> str:
        """Sin of hour / 24, or cos."""
        return f"{'cos' if self.shift else 'sin'} of {name} / {self.period:.12g}"

    def written(self, x: T, language: Operations[T]) -> T:
        """The difference, the product and its sine."""
        moved = language.minus(x, language.number(self.shift)) if self.shift else x
        return language.sine(language.times(moved, language.number(2 * math.pi / self.period)))
