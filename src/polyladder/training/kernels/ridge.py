"""Ridge regressions whose ridge weight is chosen by the exact error of leaving each row out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from polyladder.training.kernels.relevance import Array

LEAST_FREE = 1e-10
"""Least value of 1 - leverage: a row of leverage 1 cannot be predicted from the others, and would divide by 0."""


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """A ridge regression.

    Attributes:
        coefficients: shape (p, m).
        offset: which has no ridge. Shape (m,).
        left_out: prediction for each row by a fit without it. Shape (n, m).
        ridge: that was chosen.
        error: weighted mean square error of the rows left out, summed over outputs; or the result of ``judge``.
    """

    coefficients: Array
    offset: Array
    left_out: Array
    ridge: float
    error: float


def ridge_regression(
    features: Array,
    y: Array,
    weight: Array,
    ridges: Sequence[float],
    judge: Callable[[Array], float] | None = None,
) -> RidgeFit:
    r"""The best of several ridge weights by leaving each row out.

    Minimizes :math:`\sum_n w_n |y_n - \phi_n c - o|^2 + r |c|^2`. A row of weight 2 counts as two rows, which are
    left out together.

    Args:
        features: phi. Shape (n, p).
        y: targets. Shape (n, m).
        weight: of the rows, positive. Shape (n,).
        ridges: to choose among, positive.
        judge: the error of predictions (n, m) of rows left out; by default their mean square.

    Cost: n p min(n, p).
    """
    root, share = np.sqrt(weight)[:, None], weight / weight.sum()
    center, level = share @ features, share @ y
    left, sizes, right = thin_svd((features - center) * root)
    rotated = left.T @ ((y - level) * root)
    outside = (y - level) * root - left @ rotated
    # The offset adds to the leverage; without that term a centered row would be determined by all the others.
    unreached = np.maximum(1 - share - (left**2).sum(1), 0.0)
    best: RidgeFit | None = None
    for ridge in ridges:
        # Residuals and 1 - leverage as sums of positive terms: as differences they would be nothing but rounding where
        # features outnumber rows.
        lost = ridge / (sizes**2 + ridge)
        unexplained = (outside + left @ (lost[:, None] * rotated)) / root
        free = unreached + (left**2) @ lost
        residual = unexplained / np.maximum(free, LEAST_FREE)[:, None]
        error = float((weight @ residual**2).sum() / weight.sum()) if judge is None else judge(y - residual)
        if best is None or error < best.error:
            coefficients = right.T @ ((sizes / (sizes**2 + ridge))[:, None] * rotated)
            best = RidgeFit(coefficients, level - center @ coefficients, y - residual, ridge, error)
    assert best is not None
    return best


def thin_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Singular value decomposition of an (n, p) matrix, by the eigenvalues of its smaller Gram matrix.

    Directions below 1e-7 of the largest are left out: the square root of rounding is all that a Gram matrix resolves.
    """
    n, p = matrix.shape
    values, vectors = np.linalg.eigh(matrix.T @ matrix if p <= n else matrix @ matrix.T)
    kept = values > 1e-14 * max(values[-1], np.finfo(float).tiny)
    sizes, vectors = np.sqrt(values[kept]), vectors[:, kept]
    if p <= n:
        return (matrix @ vectors) / sizes, sizes, vectors.T
    return vectors, sizes, (vectors.T @ matrix) / sizes[:, None]
