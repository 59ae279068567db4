"""Logistic and softmax ridge regression, against scikit-learn."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from polyladder.training.kernels.newton import fit_outputs
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 4))


def test_two_classes_are_those_of_scikit_learn() -> None:
    y, weight = (X[:, 0] + RNG.normal(size=80) > 0).astype(float), RNG.uniform(0.5, 2, size=80)
    found = fit_outputs(Logistic(), X, y[:, None], weight, 0.7)
    other = LogisticRegression(C=1 / 0.7, tol=1e-10, max_iter=1000).fit(X, y, weight)
    np.testing.assert_allclose(found[:-1, 0], other.coef_[0], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(found[-1, 0], other.intercept_[0], rtol=1e-3, atol=1e-4)


def test_several_classes_are_those_of_scikit_learn() -> None:
    y = np.argmax(X[:, :3] + RNG.normal(size=(80, 3)), 1)
    found = fit_outputs(Softmax(), X, np.eye(3)[y], np.ones(80), 2.0)
    other = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(X, y)
    mine, theirs = X @ found[:-1] + found[-1], other.decision_function(X)
    np.testing.assert_allclose(mine - mine[:, :1], theirs - theirs[:, :1], atol=0.02)


def test_separable_classes_stay_finite() -> None:
    y = (X[:, 0] > 0).astype(float)
    found = fit_outputs(Logistic(), X, y[:, None], np.ones(80), 1e-4)
    assert np.isfinite(found).all()
    assert ((X @ found[:-1, 0] + found[-1, 0] > 0) == (y > 0)).all()
