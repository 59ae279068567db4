"""Targets: scales and guards held to NumPy, codes to hand, extremes refused in a sentence."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from polyladder import (
    BayesianLPNNRegressor,
    FactorizationMachineClassifier,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelClassifier,
)
from polyladder.estimators.targets import GUARD, ClassTarget, NumberTarget
from polyladder.training.losses.softmax import Softmax

TINY: dict[str, Any] = {"order": 3, "width": 3, "n_estimators": 1, "max_iter": 2, "random_state": 0}


def rows(n: int = 40) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, X[:, 0] + X[:, 1] ** 2


def test_numbers_are_standardized_and_come_back() -> None:
    values = np.random.default_rng(0).normal(3, 5, size=(50, 2))
    weight = np.random.default_rng(1).integers(0, 3, 50).astype(float)
    target = NumberTarget.learn(values, torch.tensor(weight))
    mean = np.average(values, axis=0, weights=weight)
    np.testing.assert_allclose(target.mean, mean)
    np.testing.assert_allclose(target.scale, np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight)))
    np.testing.assert_allclose(target.encode(values) * target.scale + target.mean, values)
    used = values[weight > 0]
    low, high = target.guard_range
    np.testing.assert_allclose(low, used.min(0) - GUARD * np.ptp(used, axis=0))
    np.testing.assert_allclose(high, used.max(0) + GUARD * np.ptp(used, axis=0))


def test_classes_are_places_among_the_sorted_labels() -> None:
    target = ClassTarget.learn(np.array(["b", "c", "a", "b"]), "Some")
    assert target.labels.tolist() == ["a", "b", "c"]
    assert (target.outputs, target.loss) == (3, Softmax())
    assert target.encode(np.array(["c", "a"])).tolist() == [2, 0]
    with pytest.raises(ValueError, match=r"previously unseen labels: \['d'\]"):
        target.encode(np.array(["d"]))


@pytest.mark.parametrize("Model", [LPNNRegressor, BayesianLPNNRegressor])
def test_targets_whose_squares_are_no_numbers_are_refused(Model: Any) -> None:
    X, y = rows()
    with pytest.raises(ValueError, match=r"y must lie within 1e\+150 of zero; got -?[\d.]+e\+16\d\. Divide it"):
        Model().fit(X, y * 1e160)
    with pytest.raises(ValueError, match=r"y must vary by more than 1e-150; got .*e-\d+\. Multiply it"):
        Model().fit(X, y * 1e-160)


@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_targets_of_any_other_size_are_fitted_alike(size: float) -> None:
    X, y = rows()
    usual = LPNNRegressor(**TINY).fit(X, y).predict(X)
    np.testing.assert_allclose(LPNNRegressor(**TINY).fit(X, size * y).predict(X) / size, usual, rtol=1e-6)


def test_columns_whose_squares_are_no_numbers_are_refused() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match=r"Column 'x1' must have sizes from 1e-150 to 1e\+150; got .*e\+16\d\."):
        LPNNRegressor(**TINY).fit(X * [1, 1e160], y)
    with pytest.raises(ValueError, match=r"Column 'x0' must have sizes .*; got differences of .*e-\d+\."):
        LPNNRegressor(**TINY).fit(X * [1e-160, 1], y)


@pytest.mark.parametrize("Model", [LPNNClassifier, FactorizationMachineClassifier, PolynomialKernelClassifier])
def test_probabilities_that_are_no_numbers_are_refused(Model: Any) -> None:
    X, y = rows()
    curved = {"order": 4} if Model is LPNNClassifier else {}  # a line would not overflow
    model = Model(clip=False, max_iter=2, random_state=0, **curved).fit(X, np.where(y > 1, "p", "n"))
    far = np.vstack([X[:2], [[1e160, -1e160]], X[:1]])
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=r"Row 3 of X must lie nearer to the training range; .* Use clip=True\."):
            method(far)
    assert np.isfinite(model.predict_proba(X)).all()


def test_predictions_that_are_no_numbers_are_refused() -> None:
    X, y = rows()
    model = LPNNRegressor(**TINY, clip=False).fit(X, y)
    with pytest.raises(ValueError, match="Row 1 of X must lie nearer to the training range"):
        model.predict(np.full((1, 2), 1e200))


def test_text_names_the_classifier() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match=r"y must hold numbers for LPNNRegressor; got '[np]'\. Use LPNNClassifier"):
        LPNNRegressor(**TINY).fit(X, np.where(y > 1, "p", "n"))
    numbers_as_text = np.array([str(v) for v in y])
    assert LPNNRegressor(**TINY).fit(X, numbers_as_text).score(X, y) > 0


def test_missing_numbers_name_their_place_and_the_way_out() -> None:
    X, y = rows()
    X[4, 1] = np.nan
    sentence = r"Input X contains NaN, first in row 5 of column 'x1'\. Leave missing='impute' to have"
    with pytest.raises(ValueError, match=sentence):
        LPNNRegressor(**TINY, missing="error").fit(X, y)


def test_a_mistyped_parameter_names_its_own_class() -> None:
    with pytest.raises(TypeError, match=r"LPNNRegressor.*unexpected keyword argument 'orders'"):
        LPNNRegressor(orders=3)  # type: ignore[call-arg]


def test_probabilities_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    model = FactorizationMachineClassifier(multiclass="ovr", max_iter=2, random_state=0)
    model.fit(X, np.digitize(y, [0.5, 1.5]))
    calls = []
    outputs = type(model)._outputs
    monkeypatch.setattr(type(model), "_outputs", lambda self, X: calls.append(len(X)) or outputs(self, X))
    model.predict_proba(X)
    assert calls == [len(X)]


def test_what_lies_under_a_mask_is_no_value() -> None:
    rng = np.random.default_rng(0)
    X, gone = rng.normal(size=(40, 2)), rng.random((40, 2)) < 0.2
    masked = np.ma.array(np.where(gone, 1e6, X), mask=gone)
    y = X.sum(1)
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0)
    plain = np.where(gone, np.nan, X)
    expected = clone(model).fit(plain, y)
    found = clone(model).fit(masked, y)
    assert np.array_equal(found.predict(masked), expected.predict(plain))
    with pytest.raises(ValueError, match="Input X contains NaN, first in row"):
        LPNNRegressor(order=2, missing="error").fit(masked, y)
    hidden = np.ma.array(y, mask=gone[:, 0])
    for Model, target in ((LPNNRegressor, hidden), (LPNNClassifier, np.ma.array(y > 0, mask=gone[:, 0]))):
        with pytest.raises(ValueError, match=rf"y must have a value in every row; got {gone[:, 0].sum()} masked\."):
            Model(order=2).fit(X, target)
    with pytest.raises(ValueError, match="sample_weight must have a value in every row"):
        LPNNRegressor(order=2).fit(X, y, sample_weight=np.ma.array(np.ones(40), mask=gone[:, 0]))
    assert LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=1).fit(X, np.ma.array(y)).predict(X).shape == (40,)


@pytest.mark.parametrize("Model", [LPNNRegressor, LPNNClassifier])
@pytest.mark.parametrize("frame", [np.asarray, pd.Series, lambda y: list(y.astype(object)), lambda y: y - y[0]])
def test_dates_are_no_targets(Model: Any, frame: Any) -> None:
    days = np.datetime64("2020-01-01", "D") + np.arange(20)
    with pytest.raises(ValueError, match=r"y must hold numbers or classes; got dates \(.*\)\. Turn them into numbers"):
        Model(order=2).fit(np.arange(40.0).reshape(20, 2), frame(days))


def test_arrays_of_dates_are_no_numbers() -> None:
    days = np.datetime64("2020-01-01", "D") + np.arange(20)
    with pytest.raises(ValueError, match=r"X must hold numbers; got dates \(datetime64\[D\]\)\."):
        LPNNRegressor(order=2).fit(days.reshape(10, 2), np.arange(10.0))
