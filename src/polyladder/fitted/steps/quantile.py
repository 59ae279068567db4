"""A number as the share of training rows below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polyladder.fitted.steps.step import Array, Step


@dataclass(frozen=True)
class Quantile(Step):
    """Piecewise linear with jumps: ``at[i]`` at knot i, and a line from ``after[i]`` to ``before[i + 1]`` behind it.

    Outside of all knots it stays at ``at[0]`` and ``at[-1]``.

    Attributes:
        knots: rising, all different.
        before: limits from below.
        at: the step's values there.
        after: limits from above.
    """

    knots: tuple[float, ...]
    before: tuple[float, ...]
    at: tuple[float, ...]
    after: tuple[float, ...]

    def apply(self, x: Array) -> Array:
        """The values at x."""
        knots, before, at, after = (np.array(side) for side in (self.knots, self.before, self.at, self.after))
        i = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
        y = after[i] + (before[i + 1] - after[i]) * ((x - knots[i]) / (knots[i + 1] - knots[i]))
        y = np.where(x == knots[i], at[i], y)
        y = np.where(x <= knots[0], at[0], np.where(x >= knots[-1], at[-1], y))
        return np.where(np.isnan(x), x, y)

    def inverse(self, y: Array) -> Array:
        """The x of each value; in a jump that of its knot."""
        knots = np.repeat(self.knots, 2)
        return np.interp(y, np.stack([self.before, self.after], 1).ravel(), knots)

    def slope(self, x: Array) -> Array:
        """That of the line between two knots; nothing outside of all."""
        knots, before, after = (np.array(side) for side in (self.knots, self.before, self.after))
        i = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
        inside = (x > knots[0]) & (x < knots[-1])
        return np.where(inside, (before[i + 1] - after[i]) / (knots[i + 1] - knots[i]), 0.0)

    @property
    def bends(self) -> tuple[float, ...]:
        """All knots."""
        return self.knots

    @classmethod
    def together(cls, steps: Sequence[Quantile]) -> Callable[[Array], Array]:
        """One by one: the columns have different knots."""
        return lambda x: np.stack([step.apply(column) for step, column in zip(steps, x, strict=True)])


def quantile_step(knots: list[float], levels: list[float]) -> Quantile:
    """The step of a rising list of quantiles, equal ones next to each other, and the level of each.

    >>> quantile_step([1.0, 2.0, 2.0, 4.0], [0.0, 0.25, 0.75, 1.0])
    Quantile(knots=(1.0, 2.0, 4.0), before=(0.0, 0.25, 1.0), at=(0.0, 0.5, 1.0), after=(0.0, 0.75, 1.0))
    """
    before: dict[float, float] = {}
    after: dict[float, float] = {}
    for knot, level in zip(knots, levels, strict=True):
        before.setdefault(knot, level)
        after[knot] = level
    middle = [(before[knot] + after[knot]) / 2 for knot in before]
    # At its ends the transform is 0 and 1, however many rows lie there.
    at = (levels[0], *middle[1:-1], levels[-1])
    return Quantile(tuple(before), tuple(before.values()), at, tuple(after.values()))
