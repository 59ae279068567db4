"""Real roots of many small polynomials at once, without eigenvalues.

Between two neighboring stationary points a polynomial is monotone and has at most one root, which a bracketed Newton
iteration finds. The stationary points are the roots of the derivative, found the same way, down to a straight line. A
tiny or zero leading coefficient is not a problem here, whereas a companion matrix divides by it. Where terms underflow
or overflow, each value is computed in a unit of its own (`terms_in_units`), so that its sign is right.

Coefficients stand degree first, (degree + 1, N), so that each power is one contiguous row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from polyladder.polynomial.rescale import shifted

NEWTON = 10
"""First steps, which are Newton's wherever possible: six to nine are typical. After them every other step halves the
set of numbers in the bracket."""

MAX_STEPS = 140
"""All steps: 64 halvings reach any root."""


def lowest_within(coefficients: Tensor, lo: Tensor, hi: Tensor) -> tuple[Tensor, Tensor]:
    """Where on [lo, hi] each of N polynomials is lowest: the best of all stationary points there and both ends.

    Points are found, rounded to the dtype of the coefficients, and then compared, in float64.

    Args:
        coefficients: ascending. Shape (n + 1, N).
        lo: lower ends, finite. Shape (N,).
        hi: upper ends, finite, not below lo. Shape (N,).

    Returns:
        The first of equally low points, in the dtype of the coefficients, and the values there in float64. NaN where
        coefficients are not finite. Where the lowest value overflows, or rounding of values that overflow hides which
        it is, the value is infinite or NaN, and the point means nothing. Shapes (N,).
    """
    dtype, finite = coefficients.dtype, coefficients.isfinite().all(0)
    c, lo, hi = torch.where(finite, coefficients, 0.0).double(), lo.double(), hi.double()
    # The factor keeps the slope from overflowing. The digits that subnormal coefficients lose matter only where values
    # overflow or underflow.
    slope = derivative(c * torch.where(c.abs().amax(0) > 1e300, 2.0**-20, 1.0))
    # Zero is a stationary point that iterations only approach where the slope has a repeated root there.
    ends = torch.stack([lo, torch.zeros_like(lo).clamp(lo, hi), hi])
    points = torch.cat([ends, roots_within(slope, lo, hi)[0]]).to(dtype).double()
    found = values_at(c, points)
    value = found.amin(0)
    t = torch.where(found == value, points, torch.inf).amin(0)
    return torch.where(finite, t, torch.nan).to(dtype), torch.where(finite, value, torch.nan)


def real_roots(coefficients: Tensor, level: Tensor) -> Tensor:
    """All real t at which each of N polynomials crosses or touches its level.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        level: Shape (N,).

    Returns:
        Distinct roots, ascending, NaN at the end. Shape (n, N).
    """
    n, dtype = len(coefficients) - 1, coefficients.dtype
    # A constant touches its own level everywhere, and so do zeros in place of what is not finite.
    some = coefficients.isfinite().all(0) & (coefficients[1:] != 0).any(0)
    # The factor keeps differences and slopes from overflowing.
    largest = torch.maximum(coefficients.abs().amax(0), level.abs())
    factor = torch.where(largest > 1e300, 2.0**-20, 1.0).double()
    a, level = torch.where(some, coefficients, 0).double() * factor, level.double() * factor
    c, size = torch.cat([a[:1] - level, a[1:]]), torch.cat([a[:1].abs() + level.abs(), a[1:].abs()])
    roots = crossings_and_touchings(c, size, torch.finfo(dtype).eps).to(dtype)
    roots = torch.where(roots.isfinite() & some, roots, torch.nan).sort(0).values
    roots[1:][roots[1:] == roots[:-1]] = torch.nan
    return roots.sort(0).values[:n] + 0.0  # -0 becomes 0


def crossings_and_touchings(coefficients: Tensor, size: Tensor, eps: float) -> Tensor:
    """All real roots, NaN where there is none.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        size: the magnitudes of the coefficients before any cancellation. Shape (n + 1, N).
        eps: the relative rounding error of the coefficients.

    Returns:
        Shape (2 n, N).
    """
    far = root_bound(coefficients)
    stationary, turns = roots_within(derivative(coefficients), -far, far)
    t, crosses = roots_between(coefficients, torch.cat([-far[None], stationary, far[None]]))
    s, sizes, shift, _ = terms_in_units(size.unsqueeze(1), stationary)
    distance = horner(shifted(coefficients.unsqueeze(1), shift).unbind(0), s).abs()
    rounding = 2 * len(size) * eps * horner(sizes.unbind(0), s.abs())
    touches = turns & (distance <= rounding) & ~crosses[:-1] & ~crosses[1:]
    zero = torch.where(coefficients[0] == 0, 0.0, torch.nan)
    return torch.cat([torch.where(crosses, t, torch.nan), torch.where(touches, stationary, torch.nan), zero[None]])


def root_bound(coefficients: Tensor) -> Tensor:
    """A number that no root of a polynomial exceeds in size (Fujiwara). Shape (n + 1, N) to (N,)."""
    size = coefficients.abs().log2()
    degrees = torch.arange(len(size), device=size.device).unsqueeze(-1)
    last = torch.where(coefficients != 0, degrees, 0).amax(0)
    slopes = (size - size.gather(0, last[None])) / (last - degrees)
    exponent = torch.where(degrees < last, slopes, -torch.inf).amax(0)
    return torch.exp2(exponent + 1.1).clamp(torch.finfo(size.dtype).tiny, torch.finfo(size.dtype).max)


def roots_within(coefficients: Tensor, lo: Tensor, hi: Tensor) -> tuple[Tensor, Tensor]:
    """One point in each of the n intervals between the stationary points of N polynomials in [lo, hi], ascending.

    Args:
        coefficients: ascending. Shape (n + 1, N). A constant has no roots.
        lo: lower ends. Shape (N,).
        hi: upper ends, not below lo. Shape (N,).

    Returns:
        The root where the polynomial changes sign on the interval, else a point of it; and whether it changes sign.
        Shapes (n, N).
    """
    if len(coefficients) <= 2:
        t = -coefficients[: len(coefficients) - 1] / coefficients[1:]
        return torch.where(t.isnan(), lo, t.clamp(lo, hi)), (t > lo) & (t < hi)
    nodes = [lo[None], roots_within(derivative(coefficients), lo, hi)[0], hi[None]]
    return roots_between(coefficients, torch.cat(nodes))


def roots_between(coefficients: Tensor, nodes: Tensor) -> tuple[Tensor, Tensor]:
    """Roots of N polynomials of degree n that are monotone between neighboring nodes.

    Newton's method inside a shrinking bracket. A step that leaves the bracket or does not halve the step before it is
    replaced by a bisection, which bounds the number of steps even at repeated roots. For an interval without a change
    of sign, the end where the polynomial is closer to zero is returned: if rounding has hidden a pair of roots of a
    derivative, they are there.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        nodes: ascending. Shape (n + 1, N).

    Returns:
        As for `roots_within`.
    """
    value, _ = newton_steps(coefficients.unsqueeze(1), nodes)
    a, b, fa, fb = nodes[:-1], nodes[1:], value[:-1], value[1:]
    crosses = (fa < 0) != (fb < 0)
    result = torch.where(fa.abs() <= fb.abs(), a, b)
    # Only the intervals with a root still to be found are iterated, gathered into vectors of K entries.
    todo = (crosses & (fa != 0) & (fb != 0)).flatten().nonzero().squeeze(-1)
    a, b, fa, fb = (x.flatten()[todo] for x in (a, b, fa, fb))
    c = coefficients[:, todo % nodes.shape[1]]
    # The cubic through both ends with slope zero there, as at stationary points, crosses zero here.
    t = a + (b - a) * (0.5 - torch.sin(torch.asin((1 + 2 * fa / (fb - fa)).clamp(-1, 1)) / 3))
    # Rounding may have led past an end, and the width of a bracket of nearly all numbers overflows.
    t = torch.where(t.isfinite(), t, a / 2 + b / 2).clamp(a, b)
    rising, last, done = fa < 0, b - a, torch.zeros_like(todo, dtype=torch.bool)
    eps, flat = torch.finfo(c.dtype).eps, result.view(-1)
    for step in range(MAX_STEPS):
        f, by = newton_steps(c, t)
        below = (f < 0) == rising
        a, b = torch.where(below, t, a), torch.where(below, b, t)
        newton = t - by
        good = (newton >= a) & (newton <= b) & (2 * by.abs() <= last)
        if step >= NEWTON and step % 2:
            # Neither Newton's steps nor halving distances reach a root that is much smaller than its bracket.
            good &= by.abs() <= eps**0.5 * t.abs()
        new = torch.where(good, newton, a / 2 + b / 2 if step < NEWTON else float_middle(a, b))
        last = (new - t).abs()
        done |= f == 0
        t = torch.where(done, t, new)
        # Newton's error is squared in every step: after a step of sqrt(eps), the next one would be below rounding.
        done |= last <= torch.where(good, eps**0.5, 2 * eps) * t.abs()
        if 2 * int(done.sum()) >= len(done):
            flat[todo] = t
            going = (~done).nonzero().squeeze(-1)
            if not len(going):
                break
            todo, a, b, t, last, rising, done = (x[going] for x in (todo, a, b, t, last, rising, done))
            c = c[:, going]
    flat[todo] = t
    return result, crosses


def float_middle(a: Tensor, b: Tensor) -> Tensor:
    """A number of float64 with as many of them between it and a as between it and b."""
    middle = (ordered(a.view(torch.int64)) >> 1) + (ordered(b.view(torch.int64)) >> 1)
    return ordered(middle).view(torch.float64)


def ordered(bits: Tensor) -> Tensor:
    """Integers in the order of the floating-point numbers whose bits they are; its own inverse."""
    return torch.where(bits < 0, bits ^ torch.iinfo(bits.dtype).max, bits)


def newton_steps(coefficients: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Values of polynomials (n + 1, ...), n >= 1, at t, and Newton's steps there.

    A value that overflows is the largest number, one that underflows the smallest, both with its sign.
    """
    value, slope = value_and_slope(coefficients, t)
    if ordinary(value.abs(), t, len(coefficients)) and bool(slope.isfinite().all()):
        return value, value / slope
    s, scaled, shift, top = terms_in_units(coefficients, t)
    value, slope = value_and_slope(scaled, s)
    limits = torch.finfo(t.dtype)
    size = shifted(value.abs(), top).clamp(limits.smallest_normal, limits.max)
    return torch.where(value == 0, 0.0, torch.copysign(size, value)), shifted(value / slope, shift[1] - shift[0])


