"""`compress`: models of ours, of others, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_array
from sklearn.datasets import make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, RidgeClassifier

from polyladder import (
    BayesianLPNNClassifier,
    BayesianLPNNRegressor,
    FittedModel,
    LadderPolynomial,
    LPNNClassifier,
    LPNNRegressor,
    compress,
)
from polyladder.estimators import compress as room
from polyladder.estimators.compress import beyond_a_line, line_through
from polyladder.export.short_formula import ShortFormula
from polyladder.fitted.answers import Numbers
from polyladder.polynomial.substitute import rescale_outputs
from tests.ladders import random_ladder, rows

X, Y = make_friedman1(120, n_features=5, noise=1.0, random_state=0)
SEVERAL: dict[str, Any] = {"order": 3, "width": 12, "n_estimators": 6, "max_iter": 5, "random_state": 0}


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rows in between than users get: the ways through the code are the same."""
    monkeypatch.setattr(room, "TAUGHT", 300)
    monkeypatch.setattr(room, "JUDGED", 200)


@cache
def regressor() -> LPNNRegressor:
    return LPNNRegressor(**SEVERAL).fit(X, Y)


@cache
def classifier(classes: int) -> LPNNClassifier:
    return LPNNClassifier(**SEVERAL).fit(X, np.digitize(Y, np.quantile(Y, np.arange(1, classes) / classes)))


def left(said: np.ndarray[Any, Any], small: np.ndarray[Any, Any]) -> float:
    """The largest share of the variance of an output that a small model does not explain."""
    return float(np.max(((said - small) ** 2).mean(0) / said.var(0)))


