import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNRegressor, load
from polyladder.cli.explain import plot, show_formula, term_words
from polyladder.explain.terms import Formula, Term
from tests.cli.tables import run, sentence, shop, small_models, small_table, write, write_quoted
from tests.cli.test_predict import model
from tests.export.estimators import fitted

__all__ = ["model"]


@pytest.mark.slow
def test_explain_shows_order_terms_strengths_and_an_exact_curve(model: Path, tmp_path: Path) -> None:
    shown = run("explain", model).stdout
    assert shown.startswith("y: a polynomial of order 3 in 2 inputs, fitted to 40 rows.")
    assert "8 of 10 terms, in scaled inputs." in shown
    assert "a x b" in shown
    assert "exact minimum" in shown
    path = write(tmp_path / "t.csv", small_table())
    found = json.loads(run("explain", model, path, "--feature", "b", "--terms", 10, "--json").stdout)
    assert found["formula"][0]["error"] == pytest.approx(0, abs=1e-9)  # all terms together are the polynomial
    estimator = load(model)
    curve = found["curve"]
    medians = np.median(np.array([small_table()["a"], small_table()["b"]], dtype=float), 1)
    rows = pl.DataFrame({"a": np.full(120, medians[0]), "b": curve["x"]})
    estimator.set_params(guard=False)
    assert estimator.predict(rows) == pytest.approx(curve["y"])
    assert curve["minimum"][1] <= min(curve["y"]) + 1e-9
    highest, value = curve["maximum"]
    at = pl.DataFrame({"a": [medians[0]], "b": [highest]})
    assert estimator.predict(at)[0] == pytest.approx(value)
    assert "must be a column of numbers; got 'c'. Choose among a, b." in sentence("explain", model, "--feature", "c")


def test_rows_to_average_over_are_at_least_two(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table(1))
    assert sentence("explain", model, path) == f"{path} must hold at least 2 rows; got 1."


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (Term(1.5, ()), "+ 1.5"),
        (Term(-0.012345, (("a", 1), ("b (m)", 3))), "- 0.0123 [a] [b (m)]^3"),
        (Term(123456.0, (("a", 2),)), "+ 1.23e+05 [a]^2"),
    ],
)
def test_a_monomial_as_text(term: Term, words: str) -> None:
    assert term_words(term) == words


def said(show: Any, *arguments: Any) -> str:
    lines: list[str] = []
    show(lambda words="", style="": lines.append(words), *arguments)
    return "\n".join(lines)


def test_a_formula_says_how_much_of_it_is_shown() -> None:
    terms = (Term(1.0, ()), Term(-2.0, (("a", 1),)))
    shown = said(show_formula, Formula("y", terms, 1234, False, 0.5, 0.25))
    assert shown == "\ny ~ + 1 - 2 [a]\n  2 of 1,234 terms, in scaled inputs; without the others it is off by 0.25."
    whole = said(show_formula, Formula("y", terms, 2, True, 0.0, None))
    assert whole.endswith("2 of 2 terms, in the columns' own units.")


def dots(lines: list[str]) -> list[tuple[int, int]]:
    """The dots of a plot as (column, level from the top), read off the braille."""
    bits = {1: (0, 0), 2: (0, 1), 4: (0, 2), 64: (0, 3), 8: (1, 0), 16: (1, 1), 32: (1, 2), 128: (1, 3)}
    found = []
    for k, line in enumerate(lines[:-1]):
        for j, letter in enumerate(line.partition("┤")[2]):
            for bit, (right, down) in bits.items():
                if (ord(letter) - 0x2800) & bit:
                    found.append((2 * j + right, 4 * k + down))
    return sorted(found)


def test_a_straight_line_is_drawn_from_corner_to_corner() -> None:
    lines = plot(range(40), list(range(40)), height=10)
    assert dots(lines) == [(i, 39 - i) for i in range(40)]
    assert lines[0].startswith("  39 ┤")
    assert lines[9].startswith("   0 ┤")
    assert lines[10].split() == ["0", "39"]
    assert len({len(line) for line in lines}) == 1


def test_steep_parts_have_no_gaps_and_flat_ones_are_one_line() -> None:
    found = dots(plot([0, 1, 2, 3], [0.0, 0.0, 1.0, 1.0], height=3))
    assert {level for column, level in found if column == 2} == set(range(11))
    assert {level for column, level in found if column == 1} == {11}
    assert dots(plot([0, 1], [5.0, 5.0], height=2)) == [(0, 0), (1, 0)]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    fitted("numbers")[0].save(tmp_path / "m.ladder")
    return tmp_path / "m.ladder"


