"""Scikit-learn's own checks, whole, for every estimator and both solvers."""

from dataclasses import replace
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from polyladder import BatchedGridSearchCV, GradientTraining, LPNNClassifier, LPNNRegressor
from polyladder.fitted.features import Features

pytestmark = pytest.mark.checks

PLAIN_STEPS = GradientTraining(dropout=0.0, batch_norm=False)
STEPS = replace(PLAIN_STEPS, learning_rate=0.05)
ESTIMATORS = [
    LPNNRegressor(effort="low", width=4, max_iter=6, gradient=PLAIN_STEPS),
    LPNNClassifier(effort="low", width=4, max_iter=6, gradient=PLAIN_STEPS),
    LPNNRegressor(effort="low", width=4, max_iter=6, gradient=PLAIN_STEPS, loss="huber"),
    LPNNRegressor(order=3, width=3, n_estimators=2, max_iter=3, gradient=PLAIN_STEPS),
    LPNNRegressor(order=2, width=4, n_estimators=2, solver="adam", gradient=STEPS, max_iter=6),
    LPNNClassifier(order=2, width=4, n_estimators=2, gradient=replace(STEPS, batch_norm=True), max_iter=6),
    LPNNClassifier(order=3, width=3, solver="alternating", n_estimators=2, max_iter=4),
    BatchedGridSearchCV(
        LPNNRegressor(order=2, width=4, n_estimators=1, max_iter=4, random_state=0),
        {"alpha": [1e-3, 0.1]},
        cv=2,
        error_score="raise",
    ),
    BatchedGridSearchCV(
        LPNNClassifier(order=2, width=3, solver="alternating", n_estimators=1, max_iter=6, random_state=0),
        {"alpha": [1e-3, 0.1]},
        cv=2,
        error_score="raise",
    ),
    Features(),
    Features("quantile"),
    Features("yeo-johnson", clip=False),
    Features("piecewise"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
