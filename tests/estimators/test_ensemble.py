"""What every estimator of several models shares."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from polyladder import FactorizationMachineRegressor, GradientTraining, LPNNRegressor, PolynomialKernelRegressor
from polyladder.estimators.batch import fitting
from tests.estimators.small import TINY, rows

ADAM: dict[str, Any] = {"solver": "adam", "width": 8, "max_iter": 15}


def test_divergence_is_reported() -> None:
    X, y = rows()
    steps = GradientTraining(learning_rate=1e30, dropout=0.0, batch_norm=False)
    with pytest.raises(ValueError, match=r"Every model diverged\. Lower learning_rate, or use solver='alternating'"):
        LPNNRegressor(**ADAM, gradient=steps, order=6).fit(X, y)


def test_members_that_diverged_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit_jobs(jobs: Any, progress: Any) -> Any:
        first, second = fitting.fit_jobs(jobs, progress)
        return [first, replace(second, diverged=True)]

    monkeypatch.setattr("polyladder.estimators.ensemble.fit_jobs", fit_jobs)
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="1 of 2 models diverged and were left out"):
        model = LPNNRegressor(**TINY).fit(X, y)
    assert len(model.members_) == 1
    monkeypatch.undo()
    alone = LPNNRegressor(**{**TINY, "n_estimators": 1}).fit(X, y)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=1e-9, atol=1e-9)


def test_a_fit_starts_anew_unless_it_is_told_to_go_on() -> None:
    X, y = rows(40)
    once = LPNNRegressor(**TINY).fit(X, y)
    twice = LPNNRegressor(**TINY).fit(X, -y).fit(X, y)
    np.testing.assert_allclose(twice.predict(X), once.predict(X), rtol=1e-12, atol=1e-12)


def test_the_number_of_iterations_is_that_of_the_longest_curve() -> None:
    X, y = rows(40)
    model = LPNNRegressor(**{**TINY, "n_estimators": 3, "max_iter": 40, "alpha": 1e-2, "tol": 1e-2}).fit(X, y)
    assert len(model.loss_curve_) <= model.n_iter_ <= 40
    assert model.solver_ == "alternating"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LPNNRegressor, FactorizationMachineRegressor, PolynomialKernelRegressor])
def test_exact_solves_are_for_numbers_on_dense_rows(kind: Any) -> None:
    X, y = rows(40)
    model = kind(max_iter=1, random_state=0)
    assert model.fit(X, y).solver_ == "alternating"
    assert model.fit(sparse.csr_matrix(X), y).solver_ == "adam"
