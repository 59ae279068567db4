"""Small tables and settings for the tests of estimators."""

from typing import Any

import numpy as np

TINY: dict[str, Any] = {"order": 3, "width": 4, "n_estimators": 2, "max_iter": 5, "random_state": 0}


def rows(n: int = 120) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows of three uniform inputs and a cubic of them, without noise."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(n, 3))
    return X, 1.0 + 2.0 * X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * X[:, 0] ** 2 * X[:, 1]


def labels(n: int, classes: tuple[str, ...]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows and classes of equal size that a quadratic separates."""
    X, _ = rows(n)
    score = X[:, 0] + X[:, 1] * X[:, 2]
    return X, np.array(classes)[np.digitize(score, np.quantile(score, np.arange(1, len(classes)) / len(classes)))]