def value_and_slope(coefficients: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Horner's scheme for polynomials (n + 1, ...), n >= 1, and their derivatives."""
    *lower, c, slope = coefficients.unbind(0)
    value = torch.addcmul(c, slope, t)
    for c in reversed(lower):
        slope = torch.addcmul(value, slope, t)
        value = torch.addcmul(c, value, t)
    return value, slope


def values_at(coefficients: Tensor, t: Tensor) -> Tensor:
    """Values of N polynomials at t (points, N), in float64.

    Infinite where the value overflows; NaN where its rounding error does and may have its sign.
    """
    c = coefficients.unsqueeze(1)
    value, size = horner(c.unbind(0), t), horner(c.abs().unbind(0), t.abs())
    if ordinary(size, t, len(c)):
        return value
    s, scaled, _, top = terms_in_units(c, t)
    value, size = horner(scaled.unbind(0), s), horner(scaled.abs().unbind(0), s.abs())
    rounding = 2 * len(c) * torch.finfo(t.dtype).eps * size
    unknown = (value.abs() <= rounding) & shifted(rounding, top).isinf()
    return torch.where(unknown, torch.nan, shifted(value, top))


def ordinary(size: Tensor, t: Tensor, degree: int) -> bool:
    """Whether all values of these sizes at t are too large to suffer from underflow, and none has overflowed."""
    # What underflows on the way grows by |t|^degree at most.
    return bool(((size > 1e-290 * t.abs().clamp_min(1.0) ** degree) & size.isfinite()).all())


def terms_in_units(coefficients: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Polynomials at t in a unit of t, and a unit of values, in which the largest term is about 1.

    Args:
        coefficients: finite. Shape (n + 1, ...).
        t: finite. Shape (...).

    Returns:
        t in its unit, (...); the coefficients over it, (n + 1, ...); the powers of two by which they were multiplied,
        (n + 1, ...); and the power of two that values are to be multiplied by, (...).
    """
    s, exponent = torch.frexp(t)
    # At t = 0 the unit is so small that the constant alone counts.
    exponent = torch.where(t == 0, -5000, exponent).to(t.dtype)
    degrees = torch.arange(len(coefficients), device=t.device).reshape(-1, *[1] * (coefficients.dim() - 1))
    power = torch.where(coefficients != 0, torch.frexp(coefficients)[1] + degrees * exponent, -(2.0**20))
    top = power.amax(0)
    shift = degrees * exponent - top
    return s, shifted(coefficients, shift), shift, top


def horner(coefficients: Sequence[Tensor], t: Tensor) -> Tensor:
    """Values at t of polynomials with these ascending coefficients, all broadcast against each other."""
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = torch.addcmul(c, value, t)
    return value.expand(np.broadcast_shapes(value.shape, t.shape))


def derivative(coefficients: Tensor) -> Tensor:
    """Coefficients of the derivative. Shape (n + 1, ...) to (n, ...), of a constant to none."""
    powers = torch.arange(1, len(coefficients), dtype=coefficients.dtype, device=coefficients.device)
    return coefficients[1:] * powers.reshape(-1, *[1] * (coefficients.dim() - 1))
