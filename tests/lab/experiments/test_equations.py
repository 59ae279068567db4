from pathlib import Path

import pytest

from polyladder_lab.experiments import equations

DOCS = Path(__file__).parents[3] / "docs" / "equations.md"


def test_every_statement_has_an_implementer_or_a_reason() -> None:
    for e in equations.equations():
        assert bool(e.implementers) != bool(e.reason), f"{e.label} needs an implementer, or else a reason, and not both"


def test_the_paper_is_complete_and_nothing_else_is_claimed() -> None:
    ids = [e.id for e in equations.equations()]
    assert ids == [str(n) for n in range(1, 18)] + [f"Theorem {n}" for n in ("4.1", "4.2", "4.3", "A.1")]
    assert set(equations.implementers()) <= set(ids)


def test_places_are_real() -> None:
    for e in equations.equations():
        for one in e.implementers:
            line = (equations.LIBRARY / one.file).read_text().splitlines()[one.line - 1]
            assert one.name.rpartition(".")[2] in line


def test_the_page_is_up_to_date() -> None:
    assert DOCS.read_text() == equations.as_markdown(), "run: polyladder equation --markdown > docs/equations.md"


@pytest.mark.parametrize("spelling", ["7", "(7)", "eq. (7)", " 7 "])
def test_find(spelling: str) -> None:
    assert equations.find(spelling).id == "7"
    assert equations.find("4.3").id == "Theorem 4.3"
    with pytest.raises(ValueError, match=r"must be one of 1, 2, .*A\.1; got '18'"):
        equations.find("18")
