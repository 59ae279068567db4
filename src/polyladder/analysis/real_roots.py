"""Real roots of many small polynomials at once, without eigenvalues.

Between two neighboring stationary points a polynomial is monotone and has at most one root, which a bracketed Newton
iteration finds. The stationary points are the roots of the derivative, found the same way, down to a straight line. A
tiny or zero leading coefficient is not a problem here, whereas a companion matrix divides by it. Where terms underflow
or overflow, each value is computed in a unit of its own (`unit`), so that its sign is right.

Coefficients stand degree first, (degree + 1, N), so that each power is one contiguous row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from polyladder.polynomial.rescale import shifted

Evaluate = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""Values of polynomials at t, and Newton's steps there; coefficients (n + 1, ...), n >= 1, broadcast against t."""

NEWTON, MAX_STEPS = 10, 140
"""First steps, which are Newton's wherever possible, and all steps. After the first ones every other step halves the
set of numbers in the bracket, and 64 halvings reach any root. Six to nine steps are typical."""

SAFE = 450.0
"""Terms between 2**-SAFE and 2**SAFE, and any quotient of two of them, are ordinary numbers of float64."""


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
    plain = ordinary(c[1:], torch.maximum(lo.abs(), hi.abs()))
    t, value = torch.full_like(lo, torch.nan), torch.full_like(lo, torch.nan)
    for part, evaluate, values in ((plain, by_horner, horner_values), (~plain, by_units, unit_values)):
        at = part.nonzero().squeeze(-1)
        if len(at):
            a, low, high = c[:, at], lo[at], hi[at]
            # The factor keeps the slope from overflowing. The digits that subnormal coefficients lose matter only where
            # values overflow or underflow.
            slope = derivative(a * torch.where(a.abs().amax(0) > 1e300, 2.0**-20, 1.0))
            # Zero is a stationary point that iterations only approach where the slope has a repeated root there.
            ends = torch.stack([low, torch.zeros_like(low).clamp(low, high), high])
            points = torch.cat([ends, roots_within(slope, low, high, evaluate)[0]]).to(dtype).double()
            found = values(a, points)
            value[at] = found.amin(0)
            t[at] = torch.where(found == value[at], points, torch.inf).amin(0)
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
    far = root_bound(c)
    plain = ordinary(c, far) & ordinary(size, far)
    roots = c.new_full((2 * n, len(level)), torch.nan)
    for part, evaluate in ((plain, by_horner), (~plain, by_units)):
        at = part.nonzero().squeeze(-1)
        if len(at):
            roots[:, at] = crossings_and_touchings(c[:, at], size[:, at], far[at], torch.finfo(dtype).eps, evaluate)
    roots = roots.to(dtype)
    roots = torch.where(roots.isfinite() & some, roots, torch.nan).sort(0).values
    roots[1:][roots[1:] == roots[:-1]] = torch.nan
    return roots.sort(0).values[:n] + 0.0  # -0 becomes 0


def crossings_and_touchings(coefficients: Tensor, size: Tensor, far: Tensor, eps: float, evaluate: Evaluate) -> Tensor:
    """Roots on [-far, far], NaN where there is none.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        size: the magnitudes of the coefficients before any cancellation. Shape (n + 1, N).
        far: shape (N,).
        eps: the relative rounding error of the coefficients.
        evaluate: how.

    Returns:
        Shape (2 n, N).
    """
    stationary, turns = roots_within(derivative(coefficients), -far, far, evaluate)
    t, crosses = roots_between(coefficients, torch.cat([-far[None], stationary, far[None]]), evaluate)
    s, shift, _, _ = unit(size.unsqueeze(1), stationary)
    distance = horner(shifted(coefficients.unsqueeze(1), shift).unbind(0), s).abs()
    rounding = 2 * len(size) * eps * horner(shifted(size.unsqueeze(1), shift).unbind(0), s.abs())
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


def roots_within(coefficients: Tensor, lo: Tensor, hi: Tensor, evaluate: Evaluate) -> tuple[Tensor, Tensor]:
    """One point in each of the n intervals between the stationary points of N polynomials in [lo, hi], ascending.

    Args:
        coefficients: ascending. Shape (n + 1, N). A constant has no roots.
        lo: lower ends. Shape (N,).
        hi: upper ends, not below lo. Shape (N,).
        evaluate: how.

    Returns:
        The root where the polynomial changes sign on the interval, else a point of it; and whether it changes sign.
        Shapes (n, N).
    """
    if len(coefficients) <= 2:
        t = -coefficients[: len(coefficients) - 1] / coefficients[1:]
        return torch.where(t.isnan(), lo, t.clamp(lo, hi)), (t > lo) & (t < hi)
    nodes = [lo[None], roots_within(derivative(coefficients), lo, hi, evaluate)[0], hi[None]]
    return roots_between(coefficients, torch.cat(nodes), evaluate)


