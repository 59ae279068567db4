"""`fit_table`: what the command `polyladder fit` does, in Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder import BayesianLPNNClassifier, BayesianLPNNRegressor, LPNNClassifier, LPNNRegressor, fit_table
from polyladder.automatic import training_table as training
from polyladder.automatic.fit_table import fit_training_table, got_worse, read_training_table
from polyladder.automatic.options import FitOptions
from polyladder.estimators import ladder, table_estimator
from polyladder.fitted.model import FittedModel
from polyladder.report.page import write_report
from polyladder.tables.table_file import frame_file
from tests.cli.tables import shop, small_models, small_table, write, write_quoted

__all__ = ["small_models"]


def frame(**more: Any) -> pl.DataFrame:
    return pl.DataFrame({**{name: [*map(float, cells)] for name, cells in small_table().items()}, **more}, strict=False)


@pytest.mark.usefixtures(small_models.__name__)
def test_files_and_frames_of_all_kinds_give_the_same_model(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())
    models = [fit_table(table, "y", seconds=0) for table in (str(path), path, frame(), pd.DataFrame(frame().to_dict()))]
    # With the target in it: a model of a table takes its own table.
    X = frame()
    for model in models:
        assert isinstance(model, LPNNRegressor)
        np.testing.assert_allclose(model.predict(X), models[0].predict(X), rtol=1e-9)
    assert [models[0].card_["source"], models[2].card_["source"]] == [str(path), "the table"]


@pytest.mark.usefixtures(small_models.__name__)
def test_the_card_says_how_good_the_model_is_on_rows_that_it_did_not_see() -> None:
    said, steps = [], []
    model = fit_table(frame(), "y", seconds=0, say=said.append, step=steps.append)
    card = model.card_
    assert [score["model"] for score in card["scores"]] == ["ladder", "dummy"]
    assert card["selection"]["held_out"] == len(card["held_out"]["observed"]) == 6
    assert set(card["held_out"]["observed"]) < set(frame()["y"])
    assert card["target"] == "y"
    assert set(card["notes"]) <= set(said)
    assert "fitting ladder to all 40 rows, as it was found" in steps
    assert "fitting dummy" in steps


@pytest.mark.usefixtures(small_models.__name__)
def test_the_seed_decides_which_rows_are_held_out() -> None:
    held = [fit_table(frame(), "y", seconds=0, seed=seed).card_["held_out"]["observed"] for seed in (0, 0, 1)]
    assert held[0] == held[1] != held[2]


@pytest.mark.usefixtures(small_models.__name__)
def test_dates_are_days_in_the_card() -> None:
    days = [f"2024-{m:02}-{d:02}" for m in (1, 2) for d in range(1, 21)]
    model = fit_table(frame(day=days), "y", seconds=0)
    (column,) = [column for column in model.card_["columns"] if column["name"] == "day"]
    assert (column["unit"], column["date_format"]) == ("days since 1970-01-01", "%Y-%m-%d")
    assert column["maximum"] - column["minimum"] == 50


@pytest.mark.usefixtures(small_models.__name__)
def test_classes_are_held_out_in_equal_shares() -> None:
    labels = ["p"] * 20 + ["q"] * 12 + ["r"] * 8
    held_out = fit_table(frame().with_columns(pl.Series("y", labels)), "y", seconds=0).card_["held_out"]["observed"]
    assert sorted(held_out) == ["p", "p", "p", "q", "q", "r"]


@pytest.mark.parametrize(
    ("task", "bayesian", "kind"),
    [
        ("regression", False, LPNNRegressor),
        ("classification", False, LPNNClassifier),
        ("regression", True, BayesianLPNNRegressor),
        ("classification", True, BayesianLPNNClassifier),
    ],
)
def test_posteriors_and_gradient_steps_are_scaled_as_a_selection_has_it(
    task: str, bayesian: bool, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polyladder.estimators.bayesian.BayesianEstimator._lengths", lambda *_: (3, 5))
    monkeypatch.setattr("polyladder.estimators.batch.plans.usual_epochs", lambda *_: 2)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.lognormal(sigma=2.0, size=(80, 2)), columns=["a", "b"])
    table["y"] = np.log(table.a) * np.log(table.b) + np.log(table.a)
    if task == "classification":
        table["y"] = np.where(table["y"] > 0, "p", "q")
    model = fit_table(table, "y", bayesian=bayesian, solver="adam", compare=False)
    assert type(model) is kind
    assert model.features_.kind == "yeo-johnson"
    said = model.card_["selection"]
    assert said["sentence"].startswith("Columns are scaled as a short selection chose, all else is as usual: order ")
    assert "yeo-johnson features" in said["sentence"]
    assert said["sentence"].endswith("20 draws." if bayesian else "L2 weight 1e-06.")
    assert said["order_path"] == []


def test_frames_are_open_tables() -> None:
    given = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None]})
    file = frame_file(given)
    assert (file.label, file.names) == ("the table", ("a", "b"))
    assert file.whole()["a"].to_list() == [1.0, None]
    assert frame_file(pl.DataFrame({"a": [1]})).whole()["a"].to_list() == [1]
    empty = pd.DataFrame({"a": np.arange(12.0), "gone": [np.nan] * 12, "y": np.arange(12.0) ** 2})
    for table in (empty, pl.DataFrame({name: empty[name].to_numpy() for name in empty})):
        assert "Column 'gone' is empty: left out." in read_training_table(table, "y").notes
    with pytest.raises(TypeError, match="table must be a path or a data frame; got ndarray"):
        frame_file(np.ones((2, 2)))


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures(small_models.__name__)]


def test_a_path_and_a_frame_give_the_same_model(tmp_path: Path) -> None:
    path = write_quoted(tmp_path / "shop.csv", shop())
    said: list[str] = []
    first = fit_table(path, "y", seconds=0, drop=["kind"], say=said.append)
    second = fit_table(pd.DataFrame(shop()), "y", seconds=0, drop=["kind"])
    np.testing.assert_array_equal(first.card_["held_out"]["predicted"], second.card_["held_out"]["predicted"])
    assert said[1].startswith("  customer_id  left out")
    assert first.card_["typical"] == second.card_["typical"]
    assert first.card_["selection"]["fitted"] == 120


def test_a_schema_as_a_mapping_and_other_rows_to_judge_by(tmp_path: Path) -> None:
    frame = pd.DataFrame(shop())
    model = fit_table(
        frame[:90], "y", seconds=0, schema={"zip": "number", "kind": "drop"}, test=frame[90:], compare=False
    )
    assert model.card_["columns"][3]["kind"] == "number"
    assert len(model.card_["held_out"]["observed"]) == 30
    assert model.card_["selection"]["fitted"] == 90


def test_without_time_the_first_model_is_kept(tmp_path: Path) -> None:
    model = fit_table(pd.DataFrame(shop()), "y", seconds=1e-6, drop=["kind"])
    assert [score["model"] for score in model.card_["scores"]] == ["ladder"]
    assert model.card_["selection"]["fitted"] == 102
    assert any("no time left for dummy" in note for note in model.card_["notes"])


@pytest.mark.slow
def test_a_last_fit_that_is_worse_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever may go wrong in it: here it is fitted to targets in another order."""
    rng = np.random.default_rng(0)
    X = rng.random((120, 2))
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=X[:, 0] + X[:, 1])
    right = LPNNRegressor.fit_again

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, *, recipe: Any = None) -> Any:
        return right(self, X, y[::-1] if len(y) == 120 else y, sample_weight, recipe=recipe)

    monkeypatch.setattr(LPNNRegressor, "fit_again", fit)
    said: list[str] = []
    model = fit_table(table, "y", compare=False, say=said.append)
    assert any(s.startswith("Fitted once more, to all rows, the model was worse on the held-out rows") for s in said)
    assert model.card_["selection"]["fitted"] == 102
    assert model.score(table[["a", "b"]], table["y"]) > 0.999
    assert said[-1] in model.card_["notes"]


