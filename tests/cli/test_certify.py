import csv
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyladder import load
from polyladder.automatic.card import make_card
from polyladder.cli.certify import certify, read_radius
from tests.cli.tables import run, sentence
from tests.robustness.tables import classifier, mixed_table, moved, regressor


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models of numbers and of classes, and rows with their target."""
    folder = tmp_path_factory.mktemp("robust")
    X, y = mixed_table()
    for name, model in (("numbers", regressor()), ("classes", classifier(3))):
        model.card_ = make_card(model, X, target="y", held_out=None)
        model.save(folder / f"{name}.ladder")
        model.card_ = None
    X[:12].with_columns(y=y[:12]).write_csv(folder / "rows.csv")
    X[:12].with_columns(y=classifier(3).predict(X[:12])).write_csv(folder / "labels.csv")
    X[:12].write_csv(folder / "bare.csv")
    return folder


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.slow
def test_ranges_of_numbers(files: Path) -> None:
    lines = read(run("certify", files / "numbers.ladder", files / "bare.csv", "-r", "a=0.3", "-r", "c=0.1").stdout)
    X, _ = mixed_table()
    predicted = load(files / "numbers.ladder").predict(moved(X[:12], {"a": 0.3, "c": 0.1}, 100)).reshape(12, 100)
    low, high = (np.array([float(line[name]) for line in lines]) for name in ("lower", "upper"))
    assert (predicted >= low[:, None] - 1e-9).all()
    assert (predicted <= high[:, None] + 1e-9).all()
    tight = read(run("certify", files / "numbers.ladder", files / "bare.csv", "-r", "0.3", "--time-budget", 2).stdout)
    loose = read(run("certify", files / "numbers.ladder", files / "bare.csv", "-r", "0.3").stdout)
    assert all(float(t["upper"]) <= float(u["upper"]) + 1e-9 for t, u in zip(tight, loose, strict=True))


def test_the_old_name_of_the_time_budget_is_said_to_be_old(files: Path) -> None:
    result = run("certify", files / "numbers.ladder", files / "bare.csv", "-r", "0.001", "--budget", 0)
    assert result.stderr == "--budget is called --time-budget; the old name ends with version 0.3.\n"
    assert len(read(result.stdout)) == 12
    shown = run("certify", "--help").stdout
    assert "--time-budget" in shown
    assert "--budget " not in shown


def test_classes_that_stay(files: Path) -> None:
    lines = read(run("certify", files / "classes.ladder", files / "bare.csv", "--radius", "0.001").stdout)
    assert [line["prediction"] for line in lines] == classifier(3).predict(mixed_table()[0][:12]).tolist()
    assert {line["stays"] for line in lines} <= {"true", "false"}
    assert "true" in {line["stays"] for line in lines}


@pytest.mark.slow
@pytest.mark.parametrize(("model", "rows"), [("numbers", "rows"), ("classes", "labels")])
def test_the_plot(files: Path, tmp_path: Path, model: str, rows: str) -> None:
    place = tmp_path / "plot.png"
    run("certify", files / f"{model}.ladder", files / f"{rows}.csv", "--plot", place, "--radius", "0.05")
    assert place.read_bytes()[:4] == b"\x89PNG"
    said = sentence("certify", files / f"{model}.ladder", files / "bare.csv", "--plot", place, "--force")
    assert said.startswith("--plot needs rows with the target")


@pytest.mark.slow
def test_the_examples_of_the_help_run(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they stand, with files and columns of this table."""
    from tests.cli.examples import examples_of

    monkeypatch.chdir(tmp_path)
    shown = certify.__doc__ or ""
    names = {"houses.ladder": files / "numbers.ladder", "new.csv": files / "bare.csv", "houses.csv": files / "rows.csv"}
    examples = examples_of(shown, names | {"area=5": "a=0.5", "age=1": "c=0.1", "--time-budget 10": "--time-budget 1"})
    assert len(examples) == 3
    for words in examples:
        run(*words)
    assert pl.read_csv("ranges.csv").columns == ["prediction", "lower", "upper"]
    assert Path("robustness.png").exists()


def test_radii_of_a_command() -> None:
    assert read_radius(None) == 0.01
    assert read_radius(["0.2"]) == 0.2
    assert read_radius(["a=1", "b=2.5"]) == {"a": 1.0, "b": 2.5}
    for wrong in (["a", "b=1"], ["-1"], ["a=far"], ["nan"], ["=3"]):
        with pytest.raises(ValueError, match="radius"):
            read_radius(wrong)