class Simulation:
    """Something with predictions."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def predict(self, X: Any) -> Any:
        return self.function(X)


# Models of ours


def test_an_estimator() -> None:
    model = regressor()
    before = model.polynomial_
    small = compress(model, X)
    assert type(small) is LPNNRegressor
    assert len(small.members_) == 1
    assert small.order_ == small.polynomial_.order
    assert small.polynomial_.n_weights < model.polynomial_.n_weights / 2
    assert left(model.predict(X), small.predict(X)) < 0.02
    assert model.polynomial_ is before
    assert len(model.members_) == 6
    np.testing.assert_allclose(small.model_.predict(X), small.predict(X), rtol=1e-9)
    assert ((small.trust(X) > 0) & (small.trust(X) <= 1)).all()


def test_a_fitted_model_and_a_ladder() -> None:
    model = regressor()
    small = compress(model.model_, X)
    assert isinstance(small, FittedModel)
    assert left(model.predict(X), small.predict(X)) < 0.02
    assert f"with {small.polynomial.n_weights:,} weights stands for 6 of" in small.card["compact"]
    assert f"order {small.polynomial.order} " in small.card["compact"]
    z = model.features_.transform(X)
    ladder = compress(model.polynomial_, z)
    assert isinstance(ladder, LadderPolynomial)
    assert ladder.n_weights < model.polynomial_.n_weights / 2
    inside = torch.from_numpy(z)
    assert left(model.polynomial_(inside).numpy(), ladder(inside).numpy()) < 0.02


def test_rows_that_a_model_keeps_are_enough() -> None:
    small = compress(regressor())
    assert len(small.members_) == 1
    assert left(regressor().predict(X), small.predict(X)) < 0.05


@pytest.mark.parametrize("classes", [2, 3])
def test_a_classifier(classes: int) -> None:
    model = classifier(classes)
    for found in (compress(model, X, size=400), compress(model.model_, X, size=400)):
        assert np.abs(found.predict_proba(X) - model.predict_proba(X)).mean() < 0.05
        assert np.mean(found.predict(X) == model.predict(X)) > 0.9


def test_outputs_of_very_different_size_all_count() -> None:
    model = LPNNRegressor(**SEVERAL).fit(X, np.stack([Y, 1e-6 * X[:, 0] * X[:, 1]], 1))
    for found in (compress(model, X), compress(model.model_, X)):
        assert found.predict(X).shape == (120, 2)
        assert left(model.predict(X), found.predict(X)) < 0.02


@pytest.mark.parametrize("unit", [2.0**-24, 2.0**24])
def test_units_do_not_matter(unit: float) -> None:
    usual = replace(regressor().model_, answer=Numbers(None))
    ladders = rescale_outputs(usual.ladders, torch.tensor([unit], dtype=torch.float64), torch.zeros(1))
    small, usual = compress(replace(usual, ladders=ladders), X), compress(usual, X)
    assert small.card["compact"] == usual.card["compact"]
    np.testing.assert_allclose(small.predict(X), unit * usual.predict(X), rtol=1e-6)


@pytest.mark.parametrize("size", [150, 300])
def test_a_size_is_kept(size: int) -> None:
    small = compress(regressor(), X, size=size)
    assert small.polynomial_.n_weights <= size
    assert len(small.members_) == 1


def test_a_size_below_all_leaves_the_model_and_says_so() -> None:
    small = compress(regressor().model_, X, size=5)
    assert small.polynomial.n_weights == regressor().model_.polynomial.n_weights
    assert small.card["compact"].endswith("no ladder that is tried has at most 5 weights.")


def test_small_models_stay_as_they_are() -> None:
    small = random_ladder(d=3, hidden=(4, 4), m=1)
    assert compress(small, rows(50, 3).numpy()).n_weights == small.n_weights
    line = random_ladder(d=3, hidden=(), m=1)
    found = compress(line, rows(50, 3).numpy())
    torch.testing.assert_close(found(rows(9, 3)), line(rows(9, 3)))


@pytest.mark.slow
def test_a_selected_model_is_compressed_by_its_own_error() -> None:
    model = LPNNRegressor(effort="low", random_state=0, compact=False).fit(X, Y)
    small = compress(model, X)
    assert model.selection_.compact == ""
    assert small.selection_.compact_order == small.order_ == small.polynomial_.order
    words = f"One ladder of order {small.order_} with {small.polynomial_.n_weights:,} weights stands for"
    assert small.selection_.compact.startswith(words)
    assert f"of {model.polynomial_.n_weights:,} weights" in small.selection_.compact
    new, y = make_friedman1(2_000, n_features=5, noise=1.0, random_state=1)
    roots = [np.mean((each.predict(new) - y) ** 2) ** 0.5 for each in (small, model)]
    assert roots[0] < 1.03 * roots[1]


def test_the_gain_over_a_line_is_that_of_least_squares() -> None:
    z, outputs = rows(60, 3), rows(60, 2, seed=4)
    design = np.column_stack([z.numpy(), np.ones(60)])
    expected = design @ np.linalg.lstsq(design, outputs.numpy(), rcond=None)[0]
    np.testing.assert_allclose(line_through(z, outputs, z).numpy(), expected, rtol=1e-9, atol=1e-9)
    model = regressor()
    said = np.asarray(model.polynomial_(model.inputs(X)).numpy())
    standard = (said - model.target_.mean.numpy()) / model.target_.scale.numpy()
    design = np.column_stack([model.inputs(X).numpy(), np.ones(120)])
    residual = standard - design @ np.linalg.lstsq(design, standard, rcond=None)[0]
    table = model.model_.rows_like_training(X)
    teacher = room.Teacher(
        model.members_, table, model.inputs(X), model.features_.transform_table, lambda t: t, model.target_.loss, 0.0
    )
    assert beyond_a_line(teacher) == pytest.approx(float((residual**2).mean()), rel=1e-6)


# Models of others


@pytest.mark.slow
def test_a_simulation() -> None:
    def said(X: Any) -> Any:
        return 5 + X[:, 0] * X[:, 1] + X[:, 2] ** 2

    small = compress(Simulation(said), X)
    assert type(small) is LPNNRegressor
    assert left(said(X), small.predict(X)) < 0.01
    assert "of what the Simulation gains over a line is kept" in small.selection_.compact
    again = compress(Simulation(said), X)
    np.testing.assert_array_equal(small.predict(X), again.predict(X))
    # How far the truth lies from what the teacher says is not known.
    with pytest.raises(ValueError, match="must know its errors"):
        small.predict_distribution(X)


@pytest.mark.slow
def test_a_simulation_of_two_numbers() -> None:
    small = compress(Simulation(lambda X: np.stack([X[:, 0] * X[:, 1], 100 * X[:, 2] ** 2], 1)), X[:60, :3])
    assert small.predict(X[:, :3]).shape == (120, 2)


@pytest.mark.slow
def test_where_a_simulation_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one near row, itself, it is asked at the given rows alone; with more, between them too."""
    asked: list[np.ndarray[Any, Any]] = []

    def sums(rows: Any) -> Any:
        asked.append(rows)
        return rows[:, 0] + rows[:, 1]

    compress(Simulation(sums), X)
    monkeypatch.setattr(room, "CLOSE", 1)
    compress(Simulation(sums), X)
    between, own = (len(np.unique(np.concatenate([rows, X]), axis=0)) - len(X) for rows in asked)
    assert own == 0
    assert between == 500


