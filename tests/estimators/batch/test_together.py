from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from polyladder import FactorizationMachineRegressor, GradientTraining, LPNNClassifier, LPNNRegressor
from polyladder.estimators.batch import together
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.batch.together import Request, fit_together

QUIET = Progress(False, "")
WILD = GradientTraining(learning_rate=1e30, dropout=0.0, batch_norm=False)
SMALL: dict[str, Any] = {"n_estimators": 2, "max_iter": 3, "random_state": 0}


def table() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X = np.random.default_rng(0).uniform(-1, 1, size=(50, 3))
    return X, X[:, 0] + X[:, 1] * X[:, 2]


def test_estimators_of_all_kinds_are_fitted_as_if_alone() -> None:
    X, y = table()
    weight = np.linspace(0.5, 1.5, 50)
    asked = [
        (LPNNRegressor(order=3, width=3, **SMALL), y, None),
        (LPNNRegressor(order=3, width=3, alpha=0.1, **SMALL), y, None),
        (LPNNRegressor(order=2, width=2, **SMALL), y, weight),
        (LPNNClassifier(order=2, width=2, gradient=GradientTraining(dropout=0.0), **SMALL), y > 0, None),
        (FactorizationMachineRegressor(rank=2, **SMALL), y, None),
    ]
    models = [clone(model) for model, _, _ in asked]
    requests = [Request(model, X, target, w) for model, (_, target, w) in zip(models, asked, strict=True)]
    assert fit_together(requests, QUIET) == [None] * 5
    for model, (alone, target, w) in zip(models, asked, strict=True):
        alone.fit(X, target, w)
        ask = "predict_proba" if isinstance(model, LPNNClassifier) else "predict"
        np.testing.assert_allclose(getattr(model, ask)(X), getattr(alone, ask)(X), rtol=1e-6, atol=1e-7)


def test_one_that_fails_leaves_the_others_alone() -> None:
    X, y = table()
    good, bad, diverging = (
        LPNNRegressor(order=2, width=2, **SMALL),
        LPNNRegressor(order=1, **SMALL),
        LPNNRegressor(order=6, width=2, solver="adam", gradient=WILD, **SMALL),
    )
    errors = fit_together([Request(model, X, y) for model in (bad, good, diverging)], QUIET)
    assert isinstance(errors[0], ValueError)
    assert "'order' parameter" in str(errors[0])
    assert errors[1] is None
    assert "Every model diverged" in str(errors[2])
    assert good.predict(X).shape == (50,)
    assert not hasattr(bad, "polynomial_")


def test_the_same_objects_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    seen: list[int] = []

    def run(jobs: Any, progress: Progress) -> Any:
        seen.append(len({id(job.rows) for job in jobs}))
        return fit_jobs(jobs, progress)

    fit_jobs = together.fit_jobs
    monkeypatch.setattr(together, "fit_jobs", run)
    models = [LPNNRegressor(order=2, width=2, alpha=alpha, **SMALL) for alpha in (0.1, 1.0)]
    fit_together([Request(clone(model), X, y) for model in models], QUIET)
    fit_together([Request(clone(model), X.copy(), y) for model in models], QUIET)
    assert seen == [1, 2]


def test_nothing_to_fit() -> None:
    assert fit_together([], QUIET) == []
