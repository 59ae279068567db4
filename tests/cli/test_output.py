"""Files that are there already, and places that cannot be written to."""

from pathlib import Path

import numpy as np
import pytest

from polyladder import LPNNRegressor, load
from polyladder.cli.export import FORMATS
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
    said = run("predict", "t.ladder", table, "-o", "p.csv", "--force").stderr
    assert "40 predictions of y in p.csv, which replaced the file that was there." in said
    run("fit", table, *FIT, "-o", "u.ladder", "--metrics", "m.json")
    assert "replaced" in run("fit", table, *FIT, "-o", "u.ladder", "--metrics", "m.json").stdout


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


WRITING = {
    "fit": ("fit data.csv -t y -o OUT", "fit data.csv -t y -o OUT --report --metrics m.json"),
    "page beside a model": ("fit data.csv -t y -o out.ladder --report",),
    "metrics": ("fit data.csv -t y -o new.ladder --metrics OUT",),
    "default model": ("fit out.csv -t y",),
    "predict": ("predict data.ladder data.csv -o OUT",),
    "report": ("report data.ladder data.csv -o OUT", "report data.ladder -o OUT"),
    "certify": ("certify data.ladder data.csv -o OUT", "certify data.ladder data.csv --plot OUT"),
    "attack": ("attack data.ladder data.csv -o OUT",),
    "export": tuple(f"export data.ladder --to {to} -o OUT" for to in FORMATS),
    "default export": tuple(f"export folder/out.ladder --to {to}" for to in FORMATS),
    "header": ("export data.ladder --to c -o out.c", "export data.ladder --to c -o out"),
    "keys": ("encrypted keys data.recipe --secret OUT", "encrypted keys data.recipe --public OUT"),
    "encrypt": ("encrypted encrypt data.recipe data.key data.csv -o OUT",),
    "score": ("encrypted score data.ladder data.key data.rows -o OUT",),
    "reproduce": ("reproduce table_1 --show --html OUT",),
}
"""Commands, by what they write. Where there is no OUT, it is a file that is not named but belongs to what is."""

BESIDE = {
    "page beside a model": "out.html",
    "default model": "out.ladder",
    "header": "out.h",
}
DEFAULTS = {name: f"out{ending}" for name, (_, ending) in FORMATS.items()}


@pytest.mark.parametrize(("what", "words"), [(what, words) for what, lines in WRITING.items() for words in lines])
def test_no_command_replaces_a_file_that_it_did_not_write(
    what: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it reads anything: none of these files holds what its name says."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    for name in ("data.csv", "data.ladder", "data.recipe", "data.key", "data.rows", "out.csv"):
        Path(name).write_text(f"mine: {name}")
    arguments = words.replace("OUT", "out").split()
    place = Path(DEFAULTS[arguments[3]] if what == "default export" else BESIDE.get(what, "out"))
    place.write_text("mine")
    before = contents(tmp_path)
    said = sentence(*arguments)
    assert f"{place} is neither" in said or f"{place} exists" in said
    if what != "keys":
        assert said.endswith("Choose another name, or replace it with --force.")
    assert f"{place} exists" in sentence(*arguments, "--no-clobber")
    # What the command reads is not replaced even by force.
    for name in {word for word in arguments if word.startswith("data.") and "OUT" in words}:
        again = words.replace("OUT", name).split()
        said = sentence(*again, *(() if what == "keys" else ("--force",)))
        assert f"must not be a file that this command reads; got {name}" in said
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_outputs_of_one_command_are_different_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (
        "fit t.csv -t y -o m.html --report",
        "fit t.csv -t y -o m --metrics m",
        "certify m.ladder t.csv -o m --plot m",
        "export m.ladder --to c -o m.h",
        "encrypted keys m.recipe --secret k --public k",
    ):
        assert "must be another file than" in sentence(*words.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_table_of_a_model_is_not_taken_for_its_export(table: Path) -> None:
    """Which has the table's name."""
    before = table.read_bytes()
    saved_small("t.ladder")
    assert "Export: t.formulas.csv (" in run("export", "t.ladder", "--to", "excel").stdout
    assert table.read_bytes() == before
    assert "t.formulas.csv exists" in sentence("export", "t.ladder", "--to", "excel")
    Path("t.h").write_text("mine")
    assert "The header must be a new file" in sentence("export", "t.ladder", "--to", "c")
    assert not Path("t.c").exists()
    assert run("export", "t.ladder", "--to", "c", "--force").stdout.count("replaced") == 1
    assert run("export", "t.ladder", "--to", "c").stdout.count("replaced") == 2


def saved_small(path: str) -> None:
    """A model of two columns."""
    columns = small_table()
    X, y = np.array([columns["a"], columns["b"]], dtype=float).T, np.array(columns["y"], dtype=float)
    LPNNRegressor(order=2, width=2, n_estimators=1, random_state=0).fit(X, y).save(path)


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
    assert sentence("report", "t.ladder", "-o", page, "--force") == "No page."
    assert page.read_text() == "the old page"


@pytest.mark.slow
@pytest.mark.parametrize(("options", "order"), [(["--solver", "adam"], "4, width 64"), (["--bayesian"], "6, width ")])
def test_sentences_say_what_was_done(table: Path, options: list[str], order: str) -> None:
    shown = " ".join(run("fit", table, "--target", "y", *options).stdout.split())
    assert f"Columns are scaled as a short selection chose, all else is as usual: order {order}" in shown
    assert "Stacked from" not in shown
    selection = load("t.ladder").card_["selection"]
    assert selection["sentence"] in shown
    assert selection["order_path"] == []
    if "adam" in options:
        # It estimates no ridge, and claims none.
        assert "L2 weight 1e-06" in shown
        assert "estimated" not in shown


@pytest.mark.slow
def test_a_selection_is_said_in_a_sentence(table: Path) -> None:
    shown = " ".join(run("fit", table, "--target", "y").stdout.split())
    assert load("t.ladder").card_["selection"]["sentence"] in shown