@pytest.mark.slow
@pytest.mark.parametrize("model", [LinearRegression(), DummyRegressor()])
def test_a_line_and_a_constant(model: Any) -> None:
    model.fit(X, Y)
    small = compress(model, X)
    np.testing.assert_allclose(small.predict(X), model.predict(X), rtol=1e-3)
    assert small.selection_.compact.endswith(f"The {type(model).__name__} is a straight line, between the rows given.")


class Chances:
    """Three classes out of order, of which the last never comes."""

    classes_ = np.array(["z", "a", "k"])

    def predict_proba(self, X: Any) -> Any:
        p = 1 / (1 + np.exp(-8 * (np.asarray(X)[:, 0] - np.asarray(X)[:, 1] ** 2)))
        return np.stack([p, 1 - p, 0 * p], 1)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(1)]


@pytest.mark.slow
def test_classes_in_any_order_of_which_some_never_come() -> None:
    small = compress(Chances(), X)
    assert small.classes_.tolist() == ["a", "z"]
    assert np.abs(small.predict_proba(X)[:, 1] - Chances().predict_proba(X)[:, 0]).mean() < 0.05
    assert np.mean(small.predict(X) == Chances().predict(X)) > 0.9


@pytest.mark.slow
def test_a_forest_of_three_classes() -> None:
    forest = RandomForestClassifier(30, max_depth=4, random_state=0).fit(X, np.digitize(Y, [12, 16]))
    small = compress(forest, X)
    assert type(small) is LPNNClassifier
    assert small.thresholds_ is None  # what the forest says need not be true
    assert np.mean(small.predict(X) == forest.predict(X)) > 0.8


class Watching:
    """Reads a frame by its types, as a model of another library might."""

    def predict(self, frame: pd.DataFrame) -> Any:
        assert frame["count"].dtype.kind == "i"
        assert frame["flag"].dtype == bool
        assert frame["day"].dtype.kind == "M"
        assert set(frame["word"]) <= {"a", "b", "c"}
        days = (frame["day"] - pd.Timestamp("2020-01-01")).dt.days
        return frame["x"] * frame["flag"] + 0.1 * frame["count"] + days / 365 + 2 * (frame["word"] == "b")


@pytest.mark.slow
def test_a_data_frame_with_columns_of_all_types() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": X[:, 0],
            "count": rng.integers(0, 30, 120),
            "flag": rng.random(120) < 0.5,
            "word": rng.choice(["a", "b", "c"], 120),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 365, 120), unit="D"),
        }
    )
    small = compress(Watching(), frame)
    assert left(Watching().predict(frame).to_numpy(), small.predict(frame)) < 0.02


