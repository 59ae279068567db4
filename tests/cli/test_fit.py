import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris, make_friedman1

from polyladder import LPNNRegressor, load
from polyladder.automatic.fit_table import held_out_rows, read_training_table
from polyladder.automatic.options import FitOptions
from polyladder.cli.fit import calibration_words
from tests.cli.tables import as_text, run, sentence, small_models, small_table, write
from tests.real_data import needs_data, real_dataset

pytestmark = pytest.mark.slow


def held_out_error(card) -> float:
    observed, predicted = (np.array(card["held_out"][key]) for key in ("observed", "predicted"))
    return float(np.sqrt(np.mean((observed - predicted) ** 2)))


def test_a_fit_ends_with_a_table_and_a_file(tmp_path: Path) -> None:
    path, model = write(tmp_path / "t.csv", small_table(80)), tmp_path / "m.ladder"
    result = run("fit", path, "--target", "y", "--output", model, "--time-budget", 0)
    assert result.stderr.splitlines() == [
        "y holds 80 different numbers from -6.788 to 11.756: regression.",
        "  a  number: -2.325 to 2.002",
        "  b  number: -2.398 to 1.689",
    ]
    for name in ("ladder", "mean", "linear", "cubic ridge", "HistGradientBoosting", "12 held-out rows"):
        assert name in result.stdout
    assert f"Saved to {model}" in result.stdout
    estimator = load(model)
    card = estimator.card_
    assert [score["model"] for score in card["scores"]] == [
        "ladder",
        "mean",
        "linear",
        "cubic ridge",
        "HistGradientBoosting",
    ]
    assert card["scores"][0]["rmse"] == pytest.approx(held_out_error(card))
    assert card["scores"][0]["rmse"] < 0.1 * card["scores"][1]["rmse"]
    assert "log lik." in result.stdout
    assert calibration_words(card)[0] in " ".join(result.stdout.split())
    assert (card["target"], card["task"], card["rows"], card["seed"]) == ("y", "regression", 80, 0)
    assert card["source"] == str(path)
    # Held-out rows were not fitted, and the model that is saved was fitted to all rows.
    rows = pl.read_csv(path)
    assert not np.allclose(estimator.predict(rows.select("a", "b"))[:12], card["held_out"]["predicted"])


def test_the_words_on_calibration_are_those_of_the_card() -> None:
    coverage = {"5": 0.1, "50": 0.493, "80": 0.81, "90": 0.914, "95": 0.96}
    said = {"coverage": coverage, "half_width": 1904.2, "scored": 1030}
    money = {"kind": "number", "style": {"prefix": "$"}}
    card = {"scores": [said], "residual_quantiles": {"90": 7.016}}
    assert calibration_words(card) == [
        "50, 80, 90 and 95 % intervals hold 49, 81, 91 and 96 % of 1,030 held-out rows; half of the 90 % intervals are "
        "within ±1900."
    ]
    assert "$" in calibration_words(card | {"target_written": money})[0]
    plain = card | {"scores": [{"rmse": 1.0}]}
    assert calibration_words(plain) == ["90 % of held-out rows lie within 7.016 of the prediction."]
    assert calibration_words(plain | {"residual_quantiles": {}}) == []
    classes = card | {"scores": [{"calibration_error": 0.0447}]}
    assert calibration_words(classes) == [
        "On held-out rows, stated probabilities differ from what happened by 4.5 points on average."
    ]


def test_a_loss_is_chosen_and_said(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=120)
    y = 2 * a + 1 + 0.1 * rng.normal(size=120)
    y[::8] += 300
    path = write(tmp_path / "t.csv", {"a": [f"{v}" for v in a], "y": [f"{v}" for v in y]})
    model, metrics = tmp_path / "m.ladder", tmp_path / "metrics.json"
    options = ("-t", "y", "-o", model, "--time-budget", 0, "--no-compare")
    result = run("fit", path, *options, "--loss", "huber", "--metrics", metrics)
    assert "Fitted to all 120 rows by the huber loss: a linear function in 1 input." in " ".join(result.stdout.split())
    found = load(model)
    assert (found.loss, found.card_["loss"], found.card_["settings"]["loss"]) == ("huber",) * 3
    assert found.card_["selection"]["measure"] == "Huber loss"
    assert json.loads(metrics.read_text())["loss"] == "huber"
    assert found.predict(pl.DataFrame({"a": [0.0]}))[0] == pytest.approx(1, abs=0.1)
    said = sentence("fit", path, *options, "--loss", "hinge")
    assert said == "loss must be one of 'squared', 'huber'; got 'hinge'."
    said = sentence("fit", path, *options, "--loss", "huber", "--bayesian")
    assert said == "A posterior has its own likelihood: loss must be left out; got 'huber'."


