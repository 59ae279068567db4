import math

import pytest

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import only
from polyladder_lab.experiments.pages.page import html_page
from polyladder_lab.experiments.pages.render import (
    distribution_lines,
    distributions,
    exponent,
    interval,
    letter,
    lost_note,
    markdown,
    marks,
    measured,
    measures,
    number,
    published,
    sentence,
    terminal,
    verdicts,
)
from tests.lab.experiments.small import TEXT, filled, small


def test_markdown_shows_ours_the_papers_marks_and_verdicts():
    d = small()
    lines = markdown(compare(d, filled(d)))
    assert lines[0] == "| RMSE | diabetes |"
    assert lines[2] == "| FFR | 51.0 ± 1.0<br>paper 55 ± 3 |"
    assert lines[3] == "| FM | **56.0 ± 1.0** |"
    assert lines[4] == "| LPNN | 61.0 ± 1.0<sup>a</sup><br>paper 54 ± 3 |"
    assert verdicts(compare(d, filled(d))) == [
        "FFR, beside the paper's: better in diabetes.",
        "LPNN, beside the paper's: worse in diabetes.",
    ]


OURS = """
[[model]]
name = "our recipe"
ours = true
estimator = { class = "LPNNRegressor" }

[published]"""


def test_our_recipe_is_set_beside_the_papers_ladder_and_our_rival():
    d = small(TEXT.replace("\n[published]", OURS))
    steady = compare(d, filled(d, lambda model, split: 40.0 + model + split))
    assert verdicts(steady)[2:] == [
        "our recipe, beside the paper's LPNN: better in diabetes.",
        "our recipe, beside FFR by a paired t-test: worse in diabetes.",
    ]
    noisy = compare(d, filled(d, lambda model, split: 60.0 + model * (split - 1)))
    assert verdicts(noisy)[2:] == [
        "our recipe, beside the paper's LPNN: worse in diabetes.",
        "our recipe, beside FFR by a paired t-test: not told apart in diabetes.",
    ]
    assert all("our recipe" not in line for line in verdicts(compare(d, {})))
    assert verdicts(compare(only(d, "/our recipe"), filled(d))) == []


def test_rows_of_lost_commits_are_counted_by_model():
    d = small(TEXT.replace('metric = "rmse"', 'metric = "rmse"\nlost_commits = ["abc", "def"]'))
    rows = filled(d)
    assert lost_note(compare(d, rows)) == ""
    for row in rows.values():
        row |= {"column": "diabetes", "model": row.get("model", "FM"), "commit": "here"}
    lasts = [row for row in rows.values() if "value" in row]
    for row in [*lasts[:2], lasts[-1]]:
        row["commit"] = "abc"
    next(row for row in rows.values() if "folds" in row)["commit"] = "def"
    assert lost_note(compare(d, rows)) == (
        f"4 of the {len(rows)} stored rows were measured by commits that are no longer in the repository (def, abc), "
        "so the code behind them cannot be looked at: last fits (FFR 2, LPNN 1) and comparisons of settings (FM 1)."
    )
    assert "no longer in the repository (abc)" in lost_note(compare(only(d, "/LPNN"), rows))


def test_what_was_not_run_is_said():
    d = small()
    assert "not run" in markdown(compare(d, {}))[2]
    rows = filled(small(TEXT.replace("splits = 3", "splits = 2")))
    assert "2 of 3 splits" in markdown(compare(d, rows))[2]


def test_a_model_that_blew_up_is_named():
    d = small()
    rows = filled(d, lambda model, split: None if model == 1 and split == 2 else 50.0 + split)
    assert measured(compare(d, rows).cells["diabetes", "FM"], d) == "blew up"
    assert measured(compare(d, rows).cells["diabetes", "FFR"], d) == "51.0 ± 1.0"


