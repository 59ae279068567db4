"""How much each input matters, by the evidence of a Gaussian process with a polynomial kernel.

The kernel (1 + sum_j s_j^2 x_j x'_j)^p is that of all polynomials of order p. Its scales s, one per group of inputs (a
column may become several), maximize the evidence of the rows: an input without information gets a scale near zero.
Nothing is held out, and the gradient is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize

Array = NDArray[np.float64]

PRIOR = 0.1
"""Precision of a normal prior on the logarithms of the scales: with few informative rows, all inputs count equally."""

LEAST_NOISE = 1e-7
"""Added to the noise variance, so that the kernel matrix can be factorized."""

BOUNDS = ((-9.0, 3.0), (-15.0, 3.0), (-9.0, 9.0))
"""Of the logarithms of scales, noise and amplitude."""


@dataclass(frozen=True, eq=False)
class Relevance:
    """A polynomial kernel fitted to rows.

    Attributes:
        scales: of each group of inputs. Shape (groups,).
        noise: variance of the noise, for targets of variance 1.
        amplitude: variance that the kernel gives to the origin.
        degree: for which the scales were found.
    """

    scales: Array
    noise: float
    amplitude: float
    degree: int


def first_scales(groups: NDArray[np.intp], degree: int) -> Array:
    """Scales at which all groups count equally and the polynomial is about as large as its constant."""
    sizes = np.bincount(groups)
    return np.asarray(1 / np.sqrt(degree * len(sizes) * np.maximum(sizes, 1)))


def fit_relevance(
    x: Array,
    y: Array,
    groups: NDArray[np.intp],
    degree: int,
    *,
    weight: Array | None = None,
    start: Relevance | None = None,
    steps: int = 40,
) -> Relevance:
    """The kernel of highest evidence.

    Args:
        x: inputs, about standardized. Shape (n, d).
        y: targets of mean 0 and variance 1; several columns share the kernel. Shape (n, m).
        groups: the number of each input's group. Shape (d,).
        degree: p.
        weight: of the rows; a weight of 2 halves the noise of its row. Shape (n,).
        start: a kernel to start from, of any degree.
        steps: at most this many of L-BFGS.

    Cost: steps times n^3 + n^2 d.
    """
    prior = np.log(first_scales(groups, degree))
    count, outputs = len(prior), y.shape[1]
    first = np.r_[prior, np.log(0.05), 0.0]
    if start is not None:
        scales = start.scales * np.sqrt(start.degree / degree)
        first = np.log(np.r_[scales, start.noise, start.amplitude])
    inverse_weight = np.ones(len(x)) if weight is None else 1 / weight
    rows = np.arange(len(x))

    def value(theta: Array) -> tuple[float, Array]:
        scales, noise, amplitude = np.exp(theta[:count])[groups], np.exp(theta[count]), np.exp(theta[count + 1])
        scaled = x * scales
        base = 1 + scaled @ scaled.T
        below = base ** (degree - 1)
        kernel = amplitude * below * base
        # In Fortran's order and in place: LAPACK then copies nothing.
        noisy = kernel.copy(order="F")
        noisy[rows, rows] += (noise + LEAST_NOISE) * inverse_weight
        factor, failed = dpotrf(noisy, overwrite_a=True)
        if failed:
            return 1e10, np.zeros_like(theta)
        logarithm = np.log(factor.diagonal()).sum()
        half, _ = dpotri(factor, overwrite_c=True)
        above = np.triu(half, 1)
        inverse = above + above.T
        inverse[rows, rows] = half.diagonal()
        solved = inverse @ y
        away = theta[:count] - prior
        negative = 0.5 * (y * solved).sum() + outputs * logarithm + 0.5 * PRIOR * away @ away
        slope = 0.5 * (outputs * inverse - solved @ solved.T)
        by_input = 2 * degree * amplitude * np.einsum("ij,ij->j", scaled, (slope * below) @ scaled)
        gradient = np.r_[
            np.bincount(groups, by_input, minlength=count) + PRIOR * away,
            noise * (slope.diagonal() * inverse_weight).sum(),
            (slope * kernel).sum(),
        ]
        return float(negative), gradient

    bounds = [BOUNDS[0]] * count + [BOUNDS[1], BOUNDS[2]]
    first = np.clip(first, [low for low, _ in bounds], [high for _, high in bounds])
    found: Any = minimize(value, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": steps})
    theta = np.exp(found.x)
    return Relevance(theta[:count], float(theta[count]) + LEAST_NOISE, float(theta[count + 1]), degree)
