"""Whether what came out of a file fits together; tests/estimators/test_store.py damages whole files."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from polyladder import (
    BayesianLPNNRegressor,
    FactorizationMachineRegressor,
    FeedforwardClassifier,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelRegressor,
)
from polyladder.estimators.restored import check_classes, check_model, check_numbers, check_restored, check_shape
from polyladder.estimators.targets import ClassTarget
from polyladder.fitted.features import Features
from polyladder.tables.landmarks import Landmarks
from polyladder.training.losses.huber import Huber
from polyladder.training.losses.logistic import Logistic
from tests import ladders
from tests.estimators.small import TINY, rows


def fitted(kind: Any = LPNNRegressor, thin: bool = False, **options: Any) -> Any:
    X, y = rows(30)
    given = sparse.csr_matrix(X) if thin else X
    return kind(**options, random_state=0).fit(given, y > 1 if "Classifier" in kind.__name__ else y)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (LPNNRegressor, {"max_iter": 1}),
        (LPNNRegressor, {"max_iter": 1, "features": "quantile"}),
        (LPNNRegressor, {"max_iter": 1, "features": Features(periods={"x0": 2})}),
        (LPNNRegressor, {"max_iter": 1, "thin": True, "width": 2}),
        (LPNNClassifier, {"max_iter": 1, "width": 2}),
        (FactorizationMachineRegressor, {"max_iter": 1}),
        (PolynomialKernelRegressor, {"max_iter": 1}),
        (FeedforwardClassifier, {"max_iter": 1, "hidden": (2,)}),
        (BayesianLPNNRegressor, {"order": 2, "width": 2, "warmup": 2, "draws": 4}),
    ],
)
def test_what_a_fit_made_fits_together(kind: Any, options: dict[str, Any]) -> None:
    model = fitted(kind, **options)
    check_restored(model)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"n_features_in_": 4}, "n_features_in_ is wrong"),
        ({"n_features_in_": 3.0}, "n_features_in_ is wrong"),
        ({"feature_names_in_": np.array(["a"])}, "feature_names_in_ does not name each column"),
        ({"width": [1, object()]}, "parameter width is no plain value"),
        ({"features": Features(periods={"x0": object()})}, "parameter periods is no plain value"),
        ({"members_": "ladder"}, "members_ is of type str"),
        ({"members_": ladders.random_ladder(4, (3,), 1, (2,))}, "members_ maps 4 to 1, not 3 to 1"),
        ({"members_": ladders.random_ladder(3, (3,), 1)}, "members_ maps 3 to 1, not 3 to 1"),
        ({"support_": None}, "support_ is none"),
        ({"landmarks_": 3}, "landmarks_ is of type int"),
        ({"landmarks_": Landmarks(np.zeros((2, 4)), {})}, r"landmarks_ must have shape \(2, 3\)"),
        ({"landmarks_": Landmarks(None, {})}, "landmarks_ is of type NoneType"),  # type: ignore[arg-type]
        ({"landmarks_": Landmarks(np.zeros((2, 3)), {0: np.zeros(2)})}, "landmarks_ have other categories"),
        ({"target_": None}, "target_ is none of numbers"),
    ],
)
def test_what_does_not_is_refused(change: dict[str, Any], sentence: str) -> None:
    X, y = rows(30)
    model = LPNNRegressor(**TINY).fit(X, y)
    vars(model).update(change)
    with pytest.raises(ValueError, match=sentence):
        check_restored(model)


def test_only_estimators_are_restored() -> None:
    with pytest.raises(ValueError, match="it holds dict, not an estimator"):
        check_restored({})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([1.0, 2.0], "it is of type list"),
        (np.zeros(3), r"it must have shape \(2,\); it has \(3,\), float64"),
        (np.zeros(2, dtype=int), "int64"),
        (torch.zeros(2), "torch.float32"),
    ],
)
def test_shapes_and_types_of_numbers(value: Any, sentence: str) -> None:
    check_shape("it", np.zeros(2), (2,))
    check_shape("it", torch.zeros(2, dtype=torch.float64), (2,))
    check_shape("it", np.zeros(2, dtype=int), (2,), whole=True)
    with pytest.raises(ValueError, match=sentence):
        check_shape("it", value, (2,))


def test_targets_say_how_many_outputs_there_are() -> None:
    target = fitted(max_iter=1).target_
    assert check_numbers(target) == 1
    with pytest.raises(ValueError, match="target_ has another shape"):
        check_numbers(replace(target, flat="yes"))
    with pytest.raises(ValueError, match="low must have shape"):
        check_numbers(replace(target, low=torch.zeros(2, dtype=torch.float64)))
    assert check_classes(ClassTarget(np.array(["a", "b"]))) == 1
    assert check_classes(ClassTarget(np.array([1, 2, 5]))) == 3
    for labels in (np.array(["a"]), np.array(["a", "a"]), np.array([["a", "b"]]), ["a", "b"]):
        with pytest.raises(ValueError, match="the classes are not at least two, all different"):
            check_classes(ClassTarget(labels))  # type: ignore[arg-type]


def test_a_target_of_numbers_has_a_settled_loss_of_numbers() -> None:
    target = fitted(max_iter=1).target_
    assert check_numbers(replace(target, loss=Huber((1.0,)))) == 1
    for wrong in (Huber(), Logistic(), "squared", None):
        with pytest.raises(ValueError, match="the loss of target_ is none"):
            check_numbers(replace(target, loss=wrong))
    with pytest.raises(ValueError, match="thresholds must be 1, one for each output"):
        check_numbers(replace(target, loss=Huber((1.0, 2.0))))


def test_models_are_in_double_precision() -> None:
    check_model("it", ladders.random_ladder(3, (2,), 1), "LadderPolynomial", 0, 3, 1)
    with pytest.raises(ValueError, match="it must be float64"):
        check_model("it", ladders.random_ladder(3, (2,), 1, dtype=torch.float32), "LadderPolynomial", 0, 3, 1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"chains": 0}, "chains is no number of chains"),
        ({"chains": 3}, "the chains have different lengths"),
        ({"noise": None}, "noise is no tensor"),
        ({"slopes": torch.zeros(4, 1, 5, dtype=torch.float64)}, r"slopes must have shape \(4, 1, 6\)"),
        ({"precision": []}, "precision is no tuple"),
        ({"precision": (torch.zeros(3, 1),)}, "precision has other draws"),
    ],
)
def test_draws_belong_to_each_other(change: dict[str, Any], sentence: str) -> None:
    model = fitted(BayesianLPNNRegressor, order=2, width=2, warmup=2, draws=4, chains=1)
    model.posterior_ = replace(model.posterior_, **change)
    with pytest.raises(ValueError, match=sentence):
        check_restored(model)


@pytest.mark.parametrize(
    ("wave", "sentence"),
    [
        ((0, 2.0, 0.0, 0.0, float("nan")), "a step of an input has no finite numbers"),
        ((7, 2.0, 0.0, 0.0, 1.0), "out of range"),
        ((0, 2.0, 0.0), "not enough values to unpack"),
    ],
)
def test_phases_that_are_none_are_refused(wave: Any, sentence: str) -> None:
    model = fitted(features=Features(periods={"x0": 2}), max_iter=1)
    model.features_.waves_ = (wave, *model.features_.waves_[1:])
    with pytest.raises((ValueError, IndexError), match=sentence):
        check_restored(model)
