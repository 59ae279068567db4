"""Polynomials whose terms differ by more than floating-point numbers can: where their roots lie, and in which units.

Coefficients stand degree first, (degree + 1, N), in float64.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from polyladder.polynomial.rescale import shifted

BORDER = 1.236067977
"""Where one unit of t changes to the next: an odd number, so that no root of even multiplicity lies just there."""

SAFE = 450.0
"""Terms between 2**-SAFE and 2**SAFE, and any quotient of two of them, are ordinary numbers of float64."""


def ordinary(coefficients: Tensor, reach: Tensor | None = None) -> Tensor:
    """Whether all terms of each polynomial are ordinary numbers, from its smallest root in size to the farthest t.

    Args:
        coefficients: finite. Shape (n + 1, N), n >= 0.
        reach: the largest |t|, not zero. Shape (N,). None for the largest root in size.

    Returns:
        Shape (N,).
    """
    size = coefficients.abs()
    top, bottom = size.amax(0), torch.where(size > 0, size, torch.inf).amin(0)
    # Roots that are not zero differ in size from 1 by no more than the coefficients do from each other.
    spread = (top / bottom).log2() + margin(len(size))
    if reach is not None:
        spread = torch.maximum(spread, reach.log2().abs())
    farthest = torch.maximum(top.log2().abs(), bottom.log2().abs()) + len(size) * spread
    return (farthest <= SAFE) | (top == 0)


class Pieces(NamedTuple):
    """Intervals of s = t / 2**exponent that hold all roots but t = 0.

    Args:
        row: to which polynomial each belongs. Shape (P,).
        exponent: Shape (P,).
        lo: lower end in s. Shape (P,).
        hi: upper end in s. Shape (P,).
    """

    row: Tensor
    exponent: Tensor
    lo: Tensor
    hi: Tensor


def pieces(coefficients: Tensor, lo: Tensor, hi: Tensor) -> Pieces:
    """The parts of [lo, hi] where roots can be, each so short that in its own unit no term that counts underflows.

    Args:
        coefficients: finite. Shape (n + 1, N).
        lo: lower ends. Shape (N,).
        hi: upper ends. Shape (N,).
    """
    degree = max(1, len(coefficients) - 1)
    width = max(1, int(2 * SAFE) // degree)
    steps = math.ceil(2 * margin(degree) / width) + 1
    first = ((root_sizes(coefficients) - margin(degree)) / width).round()
    units = torch.cat([first + i for i in range(steps)]).sort(0).values
    new = units.isfinite()
    new[1:] &= units[1:] != units[:-1]
    which, row = new.nonzero(as_tuple=True)
    exponent, row = (units[which, row] * width).repeat(2), row.repeat(2)
    inner, outer = BORDER * 2.0 ** (-width / 2), BORDER * 2.0 ** (width / 2)
    left, right = exponent.new_tensor([[-outer, inner], [-inner, outer]]).repeat_interleave(len(which), 1)
    left = torch.maximum(left, shifted(lo[row], -exponent))
    right = torch.minimum(right, shifted(hi[row], -exponent))
    within = left <= right
    return Pieces(row[within], exponent[within], left[within], right[within])


def root_sizes(coefficients: Tensor) -> Tensor:
    """The powers of two near which the sizes of all roots but zero lie, to within `margin`; NaN where there are fewer.

    They are the slopes of the Newton polygon, the upper hull of the points (j, log2 |a_j|): elsewhere one term is
    larger than all others together. Shape (n + 1, N) to (n, N).
    """
    size = coefficients.abs().log2()
    degrees = torch.arange(len(size), dtype=size.dtype, device=size.device).unsqueeze(-1)
    exists = coefficients != 0
    corner = exists.to(torch.uint8).argmax(0, keepdim=True)
    edges = []
    for _ in range(len(size) - 1):
        height = size.gather(0, corner)
        run = degrees - corner
        slope, ahead = torch.where((run > 0) & exists, (size - height) / run, -torch.inf).max(0, keepdim=True)
        edges.append(torch.where(slope > -torch.inf, -slope, torch.nan))
        corner = torch.where(slope > -torch.inf, ahead, corner)
    return torch.cat([size[:0], *edges])


def margin(degree: int) -> float:
    """By how many powers of two a root of a polynomial of this degree may differ from its entry in `root_sizes`."""
    return math.log2(max(1, degree)) + 0.1


def balanced(coefficients: Tensor, exponent: Tensor) -> tuple[Tensor, Tensor]:
    """Coefficients over s = t / 2**exponent, times the power of two that makes the largest about 1.

    Exact, but for coefficients so small beside the largest that where |s| is near 1 they do not count.

    Args:
        coefficients: Shape (n + 1, N).
        exponent: Shape (N,).

    Returns:
        The coefficients and the exponents of the powers of two by which they were divided. Shapes (n + 1, N) and (N,).
    """
    mantissa, power = torch.frexp(coefficients)
    degrees = torch.arange(len(coefficients), dtype=exponent.dtype, device=exponent.device).unsqueeze(-1)
    power = torch.where(coefficients != 0, power + degrees * exponent, -torch.inf)
    top = power.amax(0).clamp(min=-1e5)
    return mantissa * torch.exp2(power - top), top


def values(coefficients: Tensor, t: Tensor) -> Tensor:
    """Values at t, one for each polynomial, each computed in its own unit.

    Args:
        coefficients: finite. Shape (n + 1, N).
        t: finite. Shape (N,).

    Returns:
        Shape (N,). Infinite where the value overflows; NaN where its rounding error does and may have its sign.
    """
    s, exponent = torch.frexp(t)
    # At t = 0 the unit must be so small that the constant alone counts.
    scaled, top = balanced(coefficients, torch.where(t == 0, -5000.0, exponent.to(t.dtype)))
    value, size = torch.zeros_like(t), torch.zeros_like(t)
    for c in reversed(scaled.unbind(0)):
        value = torch.addcmul(c, value, s)
        size = torch.addcmul(c.abs(), size, s.abs())
    rounding = 2 * len(scaled) * torch.finfo(t.dtype).eps * size
    unknown = (value.abs() <= rounding) & shifted(rounding, top).isinf()
    return torch.where(unknown, torch.nan, shifted(value, top))


def exponents(t: Tensor) -> Tensor:
    """Integers e with |t| < 2**e, as far as both 2**e and 2**-e are numbers."""
    limit = math.frexp(torch.finfo(t.dtype).max)[1] - 3
    return torch.frexp(t)[1].clamp(-limit, limit).to(t.dtype)
