"""A missing number becomes another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyladder.fitted.steps.step import Array, Span, Step


@dataclass(frozen=True)
class Fill(Step):
    """A missing number becomes ``value``."""

    value: float

    def apply(self, x: Array) -> Array:
        """The values at x."""
        return np.where(np.isnan(x), self.value, x)

    def span(self, low: float, high: float) -> Span:
        """With the value of what is missing."""
        return min(low, self.value), max(high, self.value)
