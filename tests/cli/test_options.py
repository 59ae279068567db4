"""Every option of the commands for tables, through the real command."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyladder import load
from tests.cli.tables import run, sentence, shop, small_models, small_table, write, write_quoted

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures(small_models.__name__)]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_quoted(tmp_path / "shop.csv", shop())


def fit(table: Path, *options: object, target: str = "y"):
    model = table.parent / "m.ladder"
    result = run("fit", table, "-t", target, "-o", model, "--time-budget", 0, *options)
    return load(model), result


def test_the_first_lines_say_how_columns_were_understood(table: Path) -> None:
    model, result = fit(table, "--drop", "kind")
    lines = result.stderr.splitlines()
    assert lines[0].startswith("y holds 120 different numbers from -")
    assert lines[0].endswith(": regression.")
    assert lines[1] == "  customer_id  left out: it is an id by its name, and differs from row to row"
    assert lines[2].startswith("  fee          number: $1,0")
    assert lines[3].startswith("  sold         date: 14.01.2021 to 28.11.2022")
    assert lines[4] == "  garden       boolean: 2 levels (no, Yes)"
    assert lines[5].startswith("  zip          category: codes with leading zeros, 3 levels (")
    assert [c["written"]["kind"] for c in model.card_["columns"]] == [
        "number",
        "date",
        "boolean",
        "category",
        "number",
        "category",
    ]
    # New rows may spell yes in another way.
    other = write_quoted(
        table.parent / "new.csv", {**shop(), "garden": ["YES" if v == "Yes" else "n" for v in shop()["garden"]]}
    )
    assert (
        run("predict", table.parent / "m.ladder", other).stdout
        == run("predict", table.parent / "m.ladder", table).stdout
    )


def test_keep_and_schema(table: Path) -> None:
    model, _ = fit(table, "--keep", "customer_id", "--drop", "kind")
    assert model.feature_names_in_[0] == "customer_id"
    schema = table.parent / "s.toml"
    schema.write_text('[columns]\nzip = "number"\nkind = "drop"\nshop = "drop"\n')
    model, _ = fit(table, "--schema", schema)
    assert model.feature_names_in_.tolist() == ["fee", "sold", "garden", "zip", "a"]
    assert model.card_["columns"][3]["kind"] == "number"
    schema.write_text('[columns]\nzap = "number"\n')
    assert "schema must name a column of" in sentence("fit", table, "-t", "y", "--schema", schema)


def test_other_rows_to_judge_by(table: Path) -> None:
    other = write_quoted(table.parent / "other.csv", {name: cells[:33] for name, cells in shop().items()})
    model, result = fit(table, "--drop", "kind", "--test", other)
    assert "33 held-out rows" in result.stdout
    assert model.card_["selection"]["held_out"] == 33
    assert "Fitted to all 120 rows" in result.stdout


def test_groups_and_time(table: Path) -> None:
    model, result = fit(table, "--drop", "kind", "--group", "shop")
    assert "shop" not in model.feature_names_in_
    assert "Whole groups of shop are held out; shop is not used as a feature." in result.stderr
    assert model.card_["selection"]["held_out"] in (13, 14)
    model, result = fit(table, "--drop", "kind", "--time", "sold")
    assert "sold" not in model.feature_names_in_
    assert "rows by sold are held out; sold is not used as a feature." in result.stderr
    model, _ = fit(table, "--drop", "kind", "--time", "sold", "--keep", "sold")
    assert "sold" in model.feature_names_in_
    assert "must not both be given" in sentence("fit", table, "-t", "y", "--group", "shop", "--time", "sold")
    assert "another column than the target" in sentence("fit", table, "-t", "y", "--time", "y")


def test_no_compare_metrics_threads_and_quiet(table: Path) -> None:
    metrics = table.parent / "metrics.json"
    _, result = fit(
        table, "--drop", "y", "--no-compare", "--metrics", metrics, "--threads", 1, "--quiet", target="kind"
    )
    assert (result.stdout, result.stderr) == ("", "")
    found = json.loads(metrics.read_text())
    assert [score["model"] for score in found["scores"]] == ["ladder"]
    assert {"error", "log_loss", "auc", "average_precision", "f1"} <= set(found["scores"][0])
    assert sum(map(sum, found["confusion"])) == found["held_out"] == 18
    assert sum(found["class_counts"].values()) == 120


def test_scores_and_confusion_of_classes_are_shown(table: Path) -> None:
    _, result = fit(table, "--drop", "y", target="kind")
    assert all(word in result.stdout for word in ("AUC", "F1", "av. prec.", "log loss", "share of all rows"))


def test_balance_raises_the_probability_of_a_rare_class(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    rare = rng.random(400) < 1 / (1 + np.exp(3.5 - a))
    columns = {
        "a": [str(v) for v in a],
        "b": [str(v) for v in rng.normal(size=400)],
        "y": ["ill" if r else "well" for r in rare],
    }
    path = write(tmp_path / "t.csv", columns)
    plain = fit(path)[0].predict_proba(pl.read_csv(path).drop("y"))[:, 0]
    balanced = fit(path, "--balance")[0].predict_proba(pl.read_csv(path).drop("y"))[:, 0]
    assert balanced.mean() > 2 * plain.mean()
    numbers = write(tmp_path / "n.csv", small_table())
    assert "balance must be left out" in sentence("fit", numbers, "-t", "y", "--balance", "-o", tmp_path / "n.ladder")


def test_a_leak_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", {**small_table(), "copy": [str(2 * float(v)) for v in small_table()["y"]]})
    _, result = fit(path)
    assert "Column 'copy' alone explains 100 % of y" in result.stderr


def test_classes_are_predicted_with_threshold_id_and_columns(table: Path) -> None:
    fit(table, "--drop", "y", target="kind")
    model = table.parent / "m.ladder"
    plain = pl.read_csv(run("predict", model, table).stdout.encode())
    assert plain.columns == ["prediction", "probability", "probability of high", "probability of low"]
    assert (plain["probability of high"] + plain["probability of low"]).to_list() == pytest.approx([1.0] * 120)
    low = pl.read_csv(run("predict", model, table, "--threshold", 0.05, "--id", "customer_id").stdout.encode())
    assert low.columns[0] == "customer_id"
    assert low["customer_id"].cast(str).to_list() == shop()["customer_id"]
    assert ((low["probability of low"] >= 0.05) == (low["prediction"] == "low")).all()
    kept = pl.read_csv(run("predict", model, table, "--keep-columns").stdout.encode(), infer_schema=False)
    assert kept.columns == [*shop(), *plain.columns]
    assert kept["zip"].to_list() == shop()["zip"]
    assert sentence("predict", model, table, "--id", "nobody").startswith("--id must name a column")
    fit(table, "--drop", "kind")
    assert "--threshold must be left out for a model of numbers" in sentence(
        "predict", model, table, "--threshold", 0.5
    )


def test_a_budget_bounds_the_whole_run(tmp_path: Path) -> None:
    """Without small models: the real ladders and rivals, in a process of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 12)).round(4)
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=30_000)
    pl.DataFrame({**{f"x{i}": X[:, i] for i in range(12)}, "y": y}).write_csv(tmp_path / "t.csv")
    words = [
        "fit",
        str(tmp_path / "t.csv"),
        "-t",
        "y",
        "-o",
        str(tmp_path / "m.ladder"),
        "--time-budget",
        "6",
        "--threads",
        "1",
    ]
    code = "import sys; from polyladder.cli.start import run; run()"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    # On one thread computing takes no longer than the clock, however busy the machine is.
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 12
    scores = load(tmp_path / "m.ladder").card_["scores"]
    assert scores[0]["r2"] > 0.8
    assert "no time" in result.stderr or len(scores) == 5