def test_the_terminal_shows_the_same_numbers(capsys):
    from rich.console import Console

    d = small()
    Console(width=80).print(terminal(compare(d, filled(d))))
    out = capsys.readouterr().out
    assert "51.0 ± 1.0" in out
    assert "55 ± 3" in out


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [
        (0.0, "rmse", "0.00"),
        (123.4, "rmse", "123"),
        (12345.6, "rmse", "1.23e+04"),
        (-0.5, "rmse", "-0.500"),
        (0.5, "error", "0.5000"),
        (math.inf, "rmse", "blew up"),
        (math.nan, "error", "blew up"),
    ],
)
def test_numbers_have_three_digits_and_shares_four(value, metric, text):
    assert number(value, metric) == text


def test_exponents_are_those_of_scientific_notation():
    for value in (1e-7, 0.00123, 0.999, 1.0, 9.99, 10.0, 1234.5, -20.0):
        assert exponent(value) == int(f"{value:e}".partition("e")[2])


def test_cells_of_nothing_say_nothing():
    d = small()
    cell = compare(d, {}).cells["diabetes", "FM"]
    assert (measured(cell, d), published(cell), interval(cell, d.metric)) == ("", "", "")


def test_a_departure_marks_the_cells_that_it_touches():
    d = small()
    assert marks(d, "diabetes", "LPNN") == letter(0) == "a"
    assert marks(d, "diabetes", "FM") == ""
    assert sentence("it", {"a": "better"}, ("worse",)) == ""


def test_distributions_are_told_by_their_smallest_and_largest_distance():
    def each(variance, ks):
        return {"variance": variance, "ks": ks, "skewness": -ks, "kurtosis": 2 * ks}

    rows = [
        {"model": "LPNN-2", "distributions": [each(0.1, 0.02), each(0.2, 0.5), each(0.1, 0.04)]},
        {"model": "LPNN-3", "distributions": [each(0.1, 0.25)]},
    ]
    assert [(model, variance, len(found)) for model, variance, found in distributions(rows)] == [
        ("LPNN-2", 0.1, 2),
        ("LPNN-2", 0.2, 1),
        ("LPNN-3", 0.1, 1),
    ]
    lines = distribution_lines(rows)
    assert lines[2] == "| LPNN-2 | 0.1 | 0.02 to 0.04 | -0.04 to -0.02 | 0.04 to 0.08 |"
    assert len(lines) == 5


@pytest.mark.parametrize(("best", "winner"), [("lowest", "FM"), ("highest", "LPNN"), ("", None)])
def test_the_best_of_a_measure_is_bold_among_models_measured_on_as_many_splits(best, winner):
    measure = f'[[measure]]\nfield = "off"\nlabel = "Off"\nbest = "{best}"\n\n[[column]]'
    d = small(TEXT.replace("[[column]]", measure))
    rows = filled(d)
    off = {"FFR": 0.5, "FM": 1.0, "LPNN": 2.0}
    for key in [key for key, row in rows.items() if "value" in row]:
        rows[key]["off"] = off[rows[key]["model"]]
    # FFR would win or lose, but for a split that it lacks.
    missing = [key for key, row in rows.items() if row.get("model") == "FFR" and row["value"] == 50.0]
    for key in missing:
        del rows[key]
    (table,) = measures(compare(d, rows))
    assert table.bold == ({("diabetes", winner)} if winner else set())
    assert table.texts["diabetes", "FFR"] == "0.500"
    assert table.marked["diabetes", "LPNN"] == ("**2.00**" if winner == "LPNN" else "2.00")
    assert html_page([compare(d, rows)]).count("<b>1.00</b>") == (winner == "FM")


def test_a_best_that_is_neither_lowest_nor_highest_is_refused():
    with pytest.raises(ValueError, match=r"measure\.best of small must be one of"):
        small(TEXT.replace("[[column]]", '[[measure]]\nfield = "off"\nlabel = "Off"\nbest = "good"\n\n[[column]]'))
