"""Files that are there already, and places that cannot be written to."""

from pathlib import Path

import pytest

from polyladder import load
from tests.cli.tables import run, sentence, small_models, small_table, write

__all__ = ["small_models"]  # a fixture

FIT = ("--target", "y", "--time-budget", 0)


@pytest.fixture
def table(tmp_path: Path, small_models: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "t.csv", small_table())


@pytest.mark.slow
def test_what_is_replaced_is_said(table: Path) -> None:
    first = run("fit", table, *FIT, "--report").stdout
    assert "Saved to t.ladder (" in first
    assert "replaced" not in first
    second = run("fit", table, *FIT, "--report").stdout
    assert second.count("replaced the file that was there") == 2
    assert "replaced" not in run("report", "t.ladder", "-o", "new.html").stdout
    assert "replaced" in run("report", "t.ladder", "-o", "new.html").stdout
    assert "replaced" not in run("predict", "t.ladder", table, "-o", "p.csv").stderr
    assert (
        "40 predictions of y in p.csv, which replaced the file that was there."
        in run("predict", "t.ladder", table, "-o", "p.csv").stderr
    )


@pytest.mark.slow
def test_no_clobber_refuses_before_any_work(table: Path) -> None:
    run("fit", table, *FIT)
    before = Path("t.ladder").read_bytes()
    refused = "--output must be a new file with --no-clobber; t.ladder exists. Choose another name."
    assert sentence("fit", table, *FIT, "--no-clobber") == refused
    assert Path("t.ladder").read_bytes() == before
    Path("u.html").write_text("mine")
    assert "u.html exists" in sentence("fit", table, *FIT, "-o", "u.ladder", "--no-clobber", "--report")
    assert not Path("u.ladder").exists()
    Path("r.html").write_text("mine")
    assert "r.html exists" in sentence("report", "t.ladder", "-o", "r.html", "--no-clobber")
    assert "r.html exists" in sentence("predict", "t.ladder", table, "-o", "r.html", "--no-clobber")
    assert Path("r.html").read_text() == "mine"


def test_places_that_cannot_be_are_refused_before_any_work(table: Path) -> None:
    assert sentence("fit", table, *FIT, "-o", "nowhere/m.ladder") == (
        "--output must lie in an existing folder; got nowhere/m.ladder. Make nowhere first."
    )
    Path("folder").mkdir()
    assert "--output must be a file; folder is a folder." in sentence("fit", table, *FIT, "-o", "folder")


@pytest.mark.slow
def test_a_page_that_fails_leaves_the_old_one(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("fit", table, *FIT)
    page = Path("p.html")
    page.write_text("the old page")

    def broken(*_: object) -> str:
        raise ValueError("No page.")

    monkeypatch.setattr("polyladder.report.page.render_report", broken)
    assert sentence("report", "t.ladder", "-o", page) == "No page."
    assert page.read_text() == "the old page"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (0, "Nothing was compared, the settings are the usual ones: "),
        (1e-9, "Nothing was compared, the settings are the usual ones: "),
    ],
)
def test_sentences_say_what_was_done(table: Path, budget: float, said: str) -> None:
    shown = " ".join(run("fit", table, "--target", "y", "--time-budget", budget, "--solver", "adam").stdout.split())
    assert said in shown
    assert "Chosen among" not in shown
    card = load("t.ladder").card_
    assert card["selection"]["sentence"] in shown
    assert card["selection"]["trials"] == []


@pytest.mark.slow
def test_a_selection_is_said_in_a_sentence(table: Path) -> None:
    shown = " ".join(run("fit", table, "--target", "y").stdout.split())
    assert load("t.ladder").card_["selection"]["sentence"] in shown


@pytest.mark.slow
def test_adam_claims_no_estimated_ridge(table: Path) -> None:
    shown = " ".join(run("fit", table, *FIT, "--solver", "adam").stdout.split())
    assert "L2 weight 1e-06" in shown
    assert "estimated" not in shown
