"""The network along a line, its lowest point and its roots, in exact or 60-digit arithmetic."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import mpmath
import sympy
import torch

from polyladder import LadderPolynomial
from tests.oracles.ladder import evaluate


def interpolated_coefficients(p: LadderPolynomial, point: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """Ascending coefficients along one line, by exact interpolation of order + 1 exact values. Shape (m, order + 1)."""
    x0, g = ([Fraction(v) for v in t.tolist()] for t in (point, direction))
    nodes = [Fraction(t) for t in range(p.order + 1)]
    values = [evaluate(p, [x + t * s for x, s in zip(x0, g, strict=True)]) for t in nodes]
    return torch.tensor(
        [[float(a) for a in newton_interpolation(nodes, list(column))] for column in zip(*values, strict=True)],
        dtype=torch.float64,
    )


def newton_interpolation(nodes: list[Fraction], values: list[Fraction]) -> list[Fraction]:
    """The ascending coefficients of the polynomial through all points, from divided differences."""
    differences = values
    for k in range(1, len(nodes)):
        for i in range(len(nodes) - 1, k - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - k])
    coefficients = [Fraction(0)] * len(nodes)
    for node, difference in zip(reversed(nodes), reversed(differences), strict=True):
        shifted = [Fraction(0), *coefficients[:-1]]
        coefficients = [s - node * a for s, a in zip(shifted, coefficients, strict=True)]
        coefficients[0] += difference
    return coefficients


def value(coefficients: Sequence[float | Fraction], t: float | Fraction) -> Fraction:
    """Power by power, without rounding."""
    return sum((Fraction(a) * Fraction(t) ** j for j, a in enumerate(coefficients)), Fraction(0))


def minimum(coefficients: Sequence[float], lo: float, hi: float, samples: int = 30) -> Fraction:
    """The lowest exact value among samples, both ends and 60-digit roots of the derivative."""
    lower, upper = Fraction(lo), Fraction(hi)
    candidates = [lower + (upper - lower) * Fraction(i, samples) for i in range(samples + 1)]
    candidates += [min(max(t, lower), upper) for t in stationary_points(tuple(coefficients))]
    return min(value(coefficients, t) for t in candidates)


@lru_cache
def stationary_points(coefficients: tuple[float, ...]) -> list[Fraction]:
    """Real parts of the derivative's roots: those of complex ones are not stationary, but trying them is no harm."""
    slope = [j * Fraction(a) for j, a in enumerate(coefficients)][1:]
    while slope and slope[-1] == 0:
        slope.pop()
    if len(slope) < 2:
        return []
    with mpmath.workdps(60):
        descending = [mpmath.mpf(a.numerator) / a.denominator for a in reversed(slope)]
        roots = mpmath.polyroots(descending, maxsteps=2000, extraprec=1500, error=False)
        return [Fraction(mpmath.nstr(mpmath.re(root), 50)) for root in roots]


def real_roots(coefficients: Sequence[float], level: float) -> list[float]:
    """Distinct real roots, isolated one by one in rational arithmetic."""
    a = [sympy.Rational(*Fraction(c).as_integer_ratio()) for c in coefficients]
    a[0] -= sympy.Rational(*Fraction(level).as_integer_ratio())
    polynomial = sympy.Poly(list(reversed(a)), sympy.Symbol("t"), domain="QQ")
    if polynomial.degree() < 1:
        return []
    eps = sympy.Rational(1, 10**18)
    return [float((low + high) / 2) for (low, high), _ in polynomial.intervals(eps=eps)]
