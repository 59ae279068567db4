"""Choosing settings, around `polyladder fit`."""

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import KFold, cross_val_score

from polyladder import LPNNRegressor
from polyladder.automatic import choose as chosen
from polyladder.automatic.choose import Trial, choose, first_settings
from polyladder.tables.features import count_inputs
from polyladder.tables.table import find_categories, read_table


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen, "SIZES", ((0, 2, 3),))


def rows(n: int = 40, categories: int = 0):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, size=(2, n))
    X = pl.DataFrame({"a": a, "b": b, **({"c": [f"k{i % categories}" for i in range(n)]} if categories else {})})
    return X, a * b + 0.01 * rng.normal(size=n)


def test_a_change_is_kept_if_it_lowers_the_error_by_two_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk itself, over errors that are given."""
    better = {"features": {"yeo-johnson": 0.9}, "order": {4: 0.99, 8: 0.8, 3: 0.7, 2: 2.0}, "alpha": {1e-4: 0.97}}

    def attempt(X, y, task, settings, folds) -> Trial:
        error = 1.0
        for name, factors in better.items():
            error *= factors.get(settings[name], 1.0)
        return Trial(settings, error, 0.0)

    monkeypatch.setattr(chosen, "attempt", attempt)
    told = []
    choice = choose(*rows(), "regression", seconds=1e9, tell=lambda trial, best: told.append((trial, best)))
    found = {name: choice.settings[name] for name in ("features", "order", "width", "alpha")}
    assert found == {"features": "yeo-johnson", "order": 3, "width": 10, "alpha": 1e-4}
    assert [trial for trial, _ in told] == list(choice.trials)
    assert [round(best.error, 3) for _, best in told] == [1, 0.9, 0.9, 0.72, 0.63, 0.63, 0.63, 0.63, 0.611, 0.611]
    assert [trial.settings["width"] for trial in choice.trials][6:8] == [6, 16]
    assert dict(choice.order_path) == pytest.approx({2: 1.8, 3: 0.63, 4: 0.891, 6: 0.9, 8: 0.72})


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_an_error_is_that_of_cross_validation() -> None:
    X, y = rows()
    (trial,) = choose(X, y, "regression", seconds=1e-9).trials
    model = LPNNRegressor(**trial.settings, n_estimators=2)
    folds = KFold(3, shuffle=True, random_state=0)
    scored = cross_val_score(model, X.to_numpy(), y, cv=folds, scoring="neg_root_mean_squared_error")
    assert trial.error == pytest.approx(-scored.mean(), rel=1e-4)


@pytest.mark.usefixtures("small")
def test_the_budget_ends_the_search() -> None:
    X, y = rows()
    assert choose(X, y, "regression", seconds=0).trials == ()
    assert len(choose(X, y, "regression", seconds=1e-9).trials) == 1
    # Too few rows for folds: the defaults.
    assert choose(X[:12], y[:12], "regression", seconds=1e9).trials == ()


def test_wide_and_long_tables_begin_with_smaller_ladders() -> None:
    _, y = rows()
    usual = first_settings(2, y, "regression", "auto")
    assert (usual["solver"], usual["order"], usual["width"]) == ("alternating", 6, 10)
    assert "n_estimators" not in usual
    wide_table, values = rows(300, categories=100)
    assert count_inputs(read_table(wide_table, find_categories(wide_table))) == 102
    wide = first_settings(102, values, "regression", "auto")
    assert wide["solver"] == "alternating"
    assert wide["n_estimators"] == 2
    assert wide["order"] < 6
    assert first_settings(2, y, "regression", "adam")["solver"] == "adam"
    _, values = rows(3000)
    assert first_settings(1002, values, "regression", "auto")["solver"] == "adam"
    assert first_settings(1002, values, "regression", "alternating")["solver"] == "alternating"
    classes = np.where(y > 0, "p", "n")
    assert first_settings(2, classes, "classification", "auto")["solver"] == "alternating"
    _, values = rows(30_000)
    assert first_settings(2, values > 0, "classification", "auto")["solver"] == "adam"
