"""What every estimator shares: rows read, outputs evaluated and shaped, and what is refused on the way."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from polyladder import (
    FactorizationMachineClassifier,
    FeedforwardClassifier,
    FeedforwardRegressor,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelClassifier,
    load,
)
from polyladder.explain.strengths import central_points
from polyladder.fitted import model as fitted
from polyladder.fitted.features import Features
from tests.estimators.small import TINY, labels, rows


def test_inputs_are_the_transformed_rows() -> None:
    X, y = rows(30)
    model = LPNNRegressor(**TINY).fit(X, y)
    beyond = np.vstack([X, [[9.0, -9.0, 0.0]]])
    held = beyond.clip(X.min(0), X.max(0))
    np.testing.assert_allclose(model.inputs(beyond), (held - X.mean(0)) / X.std(0), rtol=1e-12)
    thin = LPNNRegressor(**{**TINY, "solver": "adam"}).fit(sparse.csr_matrix(X), y)
    scaled = thin.inputs(sparse.csr_array(X))
    np.testing.assert_allclose(scaled.to_dense(), X / np.abs(X).max(0), rtol=1e-12)
    np.testing.assert_allclose(thin.predict(X), thin.predict(sparse.csr_matrix(X)), rtol=1e-12)


def test_rows_are_predicted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows(30)
    for each in ({}, {"order": "auto", "effort": "low", "max_iter": 2}):
        model = LPNNRegressor(**{**TINY, "features": "piecewise", **each}).fit(X, y)
        whole = model.polynomial_(model.inputs(X)).clamp(*model.target_.guard_range)[:, 0]
        np.testing.assert_allclose(model.predict(X), whole, rtol=1e-9)
        whole = model.predict(X)
        monkeypatch.setattr(fitted, "CHUNK_NUMBERS", 7 * model.inputs(X).shape[1])
        np.testing.assert_allclose(model.predict(X), whole, rtol=1e-10)
        np.testing.assert_allclose(model.predict(X[:1]), whole[:1], rtol=1e-10)


def test_nothing_is_read_before_a_fit() -> None:
    for ask in ("inputs", "read_table", "predict"):
        with pytest.raises(NotFittedError):
            getattr(LPNNRegressor(), ask)(np.ones((2, 2)))
    with pytest.raises(NotFittedError):
        LPNNRegressor().polynomial_in_original_units()
    with pytest.raises(AttributeError, match="LPNNClassifier has no attribute 'classes_' before it is fitted"):
        _ = LPNNClassifier().classes_
    assert not hasattr(LPNNClassifier(), "classes_")


def test_sparse_and_dense_rows_are_not_mixed_up() -> None:
    X, y = rows(30)
    dense = LPNNRegressor(**TINY).fit(X, y)
    with pytest.raises(ValueError, match=r"X must be dense, as it was in fit; got a sparse matrix\."):
        dense.predict(sparse.csr_matrix(X))
    with pytest.raises(ValueError, match=r"X must be dense for exact solves; got a sparse matrix\. Use solver='adam'"):
        LPNNRegressor(**{**TINY, "solver": "alternating"}).fit(sparse.csr_matrix(X), y)


def test_a_prediction_that_is_no_number_names_its_row() -> None:
    X, y = rows(30)
    model = LPNNRegressor(**TINY, clip=False).fit(X, y)
    with pytest.raises(ValueError, match=r"Row 2 of X must lie nearer to the training range; .* Use clip=True"):
        model.predict(np.array([X[0], np.full(3, 1e200), np.full(3, 1e200)]))


@pytest.mark.slow
@pytest.mark.parametrize("Model", [LPNNRegressor, FeedforwardRegressor])
def test_predictions_have_the_shape_of_the_target(Model: Any) -> None:
    X, y = rows(30)
    model = Model(max_iter=1, random_state=0)
    assert model.fit(X, y).predict(X[:4]).shape == (4,)
    assert model.fit(X, y[:, None]).predict(X[:4]).shape == (4, 1)
    assert model.fit(X, np.stack([y, -y], 1)).predict(X[:4]).shape == (4, 2)
    assert model.__sklearn_tags__().target_tags.multi_output


def test_tags_follow_the_parameters() -> None:
    assert LPNNRegressor().__sklearn_tags__().input_tags.allow_nan
    assert not LPNNRegressor(missing="error").__sklearn_tags__().input_tags.allow_nan
    assert LPNNRegressor(solver="adam").__sklearn_tags__().input_tags.sparse
    assert not LPNNRegressor(solver="alternating").__sklearn_tags__().input_tags.sparse


def test_classes_are_the_most_probable() -> None:
    X, y = labels(60, ("a", "b", "c"))
    model = LPNNClassifier(**{**TINY, "max_iter": 2}).fit(X, y)
    scores, probability = model.decision_function(X), model.predict_proba(X)
    powers = np.exp(scores - scores.max(1, keepdims=True))
    np.testing.assert_allclose(probability, powers / powers.sum(1, keepdims=True), rtol=1e-12)
    assert np.array_equal(model.predict(X), model.classes_[scores.argmax(1)])
    two = LPNNClassifier(**{**TINY, "max_iter": 2}).fit(X, y == "b")
    odds = two.decision_function(X)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)), rtol=1e-12)
    assert np.array_equal(two.predict(X), odds > 0)


@pytest.mark.parametrize(
    "model",
    [
        LPNNClassifier(**{**TINY, "max_iter": 2}),
        FactorizationMachineClassifier(rank=2, max_iter=2, random_state=0),
        FeedforwardClassifier(hidden=(2,), max_iter=2, random_state=0),
        PolynomialKernelClassifier(degree=2, rank=2, max_iter=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_classifier_has_distributions(model: Any) -> None:
    X, y = labels(60, ("a", "b"))
    with pytest.raises(NotFittedError):
        model.predict_distribution(X)
    said = model.fit(X, y).predict_distribution(X)
    np.testing.assert_array_equal(said.mean, model.predict_proba(X))
    np.testing.assert_array_equal(said.mode, model.predict(X))


def ends_of(model: Any, X: np.ndarray[Any, Any]) -> set[tuple[float, ...]]:
    """The rows with the highest and the lowest output of every kind."""
    outputs = model.decision_function(X) if isinstance(model, LPNNClassifier) else model.predict(X)
    outputs = outputs.reshape(len(X), -1)
    return {tuple(X[i]) for i in (*outputs.argmax(0), *outputs.argmin(0))}


def test_the_rows_with_the_highest_and_lowest_predictions_are_kept(tmp_path: Path) -> None:
    X, y = rows(300)
    adam = {"order": 2, "solver": "adam", "width": 4, "max_iter": 2, "guard": False, "random_state": 0}
    for model in (
        LPNNRegressor(**{**TINY, "guard": False}).fit(X, y),
        LPNNRegressor(**adam).fit(X, y),
        LPNNClassifier(**TINY).fit(*labels(300, ("a", "b", "c"))),
        LPNNRegressor(**{**TINY, "guard": False}).fit_batches([(X[:170], y[:170]), (X[170:], y[170:])]),
    ):
        kept = {tuple(row) for row in model.landmarks_.numbers}
        assert ends_of(model, X) <= kept <= {tuple(row) for row in X}
        assert len(kept) <= 120
    model.save(tmp_path / "m.ladder")
    np.testing.assert_array_equal(load(tmp_path / "m.ladder").landmarks_.numbers, model.landmarks_.numbers)


def test_rows_of_weight_zero_are_not_kept_and_later_rows_join() -> None:
    X, y = rows(200)
    weight = (np.arange(200) < 150).astype(float)
    model = LPNNRegressor(**{**TINY, "guard": False}).fit(X, y, sample_weight=weight)
    assert {tuple(row) for row in model.landmarks_.numbers} <= {tuple(row) for row in X[:150]}
    model.partial_fit(X[150:], y[150:])
    assert ends_of(model, X) <= {tuple(row) for row in model.landmarks_.numbers}
    again = model.set_params(warm_start=True).fit(X[:50], y[:50])
    assert {tuple(row) for row in again.landmarks_.numbers} <= {tuple(row) for row in X[:50]}


def test_of_sparse_rows_none_are_kept() -> None:
    X, y = rows(40)
    model = LPNNRegressor(solver="adam", width=2, max_iter=1).fit(sparse.csr_matrix(X), y)
    assert model.landmarks_ is None


def by_the_hour(n: int, hours: np.ndarray) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"hour": rng.choice(hours, n).astype(float), "heat": rng.normal(size=n)})
    return frame, np.cos(2 * np.pi * frame["hour"] / 24).to_numpy() + 0.1 * frame["heat"] + 0.05 * rng.normal(size=n)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"order": 3, "width": 4}, {"effort": "low"}])
def test_hours_that_training_did_not_see_are_predicted_from_their_neighbors(settings: dict[str, Any]) -> None:
    X, y = by_the_hour(400, np.arange(2, 23))
    night = pd.DataFrame({"hour": [23.0, 0.0, 1.0], "heat": 0.0})
    truth = np.cos(2 * np.pi * night["hour"] / 24)

    def error(features: Any) -> float:
        model = LPNNRegressor(features=features, random_state=0, **settings).fit(X, y)
        return float(np.abs(model.predict(night) - truth).max())

    cyclic = error(Features(periods={"hour": 24}))
    assert cyclic < 0.05
    assert cyclic < 0.5 * error("standard")


def test_features_may_be_an_unfitted_object() -> None:
    X, y = by_the_hour(120, np.arange(24))
    given = Features("piecewise", ramps=3, periods={"hour": 24})
    model = LPNNRegressor(order=3, width=2, n_estimators=1, features=given, random_state=0)
    assert model.get_params()["features__periods"] == {"hour": 24}
    fitted = clone(model).set_params(features__ramps=2).fit(X, y)
    assert fitted.features_.feature_names_out_ == [
        "heat",
        "sin of hour / 24",
        "cos of hour / 24",
        "heat, ramp 1",
        "heat, ramp 2",
    ]
    assert given.ramps == 3
    model.fit(X, y)
    assert "waves_" not in vars(given)
    assert model.features_ is not given
    for setting in ({"clip": False}, {"missing": "error"}):
        with pytest.raises(ValueError, match=r"must be features with its own clip=.* and missing="):
            LPNNRegressor(order=3, features=given, **setting).fit(X, y)
    with pytest.raises(ValueError, match="X must be dense for Features"):
        LPNNRegressor(solver="adam", features=given).fit(sparse.csr_matrix(X), y)
    agreed = Features(periods={"hour": 24}, clip=False, missing="error")
    free = LPNNRegressor(order=3, width=2, n_estimators=1, features=agreed, clip=False, missing="error").fit(X, y)
    assert free.model_.columns[1].held is None


def test_a_column_with_a_period_is_saved_loaded_and_described(tmp_path: Path) -> None:
    X, y = by_the_hour(120, np.arange(24))
    X.loc[::8, "hour"] = np.nan
    model = LPNNRegressor(order=3, width=2, n_estimators=1, features=Features(periods={"hour": 24}), random_state=0)
    model.fit(X, y).save(tmp_path / "m.ladder")
    loaded = load(tmp_path / "m.ladder")
    assert loaded.features.periods == {"hour": 24}
    assert np.array_equal(loaded.predict(X), model.predict(X))
    column = loaded.model_.columns[0]
    assert (column.role, column.main, column.held) == ("numeric", None, None)
    assert (column.low, column.high, column.typical, column.whole) == (0.0, 23.0, column.fill, True)
    shares = loaded.feature_importances_
    assert shares[0] > 0.5
    # Points of strengths lie where the phases of rows can lie.
    points = central_points(loaded.model_)[0].numpy()
    waves = [step for feature in loaded.model_.steps[2:] for step in feature.steps[-1:]]
    turned = np.stack([step.inverse(points[:, k]) for k, step in zip((2, 3), waves, strict=True)])
    np.testing.assert_allclose((turned**2).sum(0), 1.0, atol=1e-9)
    parts = loaded.explain(X[:5]).contributions
    np.testing.assert_allclose(parts.start[0] + parts.values[:, :, 0].sum(1), parts.outputs[:, 0], atol=1e-9)
