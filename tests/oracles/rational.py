"""Ladders in exact rational arithmetic: values and derivatives that no rounding, underflow or overflow touches."""

from __future__ import annotations

from fractions import Fraction

from torch import Tensor

from polyladder import LadderPolynomial

Row = list[Fraction]


def rational_value(p: LadderPolynomial, x: Row) -> Row:
    """The outputs of a single ladder at one row, weights taken as the exact numbers that they are."""
    return rational_line(p, x, [Fraction(0)] * len(x))[0]


def rational_line(p: LadderPolynomial, x: Row, direction: Row) -> tuple[Row, Row]:
    """The outputs at one row, and their derivatives along a direction."""
    h, dh = x, direction
    for W, b, V, c in p.layers():
        u, g = affine(W, h, b), affine(V, x, c)
        du, dg = affine(W, dh), affine(V, direction)
        h = [s * t for s, t in zip(u, g, strict=True)]
        dh = [s * dt + ds * t for s, ds, t, dt in zip(u, du, g, dg, strict=True)]
    return affine(p.readout, h, p.offset), affine(p.readout, dh)


def affine(weight: Tensor, h: Row, intercept: Tensor | None = None) -> Row:
    start = [Fraction(0)] * len(weight) if intercept is None else rational(intercept)
    return [
        sum((w * t for w, t in zip(rational(row), h, strict=True)), o) for row, o in zip(weight, start, strict=True)
    ]


def rational(t: Tensor) -> Row:
    return [Fraction(v) for v in t.double().tolist()]
