"""The number that stands for nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyladder.fitted.steps.step import Array, Span, Step


@dataclass(frozen=True)
class Blank(Step):
    """The number that stands for nothing, such as -999, is missing."""

    code: float

    def apply(self, x: Array) -> Array:
        """The values at x."""
        return np.where(x == self.code, np.nan, x)

    def span(self, low: float, high: float) -> Span:
        """As it was."""
        return low, high
