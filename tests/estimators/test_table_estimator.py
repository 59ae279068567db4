"""What every estimator shares: rows read, outputs evaluated and shaped, and what is refused on the way."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from polyladder import FeedforwardRegressor, LPNNClassifier, LPNNRegressor, load
from polyladder.fitted import model as fitted
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
        np.testing.assert_allclose(model.predict(X), whole, rtol=1e-12)
        np.testing.assert_allclose(model.predict(X[:1]), whole[:1], rtol=1e-12)


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
