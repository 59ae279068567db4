"""A fit sets all that it learns, or nothing: errors and interrupts leave the earlier fit whole."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from polyladder import (
    BatchedGridSearchCV,
    BayesianLPNNClassifier,
    BayesianLPNNRegressor,
    FactorizationMachineRegressor,
    FeedforwardClassifier,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelRegressor,
)

SMALL: dict[str, Any] = {"order": 2, "width": 2, "random_state": 0}
CHAIN: dict[str, Any] = {**SMALL, "chains": 1, "warmup": 1, "draws": 4}
MODELS = [
    LPNNRegressor(**SMALL, n_estimators=2, max_iter=2),
    LPNNRegressor(**SMALL, n_estimators=2, max_iter=2, warm_start=True),
    LPNNRegressor(**SMALL, solver="adam", max_iter=2),
    LPNNClassifier(**SMALL, max_iter=2),
    BayesianLPNNRegressor(**CHAIN),
    BayesianLPNNClassifier(**CHAIN),
    FactorizationMachineRegressor(order=2, rank=1, max_iter=2, random_state=0),
    PolynomialKernelRegressor(degree=2, rank=2, max_iter=2, random_state=0),
    FeedforwardClassifier(hidden=(3,), max_iter=2, random_state=0),
    BatchedGridSearchCV(LPNNRegressor(**SMALL, n_estimators=1, max_iter=2), {"alpha": [1e-3, 1.0]}, cv=2),
]
NAMES = [f"{i} {type(model).__name__}" for i, model in enumerate(MODELS)]


def table(model: Any, seed: int) -> tuple[np.ndarray[Any, Any], Any]:
    X = np.random.default_rng(seed).normal(size=(40, 3)) * 10.0**seed
    y = X[:, 0] + X[:, 1] * X[:, 2]
    return X, np.where(y > 0, "yes", "no") if "Classifier" in type(model).__name__ else y


def interrupted(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def interrupt_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every solver be interrupted, after features and scales have been learned."""
    for place in ("ensemble.fit_jobs", "batch.together.fit_jobs", "bayesian.sample_gibbs"):
        monkeypatch.setattr(f"polyladder.estimators.{place}", interrupted)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_an_interrupted_fit_leaves_the_earlier_one_whole(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = clone(model)
    X, y = table(model, 0)
    model.fit(X, y)
    before, predicted = dict(vars(model)), model.predict(X)
    interrupt_fits(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*table(model, 3))
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X), predicted)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_an_interrupted_first_fit_learns_nothing(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = clone(model)
    before = dict(vars(model))
    interrupt_fits(monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*table(model, 0))
    assert vars(model) == before


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_a_fit_that_is_refused_leaves_the_earlier_one_whole(model: Any) -> None:
    model = clone(model)
    X, y = table(model, 0)
    model.fit(X, y)
    before = dict(vars(model))
    for bad_X, bad_y in ((X * np.inf, y), (X[:, :2] * 0, y), (X, y[:-1]), (X, np.full(len(y), y[0])[:5])):
        with pytest.raises(ValueError, match=r"."):
            model.fit(bad_X, bad_y)
        assert vars(model) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_partial_fit_learns_all_or_nothing(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    model = LPNNRegressor(**SMALL, n_estimators=2, max_iter=2)
    X, y = table(model, 0)
    model.fit(X, y)
    before, predicted = dict(vars(model)), model.predict(X)

    def broken(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr("polyladder.estimators.ladder.support", broken)  # the last thing that is learned
    with pytest.raises(error):
        model.partial_fit(X, 100 * y)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X), predicted)


@pytest.mark.slow
def test_a_new_fit_forgets_what_it_does_not_learn_again() -> None:
    import pandas as pd

    X, y = table(None, 0)
    model = LPNNRegressor(effort="low", random_state=0)
    model.fit(pd.DataFrame(X, columns=list("abc")), y)
    model.card_ = {"target": "old"}
    model.set_params(order=2, effort="default").fit(X, y)
    assert "feature_names_in_" not in vars(model)
    assert "selection_" not in vars(model)
    assert model.card_ is None
