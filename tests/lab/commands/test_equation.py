import pytest

from polyladder_lab.experiments import equations
from tests.cli.tables import run, sentence


def test_equation_prints_file_and_line() -> None:
    shown = run("equation", "12").stdout
    assert "models/merge.py:" in shown
    assert "merge" in shown
    path, line = next(word for word in shown.split() if "merge.py:" in word).rsplit(":", 1)
    with open(path, encoding="utf-8") as file:
        assert "merge" in file.read().splitlines()[int(line) - 1]


def test_without_a_number_all_are_shown() -> None:
    shown = run("equation").stdout
    for each in equations.equations():
        assert f"{each.label}: {each.says}" in shown
        assert (each.reason or each.implementers[0].name) in shown


@pytest.mark.parametrize("each", [e for e in equations.equations() if e.correction], ids=lambda e: e.id)
def test_a_correction_is_said_with_its_equation(each: equations.Equation) -> None:
    assert f"corrected: {each.correction}" in run("equation", each.id).stdout


@pytest.mark.slow
def test_the_page_is_printed_as_it_is() -> None:
    assert run("equation", "--markdown").stdout == equations.as_markdown()


def test_an_unknown_number_names_the_known_ones() -> None:
    assert sentence("equation", "99").startswith("equation must be one of 1, 2,")
