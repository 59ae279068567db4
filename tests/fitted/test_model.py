"""What is read of a fitted estimator."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.exceptions import NotFittedError

from polyladder import (
    BatchedGridSearchCV,
    BayesianLPNNClassifier,
    BayesianLPNNRegressor,
    FactorizationMachineRegressor,
    FeedforwardRegressor,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelRegressor,
    load,
)
from polyladder.automatic.card import make_card
from polyladder.report.payload import payload
from tests.explain.test_explanation import TINY, rows
from tests.fitted.reading import read_model

CHAIN: dict[str, Any] = {"order": 2, "width": 2, "chains": 2, "warmup": 2, "draws": 6, "random_state": 0}


@pytest.mark.parametrize(
    "model",
    [
        LPNNRegressor(**{**TINY, "n_estimators": 3}, guard=False),
        FactorizationMachineRegressor(rank=2, max_iter=2, guard=False, random_state=0),
        PolynomialKernelRegressor(degree=2, rank=2, max_iter=2, guard=False, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_mean_of_the_ladders_is_the_prediction(model: Any) -> None:
    X, y = rows()
    model.fit(X, 100 + 30 * y)
    ladders = model.model_.ladders
    assert len(ladders.batch_shape) == 1
    assert not ladders.readout.requires_grad
    np.testing.assert_allclose(ladders(model.inputs(X)).mean(0)[:, 0], model.predict(X), rtol=1e-8)


def test_draws_are_read_in_units_of_the_target() -> None:
    X, y = rows()
    model = BayesianLPNNRegressor(**CHAIN).fit(X, 100 + 30 * y)
    read = read_model(model, X)
    assert read.answer.by_member
    standardized = model.posterior_.weights(model.inputs(X))
    torch.testing.assert_close(read.ladders(model.inputs(X)), standardized * (30 * y).std() + (100 + 30 * y).mean())


def test_names_of_what_is_predicted() -> None:
    X, y = rows()
    model = LPNNRegressor(**TINY).fit(X, y)
    read = read_model(model)
    assert (read.target, read.output_names) == ("prediction", ("prediction",))
    assert not read.answer.by_member
    model.card_ = make_card(model, X, target="price")
    assert read_model(model).output_names == ("price",)
    two = read_model(LPNNRegressor(**TINY).fit(X, np.stack([y, -y], 1)))
    assert two.output_names == ("prediction 1", "prediction 2")
    classes = LPNNClassifier(**TINY, solver="alternating")
    assert read_model(classes.fit(X, y > 0)).output_names == ("log-odds of prediction = True",)
    assert read_model(classes.fit(X, np.digitize(y, [-0.3, 0.3]))).output_names == tuple(
        f"score of {i}" for i in range(3)
    )


@pytest.mark.parametrize("library", [pd, pl])
def test_a_named_target_keeps_its_name(library: Any, tmp_path: Path) -> None:
    X, y = rows()
    price = pd.Series(y, name="price") if library is pd else pl.Series("price", y)
    model = LPNNRegressor(**TINY).fit(X, price)
    model.save(tmp_path / "m.ladder")
    for each in (model, load(tmp_path / "m.ladder")):
        assert read_model(each).output_names == ("price",)
        assert each.explain(X[:2]).contributions.output_names == ("price",)
        assert make_card(each, X)["target"] == "price"
    assert read_model(model.fit(X, y)).output_names == ("prediction",)
    both = library.DataFrame({"price": y, "rent": -y})
    two = LPNNRegressor(**TINY).fit(X, both)
    assert read_model(two).output_names == tuple(payload(two)["outputs"]) == ("price", "rent")
    classes = LPNNClassifier(**TINY, solver="alternating").fit(X, price > 0)
    assert read_model(classes).output_names == ("log-odds of price = True",)


def test_a_target_whose_name_is_a_number_has_none() -> None:
    X, y = rows()
    assert read_model(LPNNRegressor(**TINY).fit(X, pd.Series(y, name=0))).target == "prediction"
    assert read_model(LPNNRegressor(**TINY).fit(X, pd.DataFrame(y))).target == "prediction"


def test_the_guard_is_read_where_there_is_one() -> None:
    X, y = rows()
    span = y.max() - y.min()
    guarded = read_model(LPNNRegressor(**TINY).fit(X, y)).guard
    assert guarded is not None
    assert [float(t) for t in guarded] == pytest.approx([y.min() - 0.1 * span, y.max() + 0.1 * span])
    assert read_model(LPNNRegressor(**TINY, guard=False).fit(X, y)).guard is None
    assert read_model(LPNNClassifier(**TINY, solver="alternating").fit(X, y > 0)).guard is None


def test_rows_describe_the_columns_where_there_is_no_card() -> None:
    X, y = rows()
    model = LPNNRegressor(**TINY).fit(X, y)
    assert read_model(model).columns[0].counts == ()
    assert sum(read_model(model, X).columns[0].counts) == 40
    model.card_ = make_card(model, X, target="y")
    assert sum(read_model(model, X[:5]).columns[0].counts) == 40


def test_of_a_search_the_best_is_read() -> None:
    X, y = rows()
    search = BatchedGridSearchCV(LPNNRegressor(**TINY), {"alpha": [0.1, 1.0]}, cv=2).fit(X, y)
    assert read_model(search) is search.best_estimator_.model_ is search.model_


def test_what_has_no_ladder_or_no_fit_is_refused() -> None:
    X, y = rows()
    with pytest.raises(
        TypeError, match="must be a ladder or a fitted estimator with one behind it; got FeedforwardRegressor"
    ):
        read_model(FeedforwardRegressor(hidden=(2,), max_iter=1).fit(X, y))
    with pytest.raises(NotFittedError):
        read_model(LPNNRegressor())


def test_rows_like_those_of_training() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "word": rng.choice(["a", "b"], 50),
            "x": rng.normal(size=50),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(50), unit="D"),
        }
    )
    model = LPNNRegressor(**TINY).fit(frame, frame["x"]).model_
    kept = model.rows_like_training()
    assert (kept.names, kept.positions) == (("word", "x", "day"), (1, 2))
    # They are rows of the table, and are read as those are.
    whole = model.read(frame)
    places = [whole.numbers[:, 0].tolist().index(x) for x in kept.numbers[:, 0]]
    np.testing.assert_array_equal(model.table_inputs(kept), model.table_inputs(whole.take(places)))
    np.testing.assert_array_equal(model.rows_like_training(frame[:3]).numbers, whole.numbers[:3])
    with pytest.raises(ValueError, match="rows must be given: the model keeps no training rows"):
        replace(model, landmarks=None).rows_like_training()


def test_distributions_are_those_of_the_estimator() -> None:
    X, y = rows()
    posterior = BayesianLPNNRegressor(**CHAIN).fit(X, y)
    classes = [LPNNClassifier(**TINY).fit(X, y > 0), BayesianLPNNClassifier(**CHAIN).fit(X, y > 0)]
    for model in (posterior, *classes):
        mine, theirs = model.model_.predict_distribution(X), model.predict_distribution(X)
        assert type(mine) is type(theirs)
        np.testing.assert_array_equal(mine.mean, theirs.mean)
        np.testing.assert_array_equal(mine.sample(3, 0), theirs.sample(3, 0))
    np.testing.assert_allclose(posterior.model_.predict_distribution(X).std, posterior.predict(X, return_std=True)[1])
    for model in classes:
        np.testing.assert_array_equal(model.model_.predict_distribution(X).mode, model.predict(X))


def test_numbers_without_error_bars_have_no_distribution() -> None:
    X, y = rows()
    with pytest.raises(
        ValueError, match=r"The LPNNRegressor must know its errors at rows that it did not see.*calibrate\(X, y\)"
    ):
        LPNNRegressor(**TINY).fit(X, y).model_.predict_distribution(X)
