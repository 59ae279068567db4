"""`LPNNRegressor` and `LPNNClassifier`: what they promise beyond scikit-learn's own checks."""

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from polyladder import BatchedGridSearchCV, GradientTraining, LPNNClassifier, LPNNRegressor, load
from polyladder.estimators.targets import GUARD

TINY: dict[str, Any] = {"order": 3, "width": 4, "n_estimators": 2, "max_iter": 5, "random_state": 0}
STEPS = GradientTraining(learning_rate=2e-2, dropout=0.0, batch_norm=False)
ADAM: dict[str, Any] = {"solver": "adam", "gradient": STEPS}
ADAM |= {"order": 3, "width": 8, "n_estimators": 1, "max_iter": 15, "random_state": 0}
SOLVERS = pytest.mark.parametrize("parameters", [TINY, ADAM], ids=["alternating", "adam"])


def cubic(X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return 1.0 + 2.0 * X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * X[:, 0] ** 2 * X[:, 1]


def rows(n: int = 120, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows of three uniform inputs and a cubic of them, without noise."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 3))
    return X, cubic(X)


def labels(n: int = 120, classes: Any = ("no", "yes")) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows and classes that a quadratic separates."""
    X, _ = rows(n)
    score = X[:, 0] + X[:, 1] * X[:, 2]
    return X, np.array(classes)[np.digitize(score, np.quantile(score, np.arange(1, len(classes)) / len(classes)))]


def empty_corner() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows of the square that leave one of its quarters out."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    X = X[~(X > 0.0).all(1)][:200]
    return X, np.sin(3 * X[:, 0]) + np.cos(3 * X[:, 1]) + 0.1 * rng.normal(size=len(X))


EXPLOSIVE: dict[str, Any] = {"order": 10, "alpha": 1e-9, "n_estimators": 1, "random_state": 0}
CORNER = np.array([[1.0, 1.0]])


# Solvers


@pytest.mark.slow
def test_block_solves_find_a_polynomial_exactly() -> None:
    X, y = rows()
    model = LPNNRegressor(order=3, width=8, alpha=1e-10, n_estimators=2, max_iter=80, tol=0.0, random_state=0).fit(X, y)
    fresh, truth = rows(50, seed=1)
    inside = fresh.clip(X.min(0), X.max(0))
    np.testing.assert_allclose(model.predict(inside), cubic(inside), atol=1e-3)
    assert truth.std() > 1  # the tolerance is small beside what there is to find


@pytest.mark.slow
def test_adam_finds_a_polynomial() -> None:
    X, y = rows()
    model = LPNNRegressor(**{**ADAM, "max_iter": 100}).fit(X, y)
    fresh, truth = rows(50, seed=1)
    assert model.score(fresh, truth) > 0.99


def test_auto_means_block_solves_for_numbers_and_classes() -> None:
    assert LPNNRegressor(**TINY).fit(*rows()).solver_ == "alternating"
    assert LPNNClassifier(**{**TINY, "max_iter": 1}).fit(*labels()).solver_ == "alternating"


def test_auto_means_adam_where_no_budget_allows_block_solves() -> None:
    X, y = rows(20)
    model = LPNNRegressor(order=3, width=400, max_iter=1, max_seconds=1e-3, random_state=0).fit(X, y)
    assert (model.solver_, model.members_.hidden) == ("adam", (400, 400))
    asked = LPNNRegressor(order=3, width=8, max_iter=1, max_seconds=1e-6, solver="alternating", random_state=0)
    assert asked.fit(X, y).solver_ == "alternating"


@pytest.mark.slow
def test_classes_are_solved_exactly() -> None:
    for classes in (("no", "yes"), ("a", "b", "c")):
        X, y = labels(200, classes)
        model = LPNNClassifier(random_state=0).fit(X, y)
        assert model.solver_ == "alternating"
        assert model.score(X, y) > 0.95


def test_verbose_says_what_was_decided_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    LPNNRegressor(**TINY, verbose=1).fit(*rows(30))
    said = capsys.readouterr().err
    assert "LPNNRegressor: block solves of 2 ladders" in said
    assert "the table is small." in said


def test_defaults_of_size() -> None:
    X, y = rows(30)
    model = LPNNRegressor(order=6, max_iter=1, random_state=0).fit(X, y)
    assert (model.order_, len(model.members_), model.members_.hidden) == (6, 8, (10,) * 5)
    classifier = LPNNClassifier(order=4, max_iter=1, random_state=0).fit(*labels(30))
    assert (classifier.order_, len(classifier.members_), classifier.members_.hidden) == (4, 8, (10,) * 3)
    adam = LPNNClassifier(max_iter=1, solver="adam", random_state=0).fit(*labels(30))
    assert (adam.order_, len(adam.members_), adam.members_.hidden) == (4, 1, (128,) * 3)


def test_loss_curve_has_one_entry_for_each_sweep_with_the_given_ridge_weight() -> None:
    X, y = rows()
    estimated = LPNNRegressor(**{**TINY, "tol": 0.0}).fit(X, y)
    assert estimated.n_iter_ == len(estimated.loss_curve_) == 5
    model = LPNNRegressor(**{**TINY, "alpha": 1e-3, "tol": 0.0, "max_iter": 40}).fit(X, y)
    assert (model.n_iter_, len(model.loss_curve_)) == (40, 5)
    assert all(after <= before + 1e-12 for before, after in zip(model.loss_curve_, model.loss_curve_[1:], strict=False))
    # The last entry is what the docstring says: mean squared error in standard units plus the ridge on all weights.
    member = LPNNRegressor(**{**TINY, "alpha": 1e-3, "tol": 0.0, "n_estimators": 1}).fit(X, y)
    p = member.members_[0]
    z = torch.from_numpy(member.features_.transform(X))
    residual = p(z)[:, 0] - torch.from_numpy((y - y.mean()) / y.std())
    penalized = [*p.W, *p.V, *p.b, *p.c, p.readout]
    objective = residual.square().mean() + 1e-3 * sum(t.square().sum() for t in penalized)
    np.testing.assert_allclose(member.loss_curve_[-1], objective.item(), rtol=1e-9)


def test_adam_has_one_loss_an_epoch() -> None:
    model = LPNNRegressor(**{**ADAM, "max_iter": 7}).fit(*rows())
    assert model.n_iter_ == len(model.loss_curve_) == 7
    assert model.loss_curve_[-1] < model.loss_curve_[0]


@pytest.mark.slow
def test_tolerance_ends_block_solves_early() -> None:
    patient = LPNNRegressor(**{**TINY, "alpha": 1e-2, "max_iter": 60, "tol": 0.0}).fit(*rows())
    hasty = LPNNRegressor(**{**TINY, "alpha": 1e-2, "max_iter": 60, "tol": 0.1}).fit(*rows())
    assert hasty.n_iter_ < patient.n_iter_ == 60


@pytest.mark.slow
def test_validation_rows_stop_adam_early() -> None:
    X, _ = rows()
    noise = np.random.default_rng(3).normal(size=len(X))  # nothing to learn, so held-out loss soon rises
    wide = {**ADAM, "width": 16, "max_iter": 100}
    stopped = LPNNRegressor(**{**wide, "gradient": replace(STEPS, validation_fraction=0.3)}).fit(X, noise)
    assert stopped.n_iter_ < 100
    assert LPNNRegressor(**{**wide, "max_iter": 30}).fit(X, noise).n_iter_ == 30


def test_validation_fraction_may_round_to_no_row() -> None:
    model = LPNNRegressor(**{**ADAM, "gradient": replace(STEPS, validation_fraction=0.01)}).fit(*rows(12))
    assert np.isfinite(model.loss_curve_).all()


# The polynomial


@SOLVERS
def test_polynomial_is_the_prediction_without_guard(parameters: Any) -> None:
    X, y = rows()
    model = LPNNRegressor(**parameters, guard=False).fit(X, y)
    z = torch.from_numpy(model.features_.transform(X))
    np.testing.assert_allclose(model.polynomial_(z)[:, 0].numpy(), model.predict(X), rtol=1e-12, atol=1e-12)
    assert model.polynomial_.order == model.order_ == 3


@SOLVERS
def test_members_average_to_the_polynomial(parameters: Any) -> None:
    X, y = rows()
    model = LPNNRegressor(**{**parameters, "n_estimators": 3, "guard": False}).fit(X, y)
    z = torch.from_numpy(model.features_.transform(X))
    outputs = model.members_(z)[..., 0].numpy()  # in standard units of the target
    assert outputs.shape == (3, 120)
    assert (outputs[0] != outputs[1]).any()
    assert model.polynomial_.hidden == (3 * parameters["width"],) * 2
    np.testing.assert_allclose(outputs.mean(0) * y.std() + y.mean(), model.predict(X), rtol=1e-9, atol=1e-9)


def test_a_member_does_not_depend_on_its_neighbors() -> None:
    X, y = rows()
    alone = LPNNRegressor(**{**TINY, "n_estimators": 1}).fit(X, y)
    among = LPNNRegressor(**{**TINY, "n_estimators": 3}).fit(X, y)
    z = torch.from_numpy(alone.features_.transform(X))
    torch.testing.assert_close(alone.members_(z)[0], among.members_(z)[0], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("model", [LPNNRegressor(**TINY), LPNNClassifier(**{**TINY, "max_iter": 3})])
def test_polynomial_in_original_units_is_the_model_inside_the_range(model: Any) -> None:
    X, y = rows() if isinstance(model, LPNNRegressor) else labels()
    X = np.column_stack([X * [1.0, 100.0, 0.01] + [0.0, 7.0, 3.0], np.ones(len(X))])  # units, and a constant column
    model = clone(model).fit(X, y)
    p = model.polynomial_in_original_units()
    assert p.in_features == 4
    expected = model.predict(X) if isinstance(model, LPNNRegressor) else model.decision_function(X)
    np.testing.assert_allclose(p(torch.from_numpy(X))[:, 0].numpy(), expected, rtol=1e-8, atol=1e-8)


def test_original_units_are_refused_where_features_are_not_affine() -> None:
    X, y = rows()
    sentence = "The features must be affine to fold into the polynomial"
    for kind in ("quantile", "yeo-johnson"):
        with pytest.raises(ValueError, match=sentence):
            LPNNRegressor(**TINY, features=kind).fit(X, y).polynomial_in_original_units()
    frame = pd.DataFrame(X, columns=list("abc")).assign(d=np.where(y > 1, "high", "low"))
    with pytest.raises(ValueError, match=sentence):
        LPNNRegressor(**TINY).fit(frame, y).polynomial_in_original_units()


# Guard and trust


@pytest.mark.slow
def test_guard_holds_what_explodes() -> None:
    X, y = empty_corner()
    pure = LPNNRegressor(**EXPLOSIVE, guard=False).fit(X, y).predict(CORNER)[0]
    held = LPNNRegressor(**EXPLOSIVE).fit(X, y).predict(CORNER)[0]
    reach = y.max() - y.min()
    assert abs(pure) > 10 * reach  # the corner lies inside the range of both inputs
    assert held == pytest.approx(y.min() - GUARD * reach if pure < 0 else y.max() + GUARD * reach)


@pytest.mark.slow
def test_guard_leaves_training_rows_alone() -> None:
    X, y = empty_corner()
    guarded, pure = (LPNNRegressor(**EXPLOSIVE, guard=guard).fit(X, y).predict(X) for guard in (True, False))
    np.testing.assert_array_equal(guarded, pure)


def test_trust_is_one_on_training_rows_and_small_in_an_empty_corner() -> None:
    X, y = empty_corner()
    model = LPNNRegressor(**EXPLOSIVE).fit(X, y)
    np.testing.assert_array_equal(model.trust(X), np.ones(len(X)))
    assert model.trust(CORNER)[0] < 0.01


def test_trust_is_the_ratio_of_leverages() -> None:
    X, y = empty_corner()
    model = LPNNRegressor(**{**TINY, "order": 2, "width": 2}, clip=False).fit(X, y)
    far = np.array([[4.0, 4.0], [0.0, 0.0], [-3.0, 2.0]])
    expected = []
    for member in model.members_:

        def states(X: np.ndarray[Any, Any], member: Any = member) -> np.ndarray[Any, Any]:
            h = member.hidden_states(torch.from_numpy(model.features_.transform(X)))[-1].numpy()
            return np.column_stack([h, np.ones(len(h))])

        H, new = states(X), states(far)
        hat = H @ np.linalg.pinv(H.T @ H) @ H.T
        expected.append(np.minimum(1, hat.diagonal().max() / np.diag(new @ np.linalg.pinv(H.T @ H) @ new.T)))
    np.testing.assert_allclose(model.trust(far), np.mean(expected, 0), rtol=1e-6)
    assert model.trust(far)[0] < 0.1 < model.trust(far)[1]


def test_trust_forgets_rows_of_weight_zero() -> None:
    X, y = empty_corner()
    beside = np.vstack([X, CORNER])
    weight = np.append(np.ones(len(X)), 0.0)
    model = LPNNRegressor(**EXPLOSIVE).fit(beside, np.append(y, 0.0), sample_weight=weight)
    assert model.trust(CORNER)[0] < 0.01


def test_trust_remembers_rows_of_earlier_calls() -> None:
    X, y = empty_corner()
    model = LPNNRegressor(**{**TINY, "n_estimators": 1}).fit(X, y)
    for _ in range(5):
        model.partial_fit(X[:3], y[:3])
    assert model.trust(X).min() > 0.3  # three rows alone determine nothing: far from them trust would vanish


def test_classes_have_trust_too() -> None:
    X, y = labels()
    model = LPNNClassifier(**{**TINY, "max_iter": 2}, clip=False).fit(X, y)
    np.testing.assert_array_equal(model.trust(X), np.ones(len(X)))
    assert model.trust(np.full((1, 3), 10.0))[0] < 0.1


# Continuing


@pytest.mark.slow
def test_partial_fit_improves_and_keeps_scales() -> None:
    X, y = rows()
    model = LPNNRegressor(**{**TINY, "max_iter": 1}).partial_fit(X, y)
    first, scales = model.score(X, y), model.features_
    mean = model.target_.mean.clone()
    for _ in range(20):
        model.partial_fit(X[::2], y[::2])
    assert model.score(X, y) > first
    assert model.features_ is scales
    assert torch.equal(model.target_.mean, mean)


def test_partial_fit_widens_the_guard() -> None:
    X, y = rows()
    model = LPNNRegressor(**TINY).partial_fit(X, y).partial_fit(X[:4], np.array([9.0, 0, 0, 0]))
    assert (model.target_.low.item(), model.target_.high.item()) == (y.min(), 9.0)


@pytest.mark.slow
def test_partial_fit_with_all_classes_named_at_first() -> None:
    X, y = labels(classes=("a", "b", "c"))
    model = LPNNClassifier(**{**ADAM, "max_iter": 5})
    only_two = y != "c"
    model.partial_fit(X[only_two], y[only_two], classes=["c", "a", "b"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    before = log_loss(y, model.predict_proba(X))
    for _ in range(20):
        model.partial_fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < before
    assert set(model.predict(X)) == {"a", "b", "c"}
    with pytest.raises(ValueError, match="y contains previously unseen labels"):
        model.partial_fit(X[:2], ["d", "a"])


def test_partial_fit_refuses_another_number_of_targets() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match=r"y must have 1 column\(s\), as before; got 2"):
        LPNNRegressor(**TINY).partial_fit(X, y).partial_fit(X, np.column_stack([y, y]))


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{**TINY, "alpha": 1e-3, "tol": 0.0}, {**ADAM, "max_iter": 20}])
def test_warm_start_continues(parameters: Any) -> None:
    X, y = rows()
    model = LPNNRegressor(**parameters, warm_start=True).fit(X, y)
    first = model.loss_curve_
    again = model.fit(X, y).loss_curve_
    assert again[-1] <= first[-1] + 1e-12
    assert again[0] < (first[-1] if model.solver_ == "alternating" else first[0] / 2)  # it does not start anew


def test_block_solves_in_two_halves_are_block_solves() -> None:
    X, y = rows()
    parameters = {**TINY, "alpha": 1e-3, "tol": 0.0, "warm_start": True}
    begun = LPNNRegressor(**{**parameters, "max_iter": 4}).fit(X, y)
    # What goes on from a fit is made with the given ridge weight from its first sweep on.
    halves = copy.deepcopy(begun).set_params(max_iter=3).fit(X, y).fit(X, y)
    whole = copy.deepcopy(begun).set_params(max_iter=6).fit(X, y)
    assert len(halves.loss_curve_) == 3
    np.testing.assert_allclose(halves.predict(X), whole.predict(X), rtol=1e-6, atol=1e-6)


def test_warm_start_refuses_another_shape() -> None:
    X, y = rows()
    model = LPNNRegressor(**TINY, warm_start=True).fit(X, y)
    for change in ({"width": 5}, {"order": 4}, {"n_estimators": 3}):
        with pytest.raises(ValueError, match=r"warm_start must find the shape of the previous fit"):
            copy.deepcopy(model).set_params(**change).fit(X, y)


# Weights


@SOLVERS
def test_whole_weights_repeat_rows(parameters: Any) -> None:
    X, y = rows(30)
    weight = np.arange(30) % 3
    weighted = LPNNRegressor(**parameters).fit(X, y, sample_weight=weight)
    repeated = LPNNRegressor(**parameters).fit(X.repeat(weight, 0), y.repeat(weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@SOLVERS
@pytest.mark.parametrize("scale", [1 / 120, 0.5, 1000.0])
def test_of_other_weights_only_the_ratios_matter(parameters: Any, scale: float) -> None:
    X, y = rows()
    noisy = y + np.random.default_rng(1).normal(size=len(y))
    weight = np.random.default_rng(2).uniform(0.5, 1.5, len(y))
    model = LPNNRegressor(**parameters)
    predictions = [model.fit(X, noisy, sample_weight=w).predict(X) for w in (weight, scale * weight)]
    np.testing.assert_allclose(*predictions, rtol=1e-4, atol=1e-4)


def test_equal_weights_are_no_weights_whatever_their_size() -> None:
    X, y = rows()
    plain = LPNNRegressor(**TINY).fit(X, y).predict(X)
    for size in (1 / len(X), 0.3, 1e6):
        same = LPNNRegressor(**TINY).fit(X, y, sample_weight=np.full(len(X), size)).predict(X)
        np.testing.assert_allclose(same, plain, rtol=1e-6, atol=1e-6)


def test_weights_draw_the_fit() -> None:
    X, y = rows()
    low, high = np.zeros(60), np.ones(60)
    X, y = np.vstack([X[:60], X[:60]]), np.concatenate([low, high])
    weight = np.concatenate([np.full(60, 0.75), np.full(60, 2.25)])
    model = LPNNRegressor(**{**TINY, "alpha": 1.0}).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), 0.75, atol=0.05)


# Targets


@pytest.mark.slow
@SOLVERS
def test_several_targets(parameters: Any) -> None:
    X, y = rows()
    Y = np.column_stack([y, 100.0 * X[:, 0], np.full(len(X), 3.0)])
    model = LPNNRegressor(**{**parameters, "max_iter": 60}).fit(X, Y)
    prediction = model.predict(X)
    assert prediction.shape == Y.shape
    assert model.polynomial_.out_features == 3
    residual = (prediction - Y).std(0)
    assert residual[0] < 0.3 * y.std()
    assert residual[1] < 0.3 * Y[:, 1].std()
    np.testing.assert_allclose(prediction[:, 2], 3.0)


def test_one_column_stays_a_column() -> None:
    X, y = rows()
    flat, column = LPNNRegressor(**TINY).fit(X, y), LPNNRegressor(**TINY).fit(X, y[:, None])
    np.testing.assert_array_equal(column.predict(X), flat.predict(X)[:, None])


@SOLVERS
def test_a_constant_target_is_predicted(parameters: Any) -> None:
    X, _ = rows()
    np.testing.assert_allclose(LPNNRegressor(**parameters).fit(X, np.full(len(X), 7.5)).predict(X), 7.5)


def test_more_targets_than_rows() -> None:
    X, y = rows(6)
    Y = y[:, None] * np.arange(1, 10)
    model = LPNNRegressor(**TINY).fit(X, Y)
    assert model.predict(X).shape == (6, 9)
    np.testing.assert_allclose(model.predict(X) / np.arange(1, 10), model.predict(X)[:, :1].repeat(9, 1), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["alternating", "adam"])
@pytest.mark.parametrize("classes", [("no", "yes"), (3, 5, 9), (False, True)])
def test_classes(solver: Any, classes: Any) -> None:
    X, y = labels(classes=classes)
    parameters = {**TINY, "max_iter": 20} if solver == "alternating" else {**ADAM, "max_iter": 40}
    model = LPNNClassifier(**{**parameters, "solver": solver}).fit(X, y)
    assert model.classes_.tolist() == list(classes)
    assert model.score(X, y) > 0.85
    probability = model.predict_proba(X)
    assert probability.shape == (len(X), len(classes))
    np.testing.assert_allclose(probability.sum(1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(1)])
    outputs = 1 if len(classes) == 2 else len(classes)
    assert model.polynomial_.out_features == outputs
    scores = model.decision_function(X)
    assert scores.shape == ((len(X),) if outputs == 1 else (len(X), outputs))


def test_two_classes_have_log_odds() -> None:
    X, y = labels()
    model = LPNNClassifier(**{**TINY, "max_iter": 3}).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))


def test_several_classes_have_scores() -> None:
    X, y = labels(classes=("a", "b", "c"))
    model = LPNNClassifier(**{**TINY, "max_iter": 3}).fit(X, y)
    odds = np.exp(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), odds / odds.sum(1, keepdims=True))


def test_sets_of_classes_are_calibrated_by_further_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = np.array(list("abc"))[np.digitize(X[:, 0] + rng.normal(size=3000), (-0.6, 0.6))]
    model = LPNNClassifier(**{**TINY, "order": 2}).fit(X[:100], y[:100])
    assert model.thresholds_ is None
    before = model.predict_proba(X[1000:])
    plain = model.predict_distribution(X[1000:])
    assert model.calibrate(X[100:1000], y[100:1000]) is model
    np.testing.assert_array_equal(model.predict_proba(X[1000:]), before)
    said = model.predict_distribution(X[1000:])
    place = (np.arange(2000), np.searchsorted(model.classes_, y[1000:]))
    for level in (0.8, 0.9, 0.95):
        share, stated = said.sets(level)[place].mean(), plain.sets(level)[place].mean()
        assert abs(share - level) < 0.04
        assert abs(share - level) < abs(stated - level)
        np.testing.assert_array_equal(model.model_.predict_distribution(X[1000:]).sets(level), said.sets(level))
    # Of eight rows no set is known to hold more than eight ninths but that of all classes.
    assert model.calibrate(X[:8], y[:8]).predict_distribution(X).sets(0.9).all()


def test_a_warm_start_forgets_the_sets_and_partial_fit_keeps_them() -> None:
    X, y = labels()
    model = LPNNClassifier(**TINY, warm_start=True).fit(X, y).calibrate(X, y)
    assert model.partial_fit(X, y).thresholds_ is not None
    assert model.fit(X, y).thresholds_ is None


def test_sets_are_calibrated_by_known_classes_only() -> None:
    X, y = rows(60)
    model = LPNNClassifier(**TINY).fit(X, y > 1)
    with pytest.raises(ValueError, match="previously unseen labels"):
        model.calibrate(X, np.where(y > 1, "yes", "no"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.calibrate(X, y[:50] > 1)
    with pytest.raises(NotFittedError):
        LPNNClassifier().calibrate(X, y > 1)
    few = scipy.sparse.csr_matrix(X)
    thin = LPNNClassifier(width=2, max_iter=1, random_state=0).fit(few, y > 1)
    assert thin.calibrate(few, y > 1).predict_distribution(few).sets(0.999).all()


# Tables


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_names_and_the_same_model(frame: Any) -> None:
    X, y = rows()
    table = frame({name: X[:, i] for i, name in enumerate(("a", "b", "c"))})
    model = LPNNRegressor(**TINY).fit(table, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(table), LPNNRegressor(**TINY).fit(X, y).predict(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_categories_and_missing_numbers_are_learned_from(frame: Any) -> None:
    X, _ = rows()
    gone, kind = X[:, 1] > 0.5, np.where(X[:, 2] > 0, "high", "low")
    columns = {"a": [None if g else v for g, v in zip(gone, X[:, 1].tolist(), strict=True)], "kind": kind.tolist()}
    target = 3.0 * gone + 2.0 * (kind == "high")
    model = LPNNRegressor(**{**TINY, "max_iter": 20}).fit(frame(columns), target)
    assert model.score(frame(columns), target) > 0.95
    assert model.features_.get_feature_names_out().tolist() == ["a", "a is missing", "kind = high", "kind = low"]


def test_set_output_of_steps_before_is_read() -> None:
    X, y = rows()
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), LPNNRegressor(**TINY))
    pipeline.fit(pd.DataFrame(X, columns=list("abc")), y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]


# Repeating


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", [TINY, {**ADAM, "gradient": replace(STEPS, dropout=0.2)}], ids=["alternating", "adam"]
)
def test_the_same_seed_gives_the_same_model(parameters: Any) -> None:
    X, y = rows()
    first, second = (LPNNRegressor(**parameters).fit(X, y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = LPNNRegressor(**{**parameters, "random_state": 1}).fit(X, y).predict(X)
    assert np.abs(other - first).max() > 1e-6


@pytest.mark.parametrize("state", [None, np.random.RandomState(0)])
def test_any_random_state_will_do(state: Any) -> None:
    model = LPNNRegressor(**{**TINY, "random_state": state}).fit(*rows())
    assert (model.members_[0].readout != model.members_[1].readout).any()


@pytest.mark.slow
@pytest.mark.parametrize("model", [LPNNRegressor(**TINY), LPNNClassifier(**{**TINY, "max_iter": 2})])
def test_copies_predict_equally(model: Any, tmp_path: Path) -> None:
    X, y = rows() if isinstance(model, LPNNRegressor) else labels()
    model = clone(model).fit(X, y)
    expected = model.predict(X)
    joblib.dump(model, tmp_path / "model")
    for copied in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model"), copy.deepcopy(model)):
        np.testing.assert_array_equal(copied.predict(X), expected)
        np.testing.assert_array_equal(copied.trust(X), model.trust(X))
        copied.partial_fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), expected)
    assert not hasattr(clone(model), "polynomial_")


# Order


def test_auto_order_finds_a_cubic() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(100, 2))
    y = X[:, 0] ** 3 - X[:, 0] * X[:, 1] ** 2 + X[:, 1] + 0.05 * rng.normal(size=100)
    model = LPNNRegressor(features="standard", effort="low", random_state=0).fit(X, y)
    path = dict(model.selection_.order_path)
    # Error is a share of the variance: at order 3 the noise alone is left.
    assert path[3] < 2 * 0.05**2 / y.var() < 0.3 * path[2]
    assert model.selection_.error <= 1.05 * path[3]
    own = model.polynomial_in_original_units()
    np.testing.assert_allclose(own(torch.from_numpy(X))[:, 0], model.predict(X), atol=1e-6)


@pytest.mark.slow
def test_features_that_are_given_are_kept() -> None:
    X, y = rows(40)
    for kind in ("standard", "quantile", "yeo-johnson"):
        model = LPNNRegressor(features=kind, effort="low", random_state=0).fit(X, y)
        assert model.features_.kind == kind
        assert {c.features for c in model.selection_.candidates} == {kind}
    fixed = LPNNRegressor(order=2, features="piecewise", width=2, n_estimators=1, random_state=0).fit(X, y)
    assert fixed.features_.ramps_ is not None
    assert "selection_" not in vars(fixed)


def test_gradient_steps_take_the_usual_order() -> None:
    X, y = rows(40)
    assert LPNNRegressor(solver="adam", width=2, max_iter=1, random_state=0).fit(X, y).order_ == 6
    assert LPNNClassifier(solver="adam", width=2, max_iter=1, random_state=0).fit(*labels(40)).order_ == 4


# Words


@pytest.mark.parametrize("parameters", [TINY, {**ADAM, "max_iter": 3}])
def test_verbose_prints_the_decision_and_one_line(parameters: Any, capfd: pytest.CaptureFixture[str]) -> None:
    LPNNRegressor(**parameters, verbose=1).fit(*rows())
    out, err = capfd.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if line.strip()]
    assert len(lines) == 2
    assert lines[0].startswith(f"LPNNRegressor: {'adam' if 'solver' in parameters else 'block solves'}")
    assert "LPNNRegressor fit" in lines[1]
    assert "loss" in lines[1]


def test_silence_is_the_default(capfd: pytest.CaptureFixture[str]) -> None:
    LPNNRegressor(**TINY).fit(*rows())
    assert capfd.readouterr() == ("", "")


# Bad input


BAD_TABLES = [
    (np.array([[1.0], [np.inf], [2.0]]), [1.0, 2.0, 3.0], "Input X contains infinity"),
    (np.array([["1"], ["a"], ["2"]]), [1.0, 2.0, 3.0], "could not convert string to float: .*'a'"),
    (pd.DataFrame({"x": pd.Series([1.0, "a", 2.0], dtype=object)}), [1.0, 2.0, 3.0], "Column 'x' must hold numbers or"),
    (np.ones((1, 2)), [1.0], r"Found array with 1 sample\(s\) .* while a minimum of 2 is required"),
    (np.empty((0, 2)), [], r"Found array with 0 sample\(s\)"),
    (np.empty((3, 0)), [1.0, 2.0, 3.0], r"Found array with 0 feature\(s\)"),
    (np.arange(3.0), [1.0, 2.0, 3.0], "Expected 2D array, got 1D array instead"),
    (np.arange(3.0)[:, None], [1.0, 2.0], "inconsistent numbers of samples"),
    (np.arange(3.0)[:, None], [1.0, np.nan, 2.0], "Input y contains NaN"),
    (np.arange(3.0)[:, None], [1.0, np.inf, 2.0], "Input y contains infinity"),
    (np.arange(3.0)[:, None], np.ones((3, 1, 1)), "y must have shape|Found array with dim 3"),
    (np.arange(3.0)[:, None], None, "requires y to be passed, but the target y is None"),
    (np.ones((3, 2)), [1.0, 2.0, 3.0], "X must have a column that varies"),
]


@pytest.mark.parametrize(("X", "y", "sentence"), BAD_TABLES)
def test_bad_tables_are_refused_in_one_sentence(X: Any, y: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LPNNRegressor(**TINY).fit(X, y)


@pytest.mark.parametrize("weight", [[1.0, 2.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0]])
def test_bad_weights_are_refused(weight: Any) -> None:
    with pytest.raises(ValueError, match=r"(?i)sample.weight|Negative values"):
        LPNNRegressor(**TINY).fit(np.arange(3.0)[:, None], [1.0, 2.0, 3.0], sample_weight=weight)


def test_one_class_is_refused() -> None:
    X, _ = rows()
    with pytest.raises(ValueError, match="needs samples of at least 2 classes; the data contains only one class: 'a'"):
        LPNNClassifier(**TINY).fit(X, ["a"] * len(X))


def test_numbers_are_no_classes() -> None:
    X, y = rows()
    with pytest.raises(ValueError, match="Unknown label type"):
        LPNNClassifier(**TINY).fit(X, y)


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        ("order", 1, "an int in the range [2, inf) or 'auto'"),
        ("order", 2.5, "an int in the range [2, inf) or 'auto'"),
        ("width", 0, "an int in the range [1, inf) or 'auto'"),
        ("solver", "newton", "a str among {'auto', 'alternating', 'adam'}"),
        ("alpha", -1.0, "a float in the range [0, inf) or 'auto'"),
        ("alpha", float("nan"), "a float in the range [0, inf) or 'auto'"),
        ("alpha", "best", "a float in the range [0, inf) or 'auto'"),
        ("n_estimators", 0, "an int in the range [1, inf) or 'auto'"),
        ("features", "minmax", "a str among {'standard', 'quantile', 'yeo-johnson', 'piecewise', 'auto'}"),
        ("missing", "drop", "a str among {'error', 'impute'}"),
        ("max_iter", True, "an int in the range [1, inf) or 'auto'"),
        ("tol", -1e-3, "a float in the range [0, inf)"),
        ("batch_size", 0, "an int in the range [1, inf) or 'auto'"),
        ("learning_rate", 0.0, "a float in the range (0, inf)"),
        ("dropout", 1.0, "a float in the range [0, 1)"),
        ("validation_fraction", 1, "a float in the range [0, 1)"),
        ("batch_norm", "yes", "True or False"),
        ("gradient", "fast", "a GradientTraining or None"),
    ],
)
@pytest.mark.parametrize("Model", [LPNNRegressor, LPNNClassifier])
def test_bad_parameters_are_refused_in_scikit_learns_words(Model: Any, parameter: str, value: Any, words: str) -> None:
    X, y = rows() if Model is LPNNRegressor else labels()
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - compared in full below
        Model(**{parameter: value}).fit(X, y)
    expected = f"The {parameter!r} parameter of {Model.__name__} must be {words}. Got {value!r} instead."
    assert str(refused.value) == expected


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [TINY, {"effort": "low", "random_state": 0}], ids=["fixed", "selected"])
def test_single_precision_states_its_error(parameters: dict[str, Any]) -> None:
    X = np.random.default_rng(3).normal(size=(90, 3))
    y = cubic(X)
    model = LPNNRegressor(**parameters).fit(X, y)
    values, errors = model.predict_float32(X, return_error=True)
    assert values.dtype == np.float32
    assert values.shape == errors.shape == (90,)
    assert (abs(values - model.predict(X)) <= errors).all()
    np.testing.assert_array_equal(model.predict_float32(X), values)
    classes = np.digitize(y, [0.0, 2.0])
    chooser = LPNNClassifier(**parameters).fit(X, classes)
    shares, bounds = chooser.predict_float32(X, return_error=True)
    assert shares.shape == bounds.shape == (90, 3)
    assert (abs(shares - chooser.predict_proba(X)) <= bounds).all()


def test_single_precision_needs_dense_rows() -> None:
    X = scipy.sparse.random_array((60, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    model = LPNNRegressor(**ADAM).fit(X, np.arange(60.0))
    with pytest.raises(ValueError, match="must be dense for single precision"):
        model.predict_float32(X)


def test_what_overflows_in_single_precision_is_refused() -> None:
    X = np.random.default_rng(3).normal(size=(90, 3))
    model = LPNNRegressor(**TINY, clip=False, guard=False).fit(X, cubic(X))
    far = np.full((1, 3), 1e30)
    assert np.isfinite(model.predict(far)).all()
    with pytest.raises(ValueError, match="Row 1 of X must lie nearer"):
        model.predict_float32(far)


@SOLVERS
def test_the_huber_loss_with_a_given_order(parameters: dict[str, Any], tmp_path: Path) -> None:
    X, y = rows(300)
    wrong = y.copy()
    wrong[::10] += 100
    squared, huber = (LPNNRegressor(**parameters, loss=loss).fit(X, wrong) for loss in ("squared", "huber"))
    errors = [float(np.sqrt(np.mean((model.predict(X) - y) ** 2))) for model in (squared, huber)]
    assert errors[1] < 0.3 * errors[0]
    huber.save(tmp_path / "m.ladder")
    again = load(tmp_path / "m.ladder")
    assert (again.loss, again.target_.loss) == ("huber", huber.target_.loss)
    np.testing.assert_array_equal(again.predict(X), huber.predict(X))
    # What is learned later goes on with the same loss and the same scale.
    again.partial_fit(X, wrong)
    assert again.target_.loss == huber.target_.loss
    assert np.sqrt(np.mean((again.predict(X) - y) ** 2)) < 0.3 * errors[0]


def test_a_selected_model_learns_on_by_its_loss() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    model = LPNNRegressor(loss="huber", effort="low", random_state=0).fit(X[:60], y[:60])
    before = model.predict(X)
    gross = y[60:].copy()
    gross[::6] += 1e6
    model.partial_fit(X[60:], gross)
    # One gross error in six pulls a readout by no more than its threshold.
    assert 0 < np.abs(model.predict(X) - before).max() < 0.2


def test_losses_of_a_grid_do_not_share_their_rows() -> None:
    X, y = rows(100)
    grid = BatchedGridSearchCV(LPNNRegressor(**TINY), {"loss": ["squared", "huber"]}, cv=2).fit(X, y)
    alone = [LPNNRegressor(**TINY, loss=loss).fit(X, y) for loss in ("squared", "huber")]
    best = alone[grid.best_params_["loss"] == "huber"]
    np.testing.assert_allclose(grid.best_estimator_.predict(X), best.predict(X), rtol=1e-6)
    assert not np.allclose(alone[0].predict(X), alone[1].predict(X), rtol=1e-9)


def test_a_loss_that_is_not_known_is_refused() -> None:
    X, y = rows(30)
    with pytest.raises(ValueError, match=r"'loss' parameter of LPNNRegressor must be a str among \{'squared', 'huber'"):
        LPNNRegressor(loss="hinge").fit(X, y)