def friedman(path: Path, rows: int = 150) -> Path:
    X, y = make_friedman1(rows, noise=1.0, random_state=0)
    pl.DataFrame({**{f"x{i}": X[:, i] for i in range(10)}, "y": y}).write_csv(path)
    return path


@pytest.mark.usefixtures(small_models.__name__)
def test_a_small_ladder_stands_for_a_large_model_unless_told_otherwise(tmp_path: Path) -> None:
    path, model = friedman(tmp_path / "t.csv"), tmp_path / "m.ladder"
    options = ("-t", "y", "-o", model, "--drop", "x9", "--report")
    said = " ".join(run("fit", path, *options, "--compact", "50%").stdout.split())
    small = load(model)
    chosen = small.selection_.compact
    assert chosen.startswith("One ladder of order")
    assert chosen in said
    assert small.card_["selection"]["compact"] == chosen
    assert json.dumps(chosen) in (tmp_path / "m.html").read_text()
    assert len(small.members_) == 1
    assert small.compact == 0.5
    said = run("fit", path, *options, "--compact", "no").stdout
    large = load(model)
    assert (large.compact, large.selection_.compact, large.card_["selection"]["compact"]) == (False, "", "")
    assert "stands for" not in said
    assert sum(each.n_weights for each in large.members_) > 2 * small.members_[0].n_weights


@pytest.mark.parametrize("compact", ["yes", "0", "-1%", "nan"])
def test_compact_must_be_a_share(tmp_path: Path, compact: str) -> None:
    path = write(tmp_path / "t.csv", small_table())
    said = sentence("fit", path, "-t", "y", "-o", tmp_path / "m.ladder", "--compact", compact)
    assert said == f"--compact must be auto, no, or a share above 0 such as 5%; got {compact!r}."


def test_compact_is_refused_where_nothing_is_selected(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())
    options = ("-t", "y", "-o", tmp_path / "m.ladder", "--compact", "no")
    said = sentence("fit", path, *options, "--bayesian")
    assert said == "A posterior is kept as it is: compact must be left out; got False."
    said = sentence("fit", path, *options, "--solver", "adam")
    assert said == "A ladder of gradient steps is kept as it is: compact must be left out; got False."
    said = sentence("fit", path, *options, "--memory", 0.000001)
    assert said.startswith("--compact must be left out for")


@pytest.mark.usefixtures(small_models.__name__)
def test_the_command_selects_as_the_estimator_does(tmp_path: Path) -> None:
    path, model = write(tmp_path / "t.csv", small_table(60)), tmp_path / "m.ladder"
    result = run("fit", path, "-t", "y", "-o", model)
    assert "candidates by their predictions" in " ".join(result.stdout.split())
    found = load(model)
    errors = dict(found.card_["selection"]["order_path"])
    assert set(errors) >= {1, 2, 3, 4, 6, 8}
    table = read_training_table(str(path), "y")
    # It selects on the rows that are not held out, and once.
    (rows, _), _ = held_out_rows(table, FitOptions())
    alone = LPNNRegressor(random_state=0).fit(*rows)
    assert alone.selection_ == found.selection_


def test_the_first_line_says_where_a_constant_won(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    noise = pl.DataFrame({"a": rng.normal(size=60), "y": rng.choice(["no", "yes"], 60)})
    noise.write_csv(tmp_path / "t.csv")
    said = run("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.ladder").stdout
    floor = load(tmp_path / "m.ladder").card_["selection"]["floor"]
    assert floor in ("constant", "linear")
    assert said.startswith(f"A {floor} model won")


@pytest.mark.usefixtures(small_models.__name__)
def test_json_is_the_card_and_nothing_else(tmp_path: Path) -> None:
    path, model = write(tmp_path / "t.csv", small_table()), tmp_path / "m.ladder"
    printed = json.loads(run("fit", path, "-t", "y", "-o", model, "--time-budget", 0, "--json").stdout)
    assert printed.pop("model") == str(model)
    assert printed.pop("report") is None
    assert printed == load(model).card_


@pytest.mark.usefixtures(small_models.__name__)
def test_quiet_says_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())
    assert run("fit", path, "-t", "y", "-o", tmp_path / "m.ladder", "--time-budget", 0, "-q").output == ""


