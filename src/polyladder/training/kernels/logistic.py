"""Logistic and softmax ridge regressions on given features, by Newton steps or L-BFGS."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from polyladder.training.kernels.relevance import Array

LEAST_CURVATURE = 1e-6
OFFSET_RIDGE = 1e-6
STEPS = 15
"""Newton steps, at most."""

SOFTMAX_STEPS = 60


def fit_classes(features: Array, classes: Array, weight: Array, ridge: float, start: Array | None = None) -> Array:
    """Scores of classes, linear in features plus an offset: minimizes the log loss plus ridge / 2 |c|^2.

    Args:
        features: shape (n, p).
        classes: one column per class, 0 or 1; for two classes the second column alone. Shape (n, m).
        weight: of the rows. Shape (n,).
        ridge: positive.
        start: where to start. Shape (p + 1, m).

    Returns:
        Coefficients, the offset last. Shape (p + 1, m).
    """
    rows = np.concatenate([features, np.ones((len(features), 1))], 1)
    penalty = np.r_[np.full(features.shape[1], ridge), OFFSET_RIDGE]
    first = np.zeros((rows.shape[1], classes.shape[1])) if start is None else start
    if classes.shape[1] == 1:
        return newton(rows, classes[:, 0], weight, penalty, first[:, 0])[:, None]

    def value(flat: Array) -> tuple[float, Array]:
        c = flat.reshape(first.shape)
        scores = rows @ c
        loss = -(weight @ (classes * log_softmax(scores, 1))).sum() + 0.5 * (penalty @ c**2).sum()
        slope = rows.T @ (weight[:, None] * (softmax(scores, 1) - classes)) + penalty[:, None] * c
        return float(loss), slope.ravel()

    found: Any = minimize(value, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": SOFTMAX_STEPS})
    return np.asarray(found.x.reshape(first.shape))


def newton(rows: Array, y: Array, weight: Array, penalty: Array, start: Array) -> Array:
    """Newton steps, each halved until the loss falls. Shapes (n, p), (n,), (n,), (p,), (p,) to (p,)."""

    def loss(c: Array) -> float:
        f = rows @ c
        return float(weight @ (np.logaddexp(0.0, f) - y * f) + 0.5 * penalty @ c**2)

    c, current = start.copy(), loss(start)
    for _ in range(STEPS):
        p = expit(rows @ c)
        slope = rows.T @ (weight * (p - y)) + penalty * c
        # A matrix times its own transpose costs half as much as two matrices.
        scaled = rows * np.sqrt(weight * np.maximum(p * (1 - p), LEAST_CURVATURE))[:, None]
        curvature = scaled.T @ scaled
        curvature[np.diag_indices_from(curvature)] += penalty
        step = solve(curvature, slope, assume_a="pos", overwrite_a=True, check_finite=False)
        length, lower = 1.0, loss(c - step)
        while lower > current and length > 1e-4:
            length /= 2
            lower = loss(c - length * step)
        if lower > current:
            break
        c, gain, current = c - length * step, current - lower, lower
        if gain < 1e-6 * abs(current) + 1e-9:
            break
    return c
