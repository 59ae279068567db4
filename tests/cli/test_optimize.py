import json
from pathlib import Path

import polars as pl
import pytest

from polyladder import load
from polyladder.cli.optimize import optimize, pairs, read_ends
from tests.cli.examples import examples_of
from tests.cli.tables import run, sentence
from tests.cli.test_certify import files  # noqa: F401  the fixture


@pytest.mark.slow
def test_the_best_row_is_predicted_as_said(files: Path) -> None:  # noqa: F811
    path = files / "numbers.ladder"
    found = json.loads(run("optimize", path, "--maximize", "-b", "a=-1:1", "--fix", "k=y", "--json").stdout)
    assert found["row"]["k"] == "y"
    assert -1 <= found["row"]["a"] <= 1
    assert load(path).predict(pl.DataFrame([found["row"]])) == pytest.approx(found["prediction"])
    assert found["bound"] >= found["prediction"]
    assert found["gap"] <= 0.011 * abs(found["prediction"])
    shown = run("optimize", path, "--minimize").stdout
    assert "Lowest prediction found" in shown
    assert "Proven: none is below" in shown


@pytest.mark.slow
def test_the_examples_of_the_help_run(files: Path) -> None:  # noqa: F811
    columns = {"area=50:120": "a=-1:1", "street=paved": "k=x", "age=0:30": "c=-1:0"}
    examples = examples_of(optimize.__doc__ or "", {"houses.ladder": files / "numbers.ladder", **columns})
    assert len(examples) == 3
    for words in examples:
        run(*words)


def test_what_is_refused(files: Path) -> None:  # noqa: F811
    assert "--bounds must have the form column=low:high" in sentence("optimize", files / "numbers.ladder", "-b", "a=3")
    assert "must be a number; got 'far'" in sentence("optimize", files / "numbers.ladder", "-b", "a=0:far")
    assert pairs("--fix", ["a=b=3"]) == [("a=b", "3")]
    assert read_ends("a", "-1:2") == (-1.0, 2.0)
    with pytest.raises(ValueError, match="--fix must have the form"):
        pairs("--fix", ["nothing"])
