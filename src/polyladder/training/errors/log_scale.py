"""The logarithm of the scale of errors, linear in given features: one convex problem."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import gammaln

from polyladder.training.kernels.relevance import Array

STEPS = 60
"""Steps of the search, at most; ten are usual."""

SETTLED = 1e-6
"""A step that lowers the mean loss by less is the last."""

SHORTEST = 1e-3
"""Where no longer step lowers the loss, the search ends."""

FARTHEST = 40.0
"""Logarithms are held to this distance from that of a typical error, so that no scale overflows."""


def log_densities(errors: Array, log_scale: Array, degrees: float) -> Array:
    """Log density of errors (n,) under a Student distribution of these scales; infinite degrees are the normal one."""
    square = (errors * np.exp(-log_scale)) ** 2
    if np.isinf(degrees):
        return -square / 2 - log_scale - np.log(2 * np.pi) / 2
    constant = gammaln((degrees + 1) / 2) - gammaln(degrees / 2) - np.log(degrees * np.pi) / 2
    return np.asarray(constant - (degrees + 1) / 2 * np.log1p(square / degrees) - log_scale)


def log_scale_coefficients(features: Array, errors: Array, weight: Array, ridge: float, degrees: float) -> Array:
    r"""Coefficients c, an offset last, of the log scale g = [features, 1] c that makes errors likeliest.

    .. math:: \sum_n w_n \big(g_n + \tfrac{\nu + 1}{2} \log(1 + r_n^2 e^{-2 g_n} / \nu)\big) + \tfrac\lambda2 |c|^2

    This is convex in c. Every step solves with the expected second derivatives, 2 nu / (nu + 3) for each row, which
    are factored once, and is halved until the loss falls. The offset is not penalized.

    Args:
        features: shape (n, p).
        errors: not all zero. Shape (n,).
        weight: of the rows. Shape (n,).
        ridge: lambda, above 0.
        degrees: nu, of freedom; infinity is the normal distribution.

    Returns:
        Shape (p + 1,).
    """
    rows = np.concatenate([features, np.ones((len(features), 1))], 1)
    penalty = np.r_[np.full(features.shape[1], ridge), 0.0]
    expected = 2.0 if np.isinf(degrees) else 2 * degrees / (degrees + 3)
    second = (rows * (expected * weight)[:, None]).T @ rows
    second[np.diag_indices_from(second)] += penalty + 1e-12 * np.trace(second) / len(second)
    factor = cho_factor(second, check_finite=False)
    center = np.log(typical_size(errors, weight))

    def held(c: Array) -> Array:
        return np.clip(rows @ c, center - FARTHEST, center + FARTHEST)

    def total(c: Array) -> float:
        return float(-weight @ log_densities(errors, held(c), degrees) + penalty @ c**2 / 2)

    c = np.r_[np.zeros(features.shape[1]), center]
    current = total(c)
    for _ in range(STEPS):
        square = (errors * np.exp(-held(c))) ** 2
        pull = square if np.isinf(degrees) else (degrees + 1) * square / (degrees + square)
        step = cho_solve(factor, rows.T @ (weight * (1 - pull)) + penalty * c, check_finite=False)
        length, lower = 1.0, total(c - step)
        while lower > current and length > SHORTEST:
            length /= 2
            lower = total(c - length * step)
        if lower > current:
            break
        c, gain, current = c - length * step, current - lower, lower
        if gain < SETTLED * weight.sum():
            break
    return c


def typical_size(errors: Array, weight: Array) -> float:
    """The root mean square of errors, none of which counts as more than ten times the median size."""
    sizes = np.abs(errors)
    most = 10 * np.median(sizes[weight > 0])
    held = np.minimum(sizes, most) if most > 0 else sizes
    return float(np.sqrt(weight @ held**2 / weight.sum()))
