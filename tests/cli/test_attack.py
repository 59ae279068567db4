from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyladder import load
from polyladder.cli.attack import attack
from tests.cli.examples import examples_of
from tests.cli.tables import run, sentence
from tests.cli.test_certify import files, read  # noqa: F401  the fixture
from tests.robustness.tables import classifier, mixed_table


@pytest.mark.slow
def test_the_worst_rows_and_what_is_predicted_there(files: Path) -> None:  # noqa: F811
    lines = read(run("attack", files / "numbers.ladder", files / "rows.csv", "-r", "0.05").stdout)
    X, y = mixed_table()
    model = load(files / "numbers.ladder")
    worst = pl.DataFrame(lines).select(pl.col("a", "b", "still", "c").cast(pl.Float64), "k")
    predicted = np.array([float(line["prediction"]) for line in lines])
    assert np.allclose(model.predict(worst), predicted)
    error = np.array([float(line["error"]) for line in lines])
    assert np.allclose(np.abs(predicted - y[:12]), error)
    assert (error >= np.abs(model.predict(X[:12]) - y[:12])).all()
    assert (np.array([float(line["bound"]) for line in lines]) >= error - 1e-9).all()


def test_classes_that_were_changed(files: Path) -> None:  # noqa: F811
    lines = read(run("attack", files / "classes.ladder", files / "labels.csv", "-r", "0.15").stdout)
    before = classifier(3).predict(mixed_table()[0][:12]).tolist()
    changed = [line["prediction"] != label for line, label in zip(lines, before, strict=True)]
    assert changed == [line["success"] == "true" for line in lines]


@pytest.mark.slow
def test_the_examples_of_the_help_run(
    files: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"houses.ladder": files / "numbers.ladder", "houses.csv": files / "rows.csv", "area=5": "a=0.2"}
    columns = {"--frozen area": "--frozen a", "--integer rooms": "--integer b", "--changing street": "--changing k"}
    examples = examples_of(attack.__doc__ or "", names | columns)
    assert len(examples) == 3
    for words in examples:
        run(*words)
    assert "bound" in pl.read_csv("worst.csv").columns


def test_rows_without_a_target_are_refused(files: Path) -> None:  # noqa: F811
    said = sentence("attack", files / "numbers.ladder", files / "bare.csv")
    assert said.startswith("ROWS must have the target")
