"""Real roots of many small polynomials at once, without eigenvalues.

Between two neighboring stationary points a polynomial is monotone and has at most one root, which a bracketed Newton
iteration finds. The stationary points are the roots of the derivative, found the same way, down to the quadratic
formula. A leading coefficient that is tiny or zero is nothing special here, whereas a companion matrix divides by it.

Coefficients stand degree first, (degree + 1, N), so that each power is one contiguous row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from polyladder.analysis.scales import BORDER, balanced, exponents, ordinary, pieces, values
from polyladder.polynomial.rescale import shifted


class Lowest(NamedTuple):
    """Where each of N polynomials is lowest, and its value there.

    Args:
        t: in the dtype of the coefficients. Shape (N,).
        value: in float64. Shape (N,).
    """

    t: Tensor
    value: Tensor


def lowest_within(coefficients: Tensor, lo: Tensor, hi: Tensor) -> Lowest:
    """Where on [lo, hi] each of N polynomials is lowest: the best of all stationary points there and both ends.

    Points are found, rounded to the dtype of the coefficients, and then compared, in float64.

    Args:
        coefficients: ascending. Shape (n + 1, N).
        lo: lower ends, finite. Shape (N,).
        hi: upper ends, finite, not below lo. Shape (N,).

    Returns:
        The first of equally low points. NaN where coefficients are not finite. Where the lowest value overflows, or
        rounding of values that overflow hides which it is, the value is infinite or NaN, and t means nothing.
    """
    dtype = coefficients.dtype
    c, lo, hi = coefficients.double(), lo.double(), hi.double()
    finite = c.isfinite().all(0)
    if not bool(finite.all()):
        found = lowest_within(torch.where(finite, coefficients, 0), lo, hi)
        return Lowest(*(torch.where(finite, x, torch.nan) for x in found))
    if len(c) == 1:
        return Lowest(lo.to(dtype), c[0])
    reach = torch.maximum(lo.abs(), hi.abs())
    common = ordinary(c[1:], reach)
    if bool(common.all()):
        t, value = lowest_of_ordinary(c, lo, hi, dtype)
        return Lowest(t.to(dtype), value)
    t, value = torch.empty_like(lo), torch.empty_like(lo)
    for part, search in ((common, lowest_of_ordinary), (~common, lowest_of_extreme)):
        t[part], value[part] = search(c[:, part], lo[part], hi[part], dtype)
    return Lowest(t.to(dtype), value)


def lowest_of_ordinary(coefficients: Tensor, lo: Tensor, hi: Tensor, dtype: torch.dtype) -> Lowest:
    """`lowest_within` for polynomials with `ordinary` terms, n >= 1; t is a number of ``dtype``, held in float64."""
    # Zero is a stationary point that iterations only approach where the slope has a repeated root there.
    t = torch.stack([lo, torch.zeros_like(lo).clamp(lo, hi), hi])
    if len(coefficients) > 2:
        exponent = exponents(torch.maximum(lo.abs(), hi.abs()))
        slope, _ = balanced(derivative(coefficients), exponent)
        stationary = roots_within(slope, shifted(lo, -exponent), shifted(hi, -exponent))
        t = torch.cat([t, shifted(stationary.t, exponent)]).to(dtype).double()
    value = horner(coefficients.unbind(0), t)
    least = value.amin(0)
    return Lowest(torch.where(value == least, t, torch.inf).amin(0), least)


def lowest_of_extreme(coefficients: Tensor, lo: Tensor, hi: Tensor, dtype: torch.dtype) -> Lowest:
    """`lowest_within` for any finite polynomials, n >= 1, part by part of the interval, each in a unit of its own."""
    # The factor keeps the slope from overflowing. What it may take from subnormal coefficients beside such large ones
    # counts only where values overflow or underflow.
    slope = derivative(coefficients * torch.where(coefficients.abs().amax(0) > 1e300, 2.0**-20, 1.0))
    parts = pieces(slope, lo, hi)
    scaled, _ = balanced(slope[:, parts.row], parts.exponent)
    stationary = shifted(roots_within(scaled, parts.lo, parts.hi).t, parts.exponent)
    rows = torch.arange(len(lo), device=lo.device)
    row = torch.cat([rows.repeat(3), parts.row.repeat(len(stationary))])
    t = torch.cat([lo, torch.zeros_like(lo), hi, stationary.flatten()]).to(dtype).double().clamp(lo[row], hi[row])
    value = values(coefficients[:, row], t)
    least = torch.full_like(lo, torch.inf).scatter_reduce(0, row, value, "amin")
    lowest = torch.where(value == least[row], t, torch.inf)
    return Lowest(torch.full_like(lo, torch.inf).scatter_reduce(0, row, lowest, "amin"), least)


def real_roots(coefficients: Tensor, level: Tensor) -> Tensor:
    """All real t at which each of N polynomials crosses or touches its level.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        level: Shape (N,).

    Returns:
        Distinct roots, ascending, NaN at the end. Shape (n, N).
    """
    n, dtype = len(coefficients) - 1, coefficients.dtype
    finite = coefficients.isfinite().all(0)
    # A constant touches its own level everywhere, and so do zeros in place of what is not finite.
    some = finite & (coefficients[1:] != 0).any(0)
    # A quarter keeps the difference from overflowing.
    quarter = torch.where(torch.maximum(coefficients[0].abs(), level.abs()) > 1e300, 0.25, 1.0)
    a, level = torch.where(some, coefficients, 0).double() * quarter, level.double() * quarter
    c = torch.cat([a[:1] - level, a[1:]])
    size = torch.cat([a[:1].abs() + level.abs(), a[1:].abs()])
    common = ordinary(c) & ordinary(size)
    roots = c.new_full((4 * n, c.shape[1]), torch.nan)
    eps = torch.finfo(dtype).eps
    if bool(common.all()):
        roots[: 4 * n - 2] = roots_of_ordinary(c, size, eps)
    else:
        roots[: 4 * n - 2, common] = roots_of_ordinary(c[:, common], size[:, common], eps)
        roots[:n, ~common] = roots_of_extreme(c[:, ~common], size[:, ~common], eps)
    # A vanishing leading coefficient has its root at infinity.
    roots = roots.to(dtype)
    roots = torch.where(roots.isfinite() & some, roots, torch.nan).sort(0).values
    roots[1:][roots[1:] == roots[:-1]] = torch.nan
    return roots.sort(0).values[:n] + 0.0  # -0 becomes 0


def roots_of_ordinary(coefficients: Tensor, size: Tensor, eps: float) -> Tensor:
    """All roots of polynomials with `ordinary` terms. Shapes as for `crossings_and_touchings`, to (4 n - 2, N)."""
    # Roots beyond the border are those of the reversed polynomial in 1 / t: no power of a large number is formed.
    c, size = (torch.cat([x, x.flip(0)], 1) for x in (coefficients, size))
    exponent = exponents(size.amax(0))
    N = coefficients.shape[1]
    border = c.new_tensor([BORDER, 1 / BORDER]).repeat_interleave(N)
    roots = crossings_and_touchings(shifted(c, -exponent), shifted(size, -exponent), -border, border, eps)
    return torch.cat([roots[:, :N], 1 / roots[:, N:]])


def roots_of_extreme(coefficients: Tensor, size: Tensor, eps: float) -> Tensor:
    """All roots of any finite polynomials, each in a unit of its own. Shapes (n + 1, N), (n + 1, N) to (n, N)."""
    n, N = len(coefficients) - 1, coefficients.shape[1]
    everywhere = torch.full_like(coefficients[0], torch.inf)
    parts = pieces(coefficients, -everywhere, everywhere)
    scaled, top = balanced(coefficients[:, parts.row], parts.exponent)
    # The level is subtracted from the constant alone.
    before = torch.cat([shifted(size[:1, parts.row], -top), scaled[1:].abs()])
    found = shifted(crossings_and_touchings(scaled, before, parts.lo, parts.hi, eps), parts.exponent)
    zero = torch.where(coefficients[0] == 0, 0.0, torch.nan)
    t = torch.cat([zero, found.flatten()])
    row = torch.cat([torch.arange(N, device=t.device), parts.row.repeat(len(found))])
    t, row = t[t.isfinite()], row[t.isfinite()]
    order = t.argsort()
    order = order[row[order].argsort(stable=True)]
    t, row = t[order], row[order]
    place = torch.arange(len(t), device=t.device) - torch.searchsorted(row, row)
    roots = coefficients.new_full((n, N), torch.nan)
    roots[place[place < n], row[place < n]] = t[place < n]
    return roots


def crossings_and_touchings(coefficients: Tensor, size: Tensor, lo: Tensor, hi: Tensor, eps: float) -> Tensor:
    """Roots on [lo, hi], NaN where there is none.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        size: the magnitudes of the coefficients before any cancellation. Shape (n + 1, N).
        lo: lower ends. Shape (N,).
        hi: upper ends. Shape (N,).
        eps: the relative rounding error of the coefficients.

    Returns:
        Shape (2 n - 1, N).
    """
    n = len(coefficients) - 1
    stationary = roots_within(derivative(coefficients), lo, hi)
    t, crosses = roots_between(coefficients, torch.cat([lo[None], stationary.t, hi[None]]))
    distance = horner(coefficients.unbind(0), stationary.t).abs()
    rounding = 2 * (n + 1) * eps * horner(size.unbind(0), stationary.t.abs())
    touches = stationary.crosses & (distance <= rounding) & ~crosses[:-1] & ~crosses[1:]
    return torch.cat([torch.where(crosses, t, torch.nan), torch.where(touches, stationary.t, torch.nan)])


class Roots(NamedTuple):
    """One point in each of the n intervals between the stationary points of N polynomials of degree n, ascending.

    Args:
        t: the root where the polynomial changes sign on the interval, else a point of it. Shape (n, N).
        crosses: whether it changes sign. Shape (n, N).
    """

    t: Tensor
    crosses: Tensor


def roots_within(coefficients: Tensor, lo: Tensor, hi: Tensor) -> Roots:
    """Roots in [lo, hi] of N polynomials.

    Args:
        coefficients: ascending, of magnitude about 1 or below. Shape (n + 1, N). A constant has no roots.
        lo: lower ends. Shape (N,).
        hi: upper ends, not below lo. Shape (N,).
    """
    degree = len(coefficients) - 1
    if degree > 2:
        stationary = roots_within(derivative(coefficients), lo, hi)
        return roots_between(coefficients, torch.cat([lo[None], stationary.t, hi[None]]))
    if degree == 2:
        t, real = quadratic_roots(*coefficients)
    else:
        t = -coefficients[:degree] / coefficients[1:]
        real = t.isfinite()
    inside = real & (t > lo) & (t < hi)
    return Roots(torch.where(t.isnan(), lo, t.clamp(lo, hi)), inside)


def roots_between(coefficients: Tensor, nodes: Tensor) -> Roots:
    """Roots of N polynomials of degree n that are monotone between neighboring nodes.

    Newton's method inside a shrinking bracket. A step that leaves the bracket or does not halve the step before it is
    replaced by a bisection, which bounds the number of steps even at repeated roots. An interval without a change of
    sign answers with the end where the polynomial is closer to zero: should rounding have hidden a pair of roots of a
    derivative, they are there.

    Args:
        coefficients: ascending. Shape (n + 1, N).
        nodes: ascending. Shape (n + 1, N).
    """
    value = horner(coefficients.unbind(0), nodes)
    a, b, fa, fb = nodes[:-1], nodes[1:], value[:-1], value[1:]
    crosses = (fa < 0) != (fb < 0)
    result = torch.where(fa.abs() <= fb.abs(), a, b)
    # Only the intervals with a root still to be found are iterated, gathered into vectors of K entries.
    todo = (crosses & (fa != 0) & (fb != 0)).flatten().nonzero().squeeze(-1)
    a, b, fa, fb = (x.flatten()[todo] for x in (a, b, fa, fb))
    c = coefficients[:, todo % nodes.shape[1]]
    # The cubic through both ends with slope zero there, as at stationary points, crosses zero here.
    t = a + (b - a) * (0.5 - torch.sin(torch.asin((1 + 2 * fa / (fb - fa)).clamp(-1, 1)) / 3))
    # Where an end is much larger than the other, rounding may have led past the other.
    t = t.clamp(a, b)
    rising, last, done = fa < 0, b - a, torch.zeros_like(todo, dtype=torch.bool)
    eps = torch.finfo(c.dtype).eps
    flat = result.view(-1)
    for step in range(MAX_STEPS):
        f, slope = horner_slope(c, t)
        below = (f < 0) == rising
        a, b = torch.where(below, t, a), torch.where(below, b, t)
        newton = t - f / slope
        good = (newton >= a) & (newton <= b) & (2 * (newton - t).abs() <= last)
        # Halving distances does not arrive at a root of a much smaller scale than its bracket (1e-200 in [0, 1]);
        # halving the set of floating-point numbers in between arrives at any root within 64 steps.
        middle = (a + b) / 2 if step < MAX_STEPS // 3 else float_middle(a, b)
        new = torch.where(good, newton, middle)
        last = (new - t).abs()
        done |= f == 0
        t = torch.where(done, t, new)
        # Newton's error is squared from step to step: after one of sqrt(eps), the next would be lost in rounding.
        done |= last <= torch.where(good, eps**0.5, 2 * eps) * t.abs()
        if 2 * int(done.sum()) >= len(done):
            flat[todo] = t
            going = (~done).nonzero().squeeze(-1)
            if not len(going):
                break
            todo, a, b, t, last, rising, done = (x[going] for x in (todo, a, b, t, last, rising, done))
            c = c[:, going]
    flat[todo] = t
    return Roots(result, crosses)


MAX_STEPS = 120
"""The first third may halve distances, the rest floating-point numbers. Six to nine steps are typical."""


def float_middle(a: Tensor, b: Tensor) -> Tensor:
    """A number with as many floating-point numbers between it and a as between it and b."""
    integer = {torch.float64: torch.int64, torch.float32: torch.int32}[a.dtype]
    return ordered((ordered(a.view(integer)) >> 1) + (ordered(b.view(integer)) >> 1)).view(a.dtype)


def ordered(bits: Tensor) -> Tensor:
    """Integers in the order of the floating-point numbers whose bits they are; its own inverse."""
    return torch.where(bits < 0, bits ^ torch.iinfo(bits.dtype).max, bits)


def quadratic_roots(c0: Tensor, c1: Tensor, c2: Tensor) -> tuple[Tensor, Tensor]:
    """Both roots of N quadratics, ascending, and whether they are real; the vertex comes in place of complex ones.

    Neither b^2 nor a c is formed, so nothing overflows or underflows, and no two numbers of one sign are subtracted
    but in the discriminant. Zero leading coefficients give infinities or NaN.

    Returns:
        Roots of shape (2, N) and a mask of shape (N,).
    """
    h = c1 / 2
    r = c0.abs().sqrt() * c2.abs().sqrt()
    same_sign = (c0 < 0) == (c2 < 0)
    discriminant = torch.where(same_sign, h.abs() - r, 1)
    root = torch.where(same_sign, discriminant.clamp(min=0).sqrt() * (h.abs() + r).sqrt(), torch.hypot(h, r))
    q = -(h + torch.copysign(root, h))
    first = q / c2
    second = torch.where(discriminant < 0, first, c0 / q)
    # A straight line has one root, at infinity the other: fmin and fmax set a NaN aside.
    return torch.stack([torch.fmin(first, second), torch.fmax(first, second)]), discriminant >= 0


def horner(coefficients: Sequence[Tensor], t: Tensor) -> Tensor:
    """Values at t of polynomials with these ascending coefficients, all broadcast against each other."""
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = torch.addcmul(c, value, t)
    return value.expand(np.broadcast_shapes(value.shape, t.shape))


def horner_slope(coefficients: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Values and derivatives at t of polynomials of degree at least 1. Shapes (n + 1, K) and (K,)."""
    *lower, c, slope = coefficients.unbind(0)
    value = torch.addcmul(c, slope, t)
    for c in reversed(lower):
        slope = torch.addcmul(value, slope, t)
        value = torch.addcmul(c, value, t)
    return value, slope


def derivative(coefficients: Tensor) -> Tensor:
    """Coefficients of the derivative. Shape (n + 1, ...) to (n, ...), n >= 1."""
    powers = torch.arange(1, len(coefficients), dtype=coefficients.dtype, device=coefficients.device)
    return coefficients[1:] * powers.reshape(-1, *[1] * (coefficients.dim() - 1))
