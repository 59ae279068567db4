"""Comparing models on held-out rows, around `polyladder fit`."""

import math
import time

import numpy as np
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingRegressor

from polyladder.automatic import compare
from polyladder.automatic.budget import Deadline
from polyladder.automatic.compare import MONOMIALS, CodedRival, baselines, judged, scores


def rows(n: int = 40, categories: int = 0):
    """A product of two columns, with a little noise."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, size=(2, n))
    X = pl.DataFrame({"a": a, "b": b, **({"c": [f"k{i % categories}" for i in range(n)]} if categories else {})})
    return X, a * b + 0.01 * rng.normal(size=n)


@pytest.mark.slow
def test_baselines_are_scored_on_the_rows_held_out() -> None:
    X, y = rows(200, categories=3)
    X = X.with_columns(pl.when(pl.col("a") > 0.9).then(None).otherwise(pl.col("a")).alias("a"))
    train, test = (X[:150], y[:150]), (X[150:], y[150:])
    found = {
        score["model"]: (score, held) for score, held in scores(baselines(5, "regression"), train, test, "regression")
    }
    assert list(found) == ["mean", "linear", "cubic ridge", "HistGradientBoosting"]
    score, held = found["mean"]
    assert score["rmse"] == pytest.approx(np.sqrt(np.mean((y[150:] - y[:150].mean()) ** 2)))
    assert held["observed"] == y[150:].tolist()
    assert found["cubic ridge"][0]["rmse"] < 0.5 * found["linear"][0]["rmse"]
    labels = np.where(y > 0.2, "p", np.where(y < -0.2, "n", "z"))
    train, test = (X[:150], labels[:150]), (X[150:], labels[150:])
    for score, held in scores(baselines(5, "classification"), train, test, "classification"):
        assert score["error"] == np.mean(np.array(held["predicted"]) != labels[150:])
        picked = np.array(held["probability"])[np.arange(50), np.searchsorted(["n", "p", "z"], labels[150:])]
        assert score["log_loss"] == pytest.approx(-np.log(np.clip(picked, 2e-16, 1)).mean(), rel=1e-6)


def test_wide_tables_get_ridges_of_lower_degree() -> None:
    assert "quadratic ridge" in baselines(40, "regression")
    assert list(baselines(40, "classification")) == ["most frequent", "linear", "HistGradientBoosting"]


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("inputs", [1, 10, 21, 22, 61, 62, 500])
def test_the_highest_degree_whose_monomials_are_not_too_many(task, inputs) -> None:
    allowed = [p for p in (1, 2, 3) if p == 1 or math.comb(inputs + p, p) <= MONOMIALS[task]]
    named = {1: "linear", 2: "quadratic ridge", 3: "cubic ridge"}
    found = [name for name in baselines(inputs, task) if name in named.values()]
    assert found == [named[p] for p in sorted({1, allowed[-1]})]


def test_categories_become_codes_and_gaps_stay() -> None:
    X = pl.DataFrame({"kind": ["b", "a", None, "b"], "x": [1.0, None, 3.0, 4.0]})
    model = CodedRival(DummyRegressor())
    model.categorical, model.codes = (0,), CodedRival(HistGradientBoostingRegressor()).fit(X, np.arange(4.0)).codes
    np.testing.assert_array_equal(model.matrix(X), [[1, 1], [np.nan, 0], [3, np.nan], [4, 1]])
    unseen = X.with_columns(pl.lit("new").alias("kind"))
    assert np.isnan(model.matrix(unseen)[:, 1]).all()


def test_boosting_knows_which_columns_are_categories() -> None:
    X, y = rows(60, categories=3)
    coded = CodedRival(HistGradientBoostingRegressor(max_iter=2)).fit(X, y)
    assert coded.model.get_params()["categorical_features"] == [2]
    assert coded.predict(X).shape == (60,)
    plain = CodedRival(HistGradientBoostingRegressor(max_iter=2)).fit(X.select("a", "b"), y)
    assert plain.model.get_params()["categorical_features"] == "from_dtype"
    many = pl.DataFrame({"c": [f"k{i}" for i in range(300)], "x": np.arange(300.0)})
    assert CodedRival(HistGradientBoostingRegressor(max_iter=2)).fit(many, np.arange(300.0)).predict(many).shape == (
        300,
    )


def test_names_are_told_before_their_models_are_fitted() -> None:
    X, y = rows()
    told = []
    models = {"one": DummyRegressor(), "two": DummyRegressor()}
    for score, _ in scores(models, (X, y), (X, y), "regression", tell=told.append):
        assert told[-1] == score["model"]
        assert score["seconds"] >= 0
    assert told == ["one", "two"]


def test_one_row_has_an_error_and_no_share_explained() -> None:
    X, y = rows()
    score, held_out = judged("mean", DummyRegressor().fit(X, y), X[:1], y[:1], 0.5, "regression")
    assert score["rmse"] == pytest.approx(abs(y[0] - y.mean()))
    assert math.isnan(score["r2"])
    assert score["seconds"] == 0.5
    assert held_out["observed"] == [y[0]]


def test_classes_that_the_rows_held_out_lack_still_count() -> None:
    X, y = rows()
    labels = np.where(y > 0.2, "p", np.where(y < -0.2, "n", "z"))
    model = DummyClassifier(strategy="prior").fit(X, labels)
    score, held_out = judged("prior", model, X[:3], np.array(["z", "z", "p"]), 0.0, "classification")
    share = dict(zip(model.classes_, model.class_prior_, strict=True))
    assert score["log_loss"] == pytest.approx(-np.mean(np.log([share["z"], share["z"], share["p"]])))
    assert len(held_out["probability"][0]) == 3


def small_rows(n: int, classes: bool = False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(kind=pl.Series(rng.choice(["u", "v"], n)))
    return frame, np.where(y > 0, "up", "down").astype(object) if classes else y


@pytest.mark.slow
def test_every_rival_is_scored_on_the_same_rows() -> None:
    for task, classes in (("regression", False), ("classification", True)):
        X, y = small_rows(300, classes)
        found = list(scores(baselines(5, task), (X[:200], y[:200]), (X[200:], y[200:]), task))
        assert len(found) == 4
        assert all(held["observed"] == y[200:].tolist() for _, held in found)
        measure = "error" if classes else "rmse"
        first, *others = (score[measure] for score, _ in found)
        assert min(others) < 0.5 * first
        assert not any("rows" in score for score, _ in found)


def test_wide_tables_have_a_lower_degree() -> None:
    assert "cubic ridge" in baselines(20, "regression")
    assert "quadratic ridge" in baselines(40, "regression")
    assert set(baselines(900, "regression")) == {"mean", "linear", "HistGradientBoosting"}


def test_a_polynomial_of_classes_takes_a_sample_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "CELLS", 100 * 56)
    X, y = small_rows(400, classes=True)
    found = [score for score, _ in scores(baselines(5, "classification"), (X, y), (X, y), "classification")]
    assert {score["model"]: score.get("rows") for score in found}["cubic ridge"] == 100


def test_what_has_no_time_is_left_out() -> None:
    X, y = small_rows(300)
    late = Deadline(time.monotonic() - 10.0, 5.0)
    assert list(scores(baselines(5, "regression"), (X, y), (X, y), "regression", deadline=late)) == []
