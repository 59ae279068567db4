"""Inputs that are 0 or 1: whether there is no value, or whether it is a certain category."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

    @classmethod
    def together(cls, steps: Sequence[IsMissing]) -> Callable[[Array], Array]:
        """The same for all."""
        return steps[0].apply


@dataclass(frozen=True)
class IsCategory(Indicator):
    """1 where the text is this category, else 0; None is the category of missing values."""

    category: str | None

    def apply(self, x: Any) -> Array:
        """The values at texts x."""
        return np.array([value == self.category for value in x], dtype=np.float64)

    @classmethod
    def together(cls, steps: Sequence[IsCategory]) -> Callable[[Array], Array]:
        """One by one."""
        return lambda x: np.stack([step.apply(column) for step, column in zip(steps, x, strict=True)])
