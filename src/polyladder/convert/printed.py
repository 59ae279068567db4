"""Numbers as text: printed numbers read back exactly, and no bound is printed smaller than it is."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal


def shortest(value: float) -> str:
    """The shortest text that is this number and no other.

    >>> shortest(2.0), shortest(0.1), shortest(1e-7)
    ('2', '0.1', '1e-07')
    """
    return repr(float(value)).removesuffix(".0")


def rounded_up(bound: float, digits: int = 3) -> str:
    """An upper bound with a few digits, never rounded down.

    >>> rounded_up(0.12301), rounded_up(9.999), rounded_up(0.25), rounded_up(0.0), rounded_up(-0.12399)
    ('0.124', '10', '0.25', '0', '-0.123')
    """
    if bound == 0 or not math.isfinite(bound):
        return shortest(bound)
    exact = Decimal(float(bound))
    kept = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_CEILING)
    return f"{float(kept):.{digits}g}"


def rounded_within(value: float, tolerance: float) -> float:
    """A number of as few digits as a tolerance allows, but of at least four.

    >>> rounded_within(1234567.891, 0.001), rounded_within(1234567.891, 1e6), rounded_within(0.1, 0.0)
    (1234567.891, 1235000.0, 0.1)
    """
    short = (float(f"{value:.{d}g}") for d in range(4, 18))
    return next(v for v in short if abs(v - value) <= tolerance)


def decimal_place(step: float) -> int:
    """The largest power of ten that is at most a step.

    >>> decimal_place(0.02), decimal_place(150.0)
    (-2, 2)
    """
    return Decimal(step).adjusted()
