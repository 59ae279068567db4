import json
import math
import re
from pathlib import Path

import polars as pl
import pytest

from polyladder import load
from polyladder.cli.optimize import optimize, outward, pairs, read_ends, shown
from tests.cli.examples import examples_of
from tests.cli.tables import run, sentence
from tests.cli.test_certify import files  # noqa: F401  the fixture
from tests.robustness.tables import classifier


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
def test_log_odds_are_called_so_and_whole_numbers_and_gaps_are_shown_as_such(tmp_path: Path) -> None:
    classifier(2).save(tmp_path / "two.ladder")
    lines = run("optimize", tmp_path / "two.ladder", "--maximize", "--time-budget", "0.2").stdout.splitlines()
    rows = dict(line.split() for line in lines[:-2])
    assert rows["b"] in {"0", "1", "2", "3", "4", "5"}
    said = re.fullmatch(r"Highest log-odds of 'low' found: (\S+), probability (\S+)\.", lines[-2])
    assert said is not None
    assert 1 / (1 + math.exp(-float(said[1]))) == pytest.approx(float(said[2]), rel=1e-3)
    old = run("optimize", tmp_path / "two.ladder", "--seconds", "0.2", "--json")
    assert old.stderr == "--seconds is called --time-budget; the old name ends with version 0.3.\n"
    found = json.loads(old.stdout)
    assert found["meaning"] == "log-odds of 'low'"
    assert [shown(cell) for cell in (None, "a", 3.0, 0.123456789, 1e20)] == ["(missing)", "a", "3", "0.123457", "1e+20"]


@pytest.mark.parametrize("bound", [1.2345678, -1.2345678, 1.2345612e9, -1.2345612e-9, 0.5, 0.0])
def test_a_bound_is_proven_as_it_is_printed(bound: float) -> None:
    above, below = (float(outward(bound, maximize)) for maximize in (True, False))
    assert below <= bound <= above
    assert above - below <= 1.1e-5 * abs(bound)


def test_a_file_of_an_earlier_version_says_what_it_lacks() -> None:
    old = Path(__file__).resolve().parents[1] / "fixtures" / "lpnn_regressor_0_1.ladder"
    with pytest.warns(UserWarning, match="keeps no training rows, so the search starts from random ones"):
        assert "Lowest prediction found" in run("optimize", old, "--time-budget", "0.2").stdout


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
    assert pairs("--fix", ["a=b=3"], "be a pair") == [("a=b", "3")]
    assert read_ends("a", "-1:2") == (-1.0, 2.0)
    with pytest.raises(ValueError, match="--fix must have the form"):
        pairs("--fix", ["nothing"], "have the form column=value")
