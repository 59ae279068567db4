"""Ridge regressions by any loss on given features: by Newton steps for one output, by L-BFGS for several."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.linalg import solve
from scipy.optimize import minimize
from torch import Tensor

from polyladder.training.kernels.relevance import Array
from polyladder.training.losses.loss import Loss

LEAST_CURVATURE = 1e-6
"""Least second derivative of a row's loss in a Newton step, so that its system can be solved."""

OFFSET_RIDGE = 1e-6
"""Ridge weight of the offset: next to nothing, so that its system can be solved."""

STEPS = 15
"""Newton steps, at most."""

JOINT_STEPS = 60
"""Steps of L-BFGS, at most."""


def fit_outputs(
    loss: Loss, features: Array, target: Array, weight: Array, ridge: float, start: Array | None = None
) -> Array:
    """Outputs that are linear in features plus an offset: minimizes the summed loss plus ridge / 2 |c|^2.

    Args:
        loss: settled.
        features: shape (n, p).
        target: coded; classes as one column of 0 and 1 for each, for two classes the second column alone. Shape (n, m).
        weight: of the rows. Shape (n,).
        ridge: positive.
        start: where to start. Shape (p + 1, m).

    Returns:
        Coefficients, the offset last. Shape (p + 1, m).
    """
    rows = np.concatenate([features, np.ones((len(features), 1))], 1)
    penalty = np.r_[np.full(features.shape[1], ridge), OFFSET_RIDGE]
    first = np.zeros((rows.shape[1], target.shape[1])) if start is None else start
    y = torch.from_numpy(np.ascontiguousarray(target))
    if target.shape[1] == 1:
        return newton(loss, rows, y, weight, penalty, first)

    def value(flat: Array) -> tuple[float, Array]:
        c = flat.reshape(first.shape)
        f = torch.from_numpy(rows @ c)
        total = weight @ loss.each(f, y).sum(-1).numpy() + 0.5 * (penalty @ c**2).sum()
        slope = rows.T @ (weight[:, None] * loss.slopes(f, y).numpy()) + penalty[:, None] * c
        return float(total), slope.ravel()

    found: Any = minimize(value, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": JOINT_STEPS})
    return np.asarray(found.x.reshape(first.shape))


def newton(loss: Loss, rows: Array, y: Tensor, weight: Array, penalty: Array, start: Array) -> Array:
    """Newton steps, each halved until the loss falls. Shapes (n, p), (n, 1), (n,), (p,), (p, 1) to (p, 1)."""

    def total(c: Array) -> float:
        each = loss.each(torch.from_numpy(rows @ c), y)[:, 0].numpy()
        return float(weight @ each + 0.5 * penalty @ c[:, 0] ** 2)

    c, current = start.copy(), total(start)
    for _ in range(STEPS):
        f = torch.from_numpy(rows @ c)
        slope = rows.T @ (weight[:, None] * loss.slopes(f, y).numpy()) + penalty[:, None] * c
        # A matrix times its own transpose costs half as much as two matrices.
        second = np.maximum(loss.curvatures(f, y)[:, 0].numpy(), LEAST_CURVATURE)
        scaled = rows * np.sqrt(weight * second)[:, None]
        curvature = scaled.T @ scaled
        curvature[np.diag_indices_from(curvature)] += penalty
        step = solve(curvature, slope, assume_a="pos", overwrite_a=True, check_finite=False)
        length, lower = 1.0, total(c - step)
        while lower > current and length > 1e-4:
            length /= 2
            lower = total(c - length * step)
        if lower > current:
            break
        c, gain, current = c - length * step, current - lower, lower
        if gain < 1e-6 * abs(current) + 1e-9:
            break
    return c
