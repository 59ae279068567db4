"""Elementary steps from a column of a table to one input of a ladder. Every language renders these and no others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fill:
    """A missing number becomes ``value``."""

    value: float


@dataclass(frozen=True)
class Blank:
    """The number that stands for nothing, such as -999, is missing."""

    code: float


@dataclass(frozen=True)
class Clip:
    """A number is held to [low, high]; what is missing stays missing."""

    low: float
    high: float


@dataclass(frozen=True)
class Affine:
    """(x - shift) / scale."""

    shift: float
    scale: float


@dataclass(frozen=True)
class Ramp:
    """clip((x - low) / (high - low), 0, 1): 0 before a piece of the range, rising inside of it, 1 behind it."""

    low: float
    high: float


@dataclass(frozen=True)
class YeoJohnson:
    """The power transform of that name."""

    power: float


@dataclass(frozen=True)
class Quantile:
    """Piecewise linear with jumps: ``at[i]`` at knot i, and a line from ``after[i]`` to ``before[i + 1]`` behind it.

    Outside of all knots it stays at ``at[0]`` and ``at[-1]``.

    Attributes:
        knots: rising, all different.
        before: limits from below.
        at: values.
        after: limits from above.
    """

    knots: tuple[float, ...]
    before: tuple[float, ...]
    at: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True)
class IsMissing:
    """1 where there is no value, else 0."""


@dataclass(frozen=True)
class IsCategory:
    """1 where the value is this category, else 0; None is the category of missing values."""

    category: str | None


Step = Blank | Fill | Clip | Affine | Ramp | YeoJohnson | Quantile | IsMissing | IsCategory


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
