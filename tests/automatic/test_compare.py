"""The rivals: which there are, how many rows they take, and when they are left out."""

import time

import numpy as np
import polars as pl
import pytest

from polyladder.automatic import compare
from polyladder.automatic.budget import Deadline
from polyladder.automatic.compare import baselines, scores


def rows(n: int, classes: bool = False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(kind=pl.Series(rng.choice(["u", "v"], n)))
    return frame, np.where(y > 0, "up", "down").astype(object) if classes else y


def test_every_rival_is_scored_on_the_same_rows() -> None:
    for task, classes in (("regression", False), ("classification", True)):
        X, y = rows(300, classes)
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
    X, y = rows(400, classes=True)
    found = [score for score, _ in scores(baselines(5, "classification"), (X, y), (X, y), "classification")]
    assert {score["model"]: score.get("rows") for score in found}["cubic ridge"] == 100


def test_what_has_no_time_is_left_out() -> None:
    X, y = rows(300)
    late = Deadline(time.monotonic() - 10.0, 5.0)
    assert list(scores(baselines(5, "regression"), (X, y), (X, y), "regression", deadline=late)) == []
