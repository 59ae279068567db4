"""Directions: a few rows that represent all, so that a polynomial-kernel regression is a ladder of few units.

A function sum_i a_i (1 + k t_i)^p with t_i = u_i . x is a ladder in which each unit uses one direction u_i. Several
degrees over the same directions are one ladder too: each unit holds a polynomial of its t_i, in Horner's form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import comb

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.kernels.relevance import Array, Relevance

JITTER = 1e-9
"""Added to the diagonal of the directions' kernel matrix, relative to its mean."""

NEGLIGIBLE = 1e-10
"""No direction is added once all rows are explained up to this share of the largest variance."""

POOL = 4
"""Directions are picked among this many times more rows."""


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of one kernel.

    Attributes:
        slopes: u, scales included: t = x @ slopes.T. Shape (m, d).
        own: t of the directions' own rows. Shape (m, m).
        degree: for which the scales were found; at degree p they are multiplied by degree / p.
    """

    slopes: Array
    own: Array
    degree: int

    def along(self, x: Array) -> Array:
        """T of every row. Shape (n, m)."""
        return x @ self.slopes.T

    def stretch(self, degree: int) -> float:
        """k: what t is multiplied by at a degree."""
        return self.degree / degree

    def factor(self, degree: int) -> Array:
        """Cholesky factor of the kernel between the directions. Shape (m, m)."""
        kernel = whole_power(1 + self.stretch(degree) * self.own, degree)
        jitter = JITTER * kernel.diagonal().mean()
        while True:
            try:
                return np.asarray(np.linalg.cholesky(kernel + jitter * np.eye(len(kernel))))
            except np.linalg.LinAlgError:
                jitter *= 10

    def features(self, t: Array, degree: int, factor: Array) -> Array:
        """Features whose plain ridge regression equals that of the kernel. Shape (n, m)."""
        kernel = whole_power(1 + self.stretch(degree) * t, degree)
        return np.asarray(solve_triangular(factor, kernel.T, lower=True, check_finite=False).T)


def whole_power(base: Array, degree: int) -> Array:
    """``base**degree`` by products, for a degree of at least 1: several times as fast as logarithms."""
    result: Array | None = None
    while True:
        if degree % 2:
            result = base if result is None else result * base
        degree //= 2
        if not degree:
            assert result is not None
            return result
        base = base * base


def pick_directions(
    x: Array, relevance: Relevance, groups: NDArray[np.intp], most: int, rng: np.random.Generator, highest: int
) -> Directions:
    """Directions through rows that explain the others best, one after another (pivoted Cholesky).

    Args:
        x: rows to pick from. Shape (n, d).
        relevance: of the groups of inputs.
        groups: the number of each input's group. Shape (d,).
        most: at most this many.
        rng: picks the candidate rows.
        highest: degree of the kernels over them: a higher one than that of the scales needs more directions.
    """
    pool = x if len(x) <= POOL * most else x[rng.permutation(len(x))[: POOL * most]]
    scales = relevance.scales[groups]
    scaled = pool * scales
    products = scaled @ scaled.T
    chosen = pivots(whole_power(1 + products, relevance.degree), most)
    if len(chosen) < most and highest > relevance.degree:
        # The lower degree first, until all of its polynomials are reached: the higher one would pick outliers.
        further = pivots(whole_power(1 + relevance.degree / highest * products, highest), most)
        chosen += [j for j in further if j not in set(chosen)][: most - len(chosen)]
    slopes = scaled[chosen] * scales
    return Directions(slopes, pool[chosen] @ slopes.T, relevance.degree)


def pivots(kernel: Array, most: int) -> list[int]:
    """Rows of a kernel matrix, those that explain most of the rest first."""
    left = kernel.diagonal().copy()
    enough = NEGLIGIBLE * left.max()
    rows = np.zeros((min(most, len(kernel)), len(kernel)))
    chosen: list[int] = []
    for i in range(len(rows)):
        j = int(left.argmax())
        if left[j] <= enough:
            break
        rows[i] = (kernel[j] - rows[:i].T @ rows[:i, j]) / np.sqrt(left[j])
        left = np.maximum(left - rows[i] ** 2, 0.0)
        left[j] = 0.0
        chosen.append(j)
    return chosen


def kernel_ladder(directions: Directions, coefficients: Mapping[int, Array]) -> LadderPolynomial:
    """The ladder of one output that sums kernels of several degrees over the same directions.

    Args:
        directions: m of them.
        coefficients: for each degree, of each direction. Shapes (m,).

    Returns:
        Order max(2, highest degree), width m.
    """
    order = max(2, *coefficients)
    powers = np.zeros((order + 1, len(directions.slopes)))
    for degree, a in coefficients.items():
        for power in range(degree + 1):
            powers[power] += comb(degree, power) * directions.stretch(degree) ** power * a
    c, slopes = torch.from_numpy(powers), torch.from_numpy(directions.slopes)
    zero, identity = torch.zeros(len(slopes), dtype=torch.float64), torch.eye(len(slopes), dtype=torch.float64)
    # Horner: h = (c_p t + c_(p-1)) t, then h = (h + c_(p-2)) t and so on down to c_1.
    return LadderPolynomial(
        W=(c[order].unsqueeze(-1) * slopes, *[identity] * (order - 2)),
        b=tuple(c[power] for power in range(order - 1, 0, -1)),
        V=(slopes,) * (order - 1),
        c=(zero,) * (order - 1),
        readout=torch.ones(1, len(slopes), dtype=torch.float64),
        offset=c[0].sum().reshape(1),
    )


def power_ladder(directions: Directions, degree: int, coefficients: Array) -> LadderPolynomial:
    """The ladder of several outputs over kernels of one degree.

    Args:
        directions: m of them.
        degree: p >= 2.
        coefficients: of each direction for each output. Shape (m, outputs).
    """
    slopes = torch.from_numpy(directions.stretch(degree) * directions.slopes)
    one = torch.ones(len(slopes), dtype=torch.float64)
    identity = torch.diag(one)
    return LadderPolynomial(
        W=(slopes, *[identity] * (degree - 2)),
        b=(one, *[torch.zeros_like(one)] * (degree - 2)),
        V=(slopes,) * (degree - 1),
        c=(one,) * (degree - 1),
        readout=torch.from_numpy(coefficients.T.copy()),
        offset=torch.zeros(coefficients.shape[1], dtype=torch.float64),
    )


def linear_ladder(slopes: Array, offset: Array) -> LadderPolynomial:
    """An affine function as a ladder of one layer, whose gates are 1.

    Args:
        slopes: of each output. Shape (outputs, d).
        offset: of each output. Shape (outputs,).
    """
    W, o = torch.from_numpy(np.ascontiguousarray(slopes)), torch.from_numpy(np.ascontiguousarray(offset))
    zero = torch.zeros_like(o)
    return LadderPolynomial(
        W=(W,), b=(zero,), V=(torch.zeros_like(W),), c=(zero + 1,), readout=torch.diag(zero + 1), offset=o
    )
