from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from polyladder_lab.commands.reproduce import default_store, reproduce
from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import declared, names, results_folder
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.pages.page import markdown_page
from tests.lab.experiments.small import TEXT, filled

app = typer.Typer()
app.command()(reproduce)


@pytest.fixture
def declaration(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    path = tmp_path / "small.toml"
    path.write_text(TEXT.replace("splits = 3", "splits = 2").replace("settings = 3", "settings = 2"))
    return path


def called(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result


@pytest.mark.slow
def test_a_table_is_run_shown_and_written(declaration, tmp_path):
    store = tmp_path / "store"
    first = called(declaration, "--store", store, "--only", "diabetes/LPNN", "--html", tmp_path / "page.html")
    assert "LPNN" in first.stdout
    assert "paper" not in first.stdout.split("\n")[0]
    assert "small diabetes/LPNN, 2 settings, split 0" in first.stderr
    assert "min left" in first.stderr
    assert "small: about 0 min on one core" in first.stderr
    assert "<svg" in (tmp_path / "page.html").read_text()
    assert "4 of 6" not in called(declaration, "--store", store, "--list").stdout
    assert "2 of 6" in called(declaration, "--store", store, "--list").stdout
    shown = called(declaration, "--store", store, "--show")
    assert "not run" in shown.stdout
    assert shown.stderr == ""
    again = called(declaration, "--store", store, "--only", "diabetes/LPNN")
    assert "settings" not in again.stderr
    assert "on one core" not in again.stderr
    assert called(declaration, "--store", store, "--markdown").stdout.startswith("## A small table")


def test_quick_says_what_it_leaves_out_and_keeps_its_rows_apart(declaration, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    quick, whole = (default_store(str(declaration), quick=quick) for quick in (True, False))
    assert whole == declaration.parent / "results"
    result = called(declaration, "--quick", "--only", "/FM")
    assert "`--quick`: one split." in result.stdout
    assert (quick / "small.jsonl").exists()
    assert not whole.exists()


def test_a_damaged_store_is_shown_with_a_note_and_the_page_replaces_the_old_one_whole(declaration, tmp_path):
    d = declared(str(declaration))
    store = Store(tmp_path / "results")
    store.append("small", filled(d).values())
    with store.path("small").open("ab") as file:
        file.write(b'{"key":"x","value":"\xff"}\n')
    page = tmp_path / "page.html"
    page.write_text("old")
    with pytest.warns(UserWarning, match=r"small\.jsonl, line \d+: must be UTF-8"):
        shown = called(declaration, "--show", "--html", page, "--force")
    assert "50.5 ± 0.7" in shown.stdout
    assert page.read_text().endswith("</html>\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "results", "small.toml"]
    with pytest.warns(UserWarning, match=r"small\.jsonl, line"):
        called(declaration, "--show", "--html", page)


@pytest.mark.slow
def test_every_table_is_listed():
    out = called("--list", "--store", "nowhere").stdout
    assert [line.split()[0] for line in out.splitlines()] == [*names(), "all"]


def test_the_list_says_what_was_spent_and_whose_data_are_missing(declaration, tmp_path):
    text = declaration.read_text()
    declaration.write_text(text.replace("settings = 2", 'settings = 2\nunavailable = "data not available"'))
    d = declared(str(declaration))
    first, *_ = filled(d).values()
    Store(tmp_path / "results").append("small", [first | {"seconds": 7200.0}])
    lines = called(declaration, "--list").stdout.splitlines()
    assert lines[0].split()[:8] == ["small", "0", "of", "0", "splits", "done", "in", "120"]
    assert "; diabetes: data not available. A small table" in lines[0]
    assert " ".join(lines[1].split()).startswith("all took 2.0 h where it was measured")


@pytest.mark.slow
def test_the_results_page_is_what_the_store_gives():
    page = Path(__file__).parents[3] / "docs" / "results.md"
    wanted = markdown_page([compare(declared(name), Store(results_folder(name)).rows(name)) for name in names()])
    assert page.read_text() == wanted, "run: polyladder reproduce --markdown > docs/results.md"