@pytest.mark.slow
def test_a_formula_states_its_proven_error(exported: Path) -> None:
    short, long = (run("explain", exported, "--formula", "--tolerance", t).stdout for t in ("5%", "0.001"))
    assert "proven to be within" in short
    assert len(short) < len(long)
    found = json.loads(run("explain", exported, "--formula", "--tolerance", "5%", "--json").stdout)
    spread = float(fitted("numbers")[0].target_.high - fitted("numbers")[0].target_.low)
    assert 0 < found["errors"][0] < 0.06 * spread
    assert found["latex"].startswith(r"\text{prediction} = ")


@pytest.mark.slow
def test_a_formula_has_as_many_terms_as_asked_for(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())
    shown = run("explain", model, path, "--formula", "--terms", 4).stdout
    assert "4 terms; measured difference to the model" in shown
    assert "proven" not in shown
    # The table's target is 3 a + b^2; the formula is in its units.
    slope = re.search(r"\+ (\S+) \* a ", shown)
    assert slope is not None
    assert float(slope[1]) == pytest.approx(3, abs=0.2)
    assert " * b^2" in shown
    found = json.loads(run("explain", model, path, "--formula", "--terms", 4, "--json").stdout)
    assert found["text"] == shown.rstrip("\n")
    assert 0 <= found["shares"][0] < 0.05
    assert 0 <= found["differences"][0] < 1
    fewer = json.loads(run("explain", model, path, "--formula", "--terms", 2, "--json").stdout)
    assert fewer["shares"][0] > found["shares"][0]
    said = sentence("explain", model, "--formula", "--terms", 4, "--tolerance", "1%")
    assert said == "--terms and --tolerance must not both be given; got 4 and 1%. Choose one."
    assert sentence("explain", model, "--tolerance", "1%") == "--tolerance must come with --formula; got 1% alone."


def test_a_tolerance_must_be_a_share(exported: Path) -> None:
    said = sentence("explain", exported, "--formula", "--tolerance", "little")
    assert said.startswith("--tolerance must be a share such as 1% or 0.01")


pytestmark = pytest.mark.usefixtures(small_models.__name__)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_quoted(tmp_path / "shop.csv", shop())


@pytest.mark.slow
def test_a_row_is_explained(table: Path) -> None:
    path = table.parent / "m.ladder"
    run("fit", table, "-t", "y", "-o", path, "--time-budget", 0, "--drop", "kind")
    model = load(path)
    shown = run("explain", path, table, "--row", 17).stdout
    assert f"fee = {shop()['fee'][16]}" in shown
    assert f"sold = {shop()['sold'][16]}" in shown
    found = json.loads(run("explain", path, table, "--row", 17, "--json").stdout)
    (output,) = found["outputs"]
    total = output["start"] + sum(part["value"] for part in output["contributions"])
    assert total == pytest.approx(output["value"])
    assert found["prediction"] == pytest.approx(output["value"] + output["held"])
    second = json.loads(run("explain", path, table, "--row", 18, "--json").stdout)
    assert (second["outputs"][0]["start"], second["baseline"]) == (output["start"], "the training mean")
    other = json.loads(run("explain", path, table, "--row", 17, "--from-row", 17, "--json").stdout)
    assert [part["value"] for part in other["outputs"][0]["contributions"]] == [0.0] * len(model.feature_names_in_)
    assert "--row must come with DATA" in sentence("explain", path, "--row", 3)
    assert "--row must be at most 120" in sentence("explain", path, table, "--row", 121)
    assert "--from-row must come with --row" in sentence("explain", path, table, "--from-row", 3)
    curve = run("explain", path, "--feature", "sold").stdout
    assert re.search(r"\d\d\.\d\d\.20\d\d", curve.splitlines()[-2])


@pytest.mark.slow
def test_a_model_of_too_many_terms_has_a_short_formula_all_the_same(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(40, 30))
    LPNNRegressor(order=6, width=2, n_estimators=1, max_iter=1, random_state=0).fit(X, X[:, 0]).save(
        tmp_path / "m.ladder"
    )
    note, first, *_ = run("explain", tmp_path / "m.ladder", "--formula").stdout.splitlines()
    assert note.startswith("The model has 1,947,792 terms, too many to prove an error")
    assert first.startswith("prediction = ")
    found = json.loads(run("explain", tmp_path / "m.ladder", "--formula", "--json").stdout)
    assert found["note"] == note
    assert found["text"].startswith(first)
    assert "+" in run("explain", tmp_path / "m.ladder", "--terms", 5).stdout
