"""Scikit-learn's own checks, whole, for the rivals."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from polyladder import (
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    FeedforwardClassifier,
    FeedforwardRegressor,
    PolynomialKernelClassifier,
    PolynomialKernelRegressor,
)

pytestmark = pytest.mark.checks

ESTIMATORS = [
    FeedforwardRegressor(hidden=(8,), dropout=0.0, batch_norm=False, learning_rate=0.02, max_iter=8),
    FeedforwardClassifier(hidden=(8,), dropout=0.0, max_iter=8),
    FeedforwardRegressor(
        hidden=(6,), activation="quadratic", dropout=0.0, batch_norm=False, learning_rate=0.02, max_iter=8
    ),
    FactorizationMachineRegressor(rank=2, n_estimators=1, max_iter=10),
    FactorizationMachineClassifier(rank=2, n_estimators=1, learning_rate=0.05, max_iter=8),
    PolynomialKernelRegressor(degree=2, rank=3, n_estimators=1, max_iter=10),
    PolynomialKernelClassifier(degree=2, rank=4, n_estimators=1, learning_rate=0.1, max_iter=12),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