@pytest.mark.slow
def test_a_posterior_teaches_its_predictions() -> None:
    model = BayesianLPNNRegressor(order=2, width=3, random_state=0).fit(X, Y)
    assert left(model.predict(X), compress(model, X).predict(X)) < 0.02


# Formulas


def test_a_formula_of_a_few_terms() -> None:
    found = compress(regressor(), X, terms=5)
    assert isinstance(found, ShortFormula)
    assert len(found.terms[0]) <= 5


@pytest.mark.slow
def test_a_formula_of_another_model() -> None:
    found = compress(Simulation(lambda X: 3 * X[:, 0] * X[:, 1]), X, terms=2)
    (constant, none), (three, product) = found.terms[0]
    assert (none, product) == ((), ((0, 1), (1, 1)))
    assert (constant, three) == pytest.approx((0.0, 3.0), abs=0.05)


# What is refused


def test_rows_must_be_known() -> None:
    with pytest.raises(ValueError, match="rows must be given for a Simulation"):
        compress(Simulation(len))
    with pytest.raises(ValueError, match="the model keeps no training rows"):
        compress(regressor().polynomial_)


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (lambda X: np.where(X[:, 0] < 0.3, np.nan, X[:, 0]), ValueError, "finite numbers; got nan"),
        (lambda X: np.full(len(X), np.inf), ValueError, "finite numbers; got inf"),
        (lambda X: np.full(len(X), "a"), TypeError, r"numbers, or have predict_proba; got .*'a'"),
        (lambda X: np.ones(3), ValueError, r"each of \d+ rows; got shape \(3,\)"),
        (lambda X: 1.0, ValueError, r"each of \d+ rows; got shape \(\)"),
    ],
)
def test_answers_that_teach_nothing(answer: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"The Simulation must .*{words}"):
        compress(Simulation(answer), X)


def test_labels_alone_teach_nothing() -> None:
    with pytest.raises(TypeError, match="RidgeClassifier must have predict_proba"):
        compress(RidgeClassifier().fit(X, (Y > 14).astype(int)), X)


@pytest.mark.parametrize("model", [LPNNRegressor(), LPNNClassifier(), LinearRegression(), RidgeClassifier()])
def test_models_that_are_not_fitted(model: Any) -> None:
    with pytest.raises(NotFittedError):
        compress(model, X)


@pytest.mark.parametrize("kind", [BayesianLPNNRegressor, BayesianLPNNClassifier])
def test_a_posterior(kind: Any) -> None:
    model = kind(order=2, width=2, chains=2, warmup=5, draws=5, random_state=0).fit(X[:40], Y[:40] > 14)
    with pytest.raises(TypeError, match=f"posterior of a {kind.__name__}. Give the estimator and rows"):
        compress(model.model_, X)
    with pytest.raises(ValueError, match=f"rows must be given for a {kind.__name__}"):
        compress(model)


def test_sparse_rows() -> None:
    sparse = csr_array((np.random.default_rng(0).random((60, 40)) < 0.1).astype(float))
    model = LPNNRegressor(order=2, width=3, random_state=0).fit(sparse, sparse.sum(1))
    for given in ({}, {"rows": sparse}, {"rows": sparse, "terms": 3}):
        with pytest.raises(ValueError, match="must have been fitted to a dense table"):
            compress(model, **given)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, float("nan")])
def test_tolerances_above_zero(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance must be above 0"):
        compress(regressor(), X, tolerance)


def test_other_things() -> None:
    with pytest.raises(TypeError, match="model must have predict; got int"):
        compress(3, X)
    with pytest.raises(ValueError, match="size must be at least 1; got 0"):
        compress(regressor(), X, size=0)
    with pytest.raises(ValueError, match="terms must be at least 1; got 0"):
        compress(regressor(), X, terms=0)
