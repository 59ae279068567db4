"""Ladders in 400-bit arithmetic: values that no rounding of float64 touches."""

from __future__ import annotations

import mpmath
from torch import Tensor

from polyladder import LadderPolynomial

PRECISION = 400


def long_value(p: LadderPolynomial, x: Tensor) -> list[mpmath.mpf]:
    """The outputs of a single ladder at one row, weights and row taken as the exact numbers that they are."""
    with mpmath.workprec(PRECISION):
        row = exact(x)
        h = row
        for W, b, V, c in p.layers():
            h = [u * g for u, g in zip(affine(W, b, h), affine(V, c, row), strict=True)]
        return affine(p.readout, p.offset, h)


def affine(weight: Tensor, intercept: Tensor, h: list[mpmath.mpf]) -> list[mpmath.mpf]:
    return [mpmath.fdot(exact(w), h) + o for w, o in zip(weight, exact(intercept), strict=True)]


def exact(t: Tensor) -> list[mpmath.mpf]:
    return [mpmath.mpf(v) for v in t.double().tolist()]
