"""Scikit-learn's own checks, whole, for the Bayesian estimators."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from polyladder.estimators.bayesian import BayesianLPNNClassifier, BayesianLPNNRegressor

pytestmark = pytest.mark.checks

ESTIMATORS = [
    BayesianLPNNRegressor(order=2, width=3, chains=1, warmup=5, draws=8),
    BayesianLPNNClassifier(order=2, width=3, chains=1, warmup=5, draws=8),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
