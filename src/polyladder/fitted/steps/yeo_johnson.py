"""The power transform of Yeo and Johnson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polyladder.fitted.steps.step import Array, Step

SMALL = np.finfo(np.float64).eps
"""Exponents below this count as zero, where the transform is a logarithm; SciPy uses the same limit."""


@dataclass(frozen=True)
class YeoJohnson(Step):
    """((1 + x)^power - 1) / power for x >= 0; for x < 0 the same of -x with 2 - power, negated."""

    straight: ClassVar[bool] = False

    power: float

    def apply(self, x: Array) -> Array:
        """The values at x."""
        own = np.where(x < 0, 2.0 - self.power, self.power)
        logarithm = np.log1p(np.abs(x))
        plain = np.abs(own) < SMALL
        power = np.expm1(own * logarithm) / np.where(plain, 1.0, own)
        return np.copysign(np.where(plain, logarithm, power), x)

    def inverse(self, y: Array) -> Array:
        """The x of each value; infinite beyond what the transform reaches."""
        own = np.where(y < 0, 2.0 - self.power, self.power)
        plain = np.abs(own) < SMALL
        size = np.abs(y)
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithm = np.log1p(own * size) / np.where(plain, 1.0, own)
        reached = np.where(plain, size, np.where(1 + own * size > 0, logarithm, np.inf))
        return np.copysign(np.expm1(reached), y)

    def slope(self, x: Array) -> Array:
        """(1 + |x|)^(power - 1), and with 2 - power for x < 0."""
        return np.exp((np.where(x < 0, 2.0 - self.power, self.power) - 1.0) * np.log1p(np.abs(x)))