def test_the_last_fit_takes_over_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One selection, on the rows that are not held out; what it found is then solved on all rows."""
    selected: list[int] = []
    own = ladder.choose_model

    def counted(table: Any, values: Any, *more: Any) -> Any:
        selected.append(len(values))
        return own(table, values, *more)

    monkeypatch.setattr(ladder, "choose_model", counted)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]).assign(y=lambda t: 3 * t.a + t.b**2)
    model = fit_table(table, "y", compare=False)
    assert selected == [85]
    assert model.card_["selection"]["fitted"] == 100
    assert model.card_["selection"]["sentence"].endswith("This sum was then solved on all 100 rows.")
    assert model.score(table, table.y) > 0.99
    # What the scores say of intervals holds for the model that is kept: its spread is that of the selection.
    assert model.spread_ is not None
    assert model.spread_.rows == 85
    score = model.card_["scores"][0]
    assert score["scored"] == 15
    assert {"50", "80", "90", "95"} <= set(score["coverage"])
    assert score["crps"] < score["rmse"]


def test_card_and_page_read_and_transform_all_rows_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    phase, seen = ["fitting"], []

    def watched(place: Any, name: str, size: Any) -> None:
        own = getattr(place, name)

        def call(*values: Any, **more: Any) -> Any:
            found = own(*values, **more)
            if size(values, found) == 40:
                seen.append((phase[-1], name))
            return found

        monkeypatch.setattr(place, name, call)

    # Strengths and the typical row look at some rows only.
    monkeypatch.setattr("polyladder.explain.strengths.POINTS", 20)
    monkeypatch.setattr("polyladder.explain.typical.ROWS", 20)
    watched(FittedModel, "table_inputs", lambda values, found: len(values[1]))
    watched(table_estimator, "read_rows", lambda values, found: len(found))
    watched(training, "read_table", lambda values, found: len(found))
    table = read_training_table(frame(), "y")
    model = fit_training_table(table, FitOptions(compare=False, step=phase.append))
    assert phase[-1] == "describing the model"
    phase.append("page")
    write_report(model, tmp_path / "page.html", table.read, table.target)
    assert ("fitting ladder to all 40 rows, as it was found", "read_rows") in seen
    card_and_page = [name for when, name in seen if when in ("describing the model", "page")]
    assert sorted(card_and_page) == ["table_inputs"]
    assert [name for _, name in seen].count("read_table") == 1


def test_only_a_fit_that_is_clearly_worse_is_dropped() -> None:
    rng = np.random.default_rng(0)
    y, noise = rng.normal(size=50), rng.normal(size=50)

    def held(predicted: Any) -> Any:
        return {"observed": y.tolist(), "predicted": predicted.tolist()}

    good = held(y + 0.1 * noise)
    assert got_worse(good, held(y + 0.1 * noise[::-1]), None) == ""
    assert "RMSE 0.9" in got_worse(good, held(np.zeros(50)), None)
    assert got_worse(held(y), held(y + 1e-8 * noise), None) == ""
    few = [{name: cells[:5] for name, cells in each.items()} for each in (good, held(np.zeros(50)))]
    assert got_worse(*few, None) == ""
    labels = np.array(["a", "b"], dtype=object)
    rows: Any = {"observed": ["a"] * 20, "predicted": ["a"] * 20}
    sure, unsure = (rows | {"probability": [p] * 20} for p in ([0.9, 0.1], [0.5, 0.5]))
    assert "log loss 0.6931 instead of 0.1054" in got_worse(sure, unsure, (labels, labels))
    assert got_worse(unsure, sure, (labels, labels)) == ""