@pytest.mark.usefixtures(small_models.__name__)
def test_the_seed_decides_everything_else(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())

    def prediction(seed: int) -> list[float]:
        card = run("fit", path, "-t", "y", "-o", tmp_path / "m.ladder", "--time-budget", 0, "--json", "--seed", seed)
        return json.loads(card.stdout)["held_out"]["predicted"]

    assert prediction(1) == prediction(1) != prediction(2)


@pytest.mark.usefixtures(small_models.__name__)
def test_classes_are_guessed_from_text_and_from_two_numbers(tmp_path: Path) -> None:
    table = small_table(60)
    table["kind"] = ["low" if float(y) < 0 else "high" if float(y) > 2 else "mid" for y in table["y"]]
    table["flag"] = [str(int(float(y) > 0)) for y in table["y"]]
    table["grade"] = [str(i % 5) for i in range(60)]
    path, model = write(tmp_path / "t.csv", table), tmp_path / "m.ladder"
    options = ("-o", model, "--time-budget", 0, "--drop", "y")
    assert "kind holds 3 classes: classification." in run("fit", path, "-t", "kind", *options).stderr
    lines = run("predict", model, path).stdout.splitlines()
    assert lines[0] == "prediction,probability,probability of high,probability of low,probability of mid"
    assert {line.split(",")[0] for line in lines[1:]} == {"low", "mid", "high"}
    assert load(model).card_["classes"] == ["high", "low", "mid"]
    assert "error" in load(model).card_["scores"][0]
    assert "flag holds 2 different whole numbers: classification." in run("fit", path, "-t", "flag", *options).stderr
    assert set(load(model).classes_.tolist()) == {0, 1}
    said = run("fit", path, "-t", "grade", *options).stderr
    assert (
        "grade holds 5 different whole numbers from 0 to 4: regression; set the task to classification if they are "
        "classes." in said
    )
    run("fit", path, "-t", "grade", *options, "--task", "classification")
    assert load(model).classes_.tolist() == [0, 1, 2, 3, 4]
    assert "must hold numbers for regression" in sentence("fit", path, "-t", "kind", *options, "--task", "regression")


def test_iris(tmp_path: Path) -> None:
    data = load_iris(as_frame=True)
    frame = data.frame.assign(target=data.target_names[data.target])
    frame.to_csv(tmp_path / "iris.csv", index=False)
    run("fit", tmp_path / "iris.csv", "-t", "target", "-o", tmp_path / "m.ladder", "--time-budget", 0)
    card = load(tmp_path / "m.ladder").card_
    assert card["scores"][0]["error"] <= 0.1
    assert card["columns"][0]["unit"] == "cm"
    assert load(tmp_path / "m.ladder").solver_ == "alternating"


@pytest.mark.usefixtures(small_models.__name__)
def test_rare_classes_are_left_out(tmp_path: Path) -> None:
    table = small_table(60)
    table["kind"] = ["a", "b"] * 29 + ["odd", "a"]
    path = write(tmp_path / "t.csv", table)
    result = run("fit", path, "-t", "kind", "-o", tmp_path / "m.ladder", "--time-budget", 0)
    assert "Classes with fewer than 3 rows are left out: odd." in result.stderr
    assert load(tmp_path / "m.ladder").classes_.tolist() == ["a", "b"]


@pytest.mark.usefixtures(small_models.__name__)
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("fit", "-", "-t", "y", "--time-budget", 0, input=as_text(small_table()))
    assert load("model.ladder").card_["source"] == "standard input"
    lines = run("predict", "model.ladder", "-", input=as_text(small_table())).stdout.splitlines()
    assert len(lines) == 41


@pytest.mark.usefixtures(small_models.__name__)
def test_the_file_is_called_like_the_table_and_must_have_a_folder(tmp_path: Path, monkeypatch) -> None:
    path = write(tmp_path / "prices.2020.csv", small_table())
    monkeypatch.chdir(tmp_path)
    run("fit", path, "-t", "y", "--time-budget", 0)
    assert (tmp_path / "prices.ladder").is_file()
    assert "must lie in an existing folder" in sentence("fit", path, "-t", "y", "-o", tmp_path / "no" / "m.ladder")


