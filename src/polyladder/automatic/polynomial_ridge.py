"""Ridge regression on all monomials, from normal equations that are summed chunk by chunk: memory without rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import PolynomialFeatures

from polyladder.fitted.features import Features

ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)

CELLS = 2**22
"""Monomials times rows held at once: 32 MiB."""

COST = 6e10
"""Multiplications that the normal equations may take; of more rows a sample is taken."""


class PolynomialRidge:
    """A ridge on the monomials of a table up to a degree, each scaled to variance 1.

    The weight is chosen by generalized cross-validation, which the normal equations alone give:
    n RSS(a) / (n - df(a))^2, with df the trace of the hat matrix.

    Attributes after ``fit``: ``alpha_``, ``rows_`` (how many rows were used).
    """

    def __init__(self, degree: int, cost: float = COST) -> None:
        self.degree, self.cost = degree, cost

    def fit(self, X: Any, y: NDArray[np.float64]) -> Self:
        """Fit to a table. Shapes (n, d), (n,)."""
        self.features = Features()
        z = self.features.fit_transform(X)
        self.powers = PolynomialFeatures(self.degree, include_bias=False).fit(z[:1])
        p = self.powers.n_output_features_
        self.rows_ = min(len(y), max(1000, int(self.cost / p**2)))
        if self.rows_ < len(y):
            kept = np.sort(np.random.default_rng(0).permutation(len(y))[: self.rows_])
            z, y = z[kept], y[kept]
        n = len(y)
        self.level = float(np.mean(y))
        total, gram, product = np.zeros(p), np.zeros((p, p)), np.zeros(p)
        for part, target in zip(self.chunks(z), self.chunks(y - self.level, p), strict=True):
            monomials = self.powers.transform(part)
            total += monomials.sum(0)
            gram += monomials.T @ monomials
            product += monomials.T @ target
        self.mean = total / n
        gram -= n * np.outer(self.mean, self.mean)
        spread = np.sqrt(np.maximum(np.diag(gram) / n, 0.0))
        # A monomial that never changes, up to rounding, has no scale.
        self.scale = np.where(spread > 1e-10 * (1.0 + np.abs(self.mean)), spread, np.inf)
        gram /= np.outer(self.scale, self.scale)
        values, vectors = np.linalg.eigh(gram)
        values = np.maximum(values, 0.0)
        projected = vectors.T @ (product / self.scale)
        size = float(np.sum((y - self.level) ** 2))

        def criterion(alpha: float) -> float:
            weights = projected / (values + alpha)
            rest = size - 2 * weights @ projected + weights @ (values * weights)
            freedom = n - 1 - np.sum(values / (values + alpha))
            return float(n * max(rest, 0.0) / max(freedom, 1e-9) ** 2)

        self.alpha_ = min(ALPHAS, key=criterion)
        self.weights = (vectors @ (projected / (values + self.alpha_))) / self.scale
        return self

    def chunks(self, rows: NDArray[np.float64], monomials: int | None = None) -> list[NDArray[np.float64]]:
        """Rows in parts whose monomials fit into memory."""
        size = max(1, CELLS // (monomials or self.powers.n_output_features_))
        return [rows[at : at + size] for at in range(0, len(rows), size)]

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predictions. Shape (n,)."""
        z = self.features.transform(X)
        parts = [(self.powers.transform(part) - self.mean) @ self.weights for part in self.chunks(z)]
        return self.level + np.concatenate(parts)
