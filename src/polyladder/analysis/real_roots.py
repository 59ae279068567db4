"""Real roots of many small polynomials at once, without eigenvalues.

Between two neighboring stationary points a polynomial is monotone and has at most one root, which a bracketed Newton
iteration finds. The stationary points are the roots of the derivative, found the same way, down to the quadratic
formula. A leading coefficient that is tiny or zero is nothing special here, whereas a companion matrix divides by it.

Coefficients stand degree first, (degree + 1, N), so that each power is one contiguous row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


def lowest_within(coefficients: Tensor, lo: Tensor, hi: Tensor) -> Tensor:
    """Where on [lo, hi] each of N polynomials is lowest: the best of all stationary points there and both ends.

    Args:
        coefficients: ascending. Shape (n + 1, N).
        lo: lower ends. Shape (N,).
        hi: upper ends, not below lo. Shape (N,).

    Returns:
        Shape (N,); the first of equally low points. NaN where the values are.
    """
    t = torch.stack([lo, hi])
    if len(coefficients) > 2:
        exponent = exponents(torch.maximum(lo.abs(), hi.abs()))
        stationary = roots_within(
            derivative(balanced(coefficients, exponent)), shifted(lo, -exponent), shifted(hi, -exponent)
        )
        t = torch.cat([t[:1], shifted(stationary.t, exponent), t[1:]])
    value, index = horner(coefficients.unbind(0), t).min(0)
    return torch.where(value.isnan(), value, t.gather(0, index[None])[0])


def real_roots(coefficients: Tensor, level: Tensor) -> Tensor:
    """All real t at which each of N polynomials crosses or touches its level.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        level: Shape (N,).

    Returns:
        Distinct roots, ascending, NaN at the end. Shape (n, N).
    """
    n, N = len(coefficients) - 1, coefficients.shape[1]
    c = torch.cat([coefficients[:1] - level, coefficients[1:]])
    size = torch.cat([coefficients[:1].abs() + level.abs(), coefficients[1:].abs()])
    # Roots beyond the border are those of the reversed polynomial in 1 / t: no power of a large number is formed.
    c, size = (torch.cat([x, x.flip(0)], 1) for x in (c, size))
    exponent = exponents(size.amax(0))
    border = c.new_tensor([BORDER, 1 / BORDER]).repeat_interleave(N)
    roots = crossings_and_touchings(shifted(c, -exponent), shifted(size, -exponent), border)
    roots = torch.cat([roots[:, :N], 1 / roots[:, N:]])
    # A constant touches its own level everywhere, and a vanishing leading coefficient has its root at infinity.
    roots = torch.where(roots.isfinite() & (coefficients[1:] != 0).any(0), roots, torch.nan).sort(0).values
    roots[1:][roots[1:] == roots[:-1]] = torch.nan
    return roots.sort(0).values[:n] + 0.0  # -0 becomes 0


BORDER = 1.236067977
"""Where `real_roots` changes from t to 1 / t: an odd number, so that no root of even multiplicity lies just there."""


def crossings_and_touchings(coefficients: Tensor, size: Tensor, border: Tensor) -> Tensor:
    """Roots on [-border, border], NaN where there is none.

    Args:
        coefficients: ascending. Shape (n + 1, N), n >= 1.
        size: the magnitudes of the coefficients before any cancellation. Shape (n + 1, N).
        border: Shape (N,).

    Returns:
        Shape (2 n - 1, N).
    """
    n = len(coefficients) - 1
    stationary = roots_within(derivative(coefficients), -border, border)
    t, crosses = roots_between(coefficients, torch.cat([-border[None], stationary.t, border[None]]))
    distance = horner(coefficients.unbind(0), stationary.t).abs()
    rounding = 2 * (n + 1) * torch.finfo(size.dtype).eps * horner(size.unbind(0), stationary.t.abs())
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


def balanced(coefficients: Tensor, exponent: Tensor) -> Tensor:
    """Coefficients over s = t / 2**exponent, times the power of two that makes the largest about 1.

    Exact, but for coefficients so small beside the largest that on |s| <= 1 they do not count. Shapes (n + 1, N), (N,).
    """
    mantissa, power = torch.frexp(coefficients)
    degrees = torch.arange(len(coefficients), dtype=exponent.dtype, device=exponent.device).unsqueeze(-1)
    power = torch.where(coefficients != 0, power + degrees * exponent, -torch.inf)
    return shifted(mantissa, (power - power.amax(0)).nan_to_num(neginf=-1e4))


def exponents(t: Tensor) -> Tensor:
    """Integers e with |t| < 2**e, as far as both 2**e and 2**-e are numbers."""
    limit = math.frexp(torch.finfo(t.dtype).max)[1] - 3
    return torch.frexp(t)[1].clamp(-limit, limit).to(t.dtype)


def shifted(t: Tensor, exponent: Tensor) -> Tensor:
    """The product of t and 2**exponent, exact."""
    return t * torch.exp2(exponent)