@pytest.mark.usefixtures(small_models.__name__)
def test_solvers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.estimators.batch.plans.usual_epochs", lambda *_: 2)
    path = write(tmp_path / "t.csv", small_table())
    for solver in ("alternating", "adam"):
        run("fit", path, "-t", "y", "-o", tmp_path / "m.ladder", "--time-budget", 0, "--solver", solver)
        assert load(tmp_path / "m.ladder").solver_ == solver


@pytest.mark.usefixtures(small_models.__name__)
def test_bayesian_intervals_come_from_the_posterior(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.estimators.bayesian.BayesianEstimator._lengths", lambda *_: (3, 5))
    path, model = write(tmp_path / "t.csv", small_table()), tmp_path / "m.ladder"
    told = run("fit", path, "-t", "y", "-o", model, "--time-budget", 0, "--bayesian").stderr
    assert told.count("The chains have not settled: R-hat is up to") == 1
    assert "In Python, BayesianLPNNRegressor runs them for longer" in told
    assert any(note.startswith("The chains have not settled") for note in load(model).card_["notes"])
    estimator = load(model)
    assert estimator.card_["scores"][0]["model"] == "Bayesian ladder"
    rows = list(csv.reader(io.StringIO(run("predict", model, path, "--interval", 80).stdout)))
    assert rows[0] == ["prediction", "lower", "upper"]
    lower, upper = estimator.predict_interval(pl.read_csv(path).select("a", "b"), level=0.8)
    assert np.array_equal(np.array(rows[1:], dtype=float)[:, 1:], np.stack([lower, upper], 1))


@pytest.mark.usefixtures(small_models.__name__)
def test_the_report_lies_beside_the_model(tmp_path: Path) -> None:
    pytest.importorskip("polyladder.report.page")
    path, model = write(tmp_path / "t.csv", small_table()), tmp_path / "m.ladder"
    result = run("fit", path, "-t", "y", "-o", model, "--time-budget", 0, "--report")
    assert f"Report: {tmp_path / 'm.html'}" in result.stdout
    assert "<html" in (tmp_path / "m.html").read_text()
    run("report", model, path, "-o", tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text()
    without = write(tmp_path / "x.csv", {name: cells for name, cells in small_table().items() if name != "y"})
    run("report", model, without, "-o", tmp_path / "r2.html")
    run("report", model, "-o", tmp_path / "r3.html")
    # Rows travel with the page only if they were given.
    assert (tmp_path / "r3.html").stat().st_size < (tmp_path / "r2.html").stat().st_size


@needs_data("concrete")
def test_concrete_is_fitted_well_even_without_a_search(tmp_path: Path) -> None:
    data = real_dataset("concrete")
    frame = pl.DataFrame(data.features, schema=list(data.feature_names), orient="row")
    frame = frame.with_columns(pl.Series("strength", data.target)).sample(fraction=1.0, shuffle=True, seed=0)
    held = round(0.15 * len(frame))
    frame[held:].write_csv(tmp_path / "concrete.csv")
    frame[:held].write_csv(tmp_path / "held.csv")
    # Held-out rows of their own: the model is fitted once.
    settings = ("-o", tmp_path / "m.ladder", "--time-budget", 0, "--no-compare", "--test", tmp_path / "held.csv")
    run("fit", tmp_path / "concrete.csv", "-t", "strength", *settings)
    assert load(tmp_path / "m.ladder").card_["scores"][0]["rmse"] <= 5.2


def test_the_real_command_line(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())

    def polyladder(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        code = "from polyladder.cli.main import app; app()"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, **options)

    bad = polyladder("fit", path, "--target", "z")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.startswith("polyladder: target must name a column")
    assert bad.stderr.count("\n") == 1
    usage = polyladder("fit", path)
    assert usage.returncode == 2
    assert "--target" in usage.stderr
    X = np.array([small_table()["a"], small_table()["b"]], dtype=float).T
    LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=1).fit(X, X.sum(1)).save(tmp_path / "m.ladder")
    good = polyladder("predict", "m.ladder", "-", input="p,q\n1,2\n3,4\n")
    assert (good.returncode, good.stderr) == (0, "")
    assert len(good.stdout.splitlines()) == 3