def roots_between(coefficients: Tensor, nodes: Tensor, evaluate: Evaluate) -> tuple[Tensor, Tensor]:
    """Roots of N polynomials of degree n that are monotone between neighboring nodes.

    Newton's method inside a shrinking bracket. A step that leaves the bracket or does not halve the step before it is
    replaced by a bisection, which bounds the number of steps even at repeated roots. For an interval without a change
    of sign, the end where the polynomial is closer to zero is returned: if rounding has hidden a pair of roots of a
    derivative, they are there.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        nodes: ascending. Shape (n + 1, N).
        evaluate: how.

    Returns:
        As for `roots_within`.
    """
    value, _ = evaluate(coefficients.unsqueeze(1), nodes)
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
        f, by = evaluate(c, t)
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


def by_horner(coefficients: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """`Evaluate` for polynomials with `ordinary` terms."""
    *lower, c, slope = coefficients.unbind(0)
    value = torch.addcmul(c, slope, t)
    for c in reversed(lower):
        slope = torch.addcmul(value, slope, t)
        value = torch.addcmul(c, value, t)
    return value, value / slope


def by_units(coefficients: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """`Evaluate` for all finite polynomials. What overflows is the largest number, what underflows the smallest."""
    s, shift, exponent, top = unit(coefficients, t)
    scaled, step = by_horner(shifted(coefficients, shift), s)
    limits = torch.finfo(t.dtype)
    size = shifted(scaled.abs(), top).clamp(limits.smallest_normal, limits.max)
    return torch.where(scaled == 0, 0.0, torch.copysign(size, scaled)), shifted(step, exponent)


def unit(coefficients: Tensor, t: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The unit in which the largest term of a polynomial at t is about 1.

    Args:
        coefficients: finite. Shape (n + 1, ...).
        t: finite. Shape (...).

    Returns:
        s and its exponent e with t = s 2**e; by which powers of two the coefficients over s are shifted, (n + 1, ...);
        and the power of two that values are then to be multiplied by. Shapes (...), (n + 1, ...), (...), (...).
    """
    s, exponent = torch.frexp(t)
    # At t = 0 the unit is so small that the constant alone counts.
    exponent = torch.where(t == 0, -5000, exponent)
    degrees = torch.arange(len(coefficients), device=t.device).reshape(-1, *[1] * (coefficients.dim() - 1))
    power = torch.where(coefficients != 0, torch.frexp(coefficients)[1] + degrees * exponent, -(2**20))
    top = power.amax(0)
    return s, (degrees * exponent - top).to(t.dtype), exponent.to(t.dtype), top.to(t.dtype)


def unit_values(coefficients: Tensor, t: Tensor) -> Tensor:
    """Values of N polynomials at t (points, N), in float64.

    Infinite where the value overflows; NaN where its rounding error does and may have its sign.
    """
    c = coefficients.unsqueeze(1)
    s, shift, _, top = unit(c, t)
    scaled = shifted(c, shift)
    value, size = horner(scaled.unbind(0), s), horner(scaled.abs().unbind(0), s.abs())
    rounding = 2 * len(c) * torch.finfo(t.dtype).eps * size
    unknown = (value.abs() <= rounding) & shifted(rounding, top).isinf()
    return torch.where(unknown, torch.nan, shifted(value, top))


def ordinary(coefficients: Tensor, reach: Tensor) -> Tensor:
    """Whether all terms of polynomials (n + 1, N) are ordinary numbers where they count.

    That is from the smallest root in size, which differs from 1 by no more than the coefficients do from each other, to
    the largest |t|, of shape (N,). Shape (N,).
    """
    size = coefficients.abs()
    if not len(size):
        return torch.ones_like(reach, dtype=torch.bool)
    top, bottom = size.amax(0), torch.where(size > 0, size, torch.inf).amin(0)
    spread = torch.maximum((len(size) * top / bottom).log2() + 1, reach.log2().abs())
    return (torch.maximum(top.log2().abs(), bottom.log2().abs()) + len(size) * spread <= SAFE) | (top == 0)


def horner_values(coefficients: Tensor, t: Tensor) -> Tensor:
    """Values of N polynomials at t (points, N)."""
    return horner(coefficients.unbind(0), t)


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
