"""Inputs that are 0 or 1: whether there is no value, or whether it is a certain category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyladder.fitted.steps.step import Array, Span, Step


class Indicator(Step):
    """0 or 1, and no function of a number that could be followed along a line."""

    def slope(self, x: Array) -> Array:
        """Nothing: it jumps."""
        return np.zeros(np.shape(x))

    def span(self, low: float, high: float) -> Span:
        """Any of the two."""
        return 0.0, 1.0


@dataclass(frozen=True)
class IsMissing(Indicator):
    """1 where there is no value, else 0."""

    def apply(self, x: Array) -> Array:
        """The values at x."""
        return np.isnan(x).astype(np.float64)

    def named(self, name: str) -> str:
        """Cement is missing."""
        return f"{name} is missing"


@dataclass(frozen=True)
class IsCategory(Indicator):
    """1 where the text is this category, else 0; None is the category of missing values."""

    category: str | None

    def apply(self, x: Any) -> Array:
        """The values at texts x."""
        return np.array([value == self.category for value in x], dtype=np.float64)

    def named(self, name: str) -> str:
        """Street = paved."""
        return f"{name} = {'missing' if self.category is None else self.category}"
