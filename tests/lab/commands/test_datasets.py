import gzip
import shutil

import pytest
import typer
from typer.testing import CliRunner

from polyladder_lab.commands.datasets import datasets
from polyladder_lab.datasets.catalog import catalog, find_entry
from tests.real_data import data_folder, needs_data

app = typer.Typer()
app.command()(datasets)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("POLYLADDER_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "cache" / "polyladder" / "data"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine" / "yacht").mkdir(parents=True)
    (tmp_path / "mine" / "mnist").mkdir()
    return tmp_path / "mine"


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def line_of(name, output):
    (line,) = [line.split() for line in output.splitlines() if line.startswith(f"{name} ")]
    return line


def test_the_list_has_every_data_set_with_its_size_and_place(cache, folder):
    (folder / "yacht" / "data.txt").touch()
    (folder / "mnist" / "train-images-idx3-ubyte.gz").touch()
    output = run("--data-dir", folder)
    assert max(map(len, output.splitlines()[:-2])) <= 80
    assert all(line_of(entry.name, output) for entry in catalog())
    assert line_of("yacht", output) == ["yacht", "regression", "308", "6", "20", "folder"]
    assert line_of("mnist", output) == ["mnist", "10", "classes", "70,000", "784", "1", "incomplete"]
    assert line_of("covtype", output) == ["covtype", "7", "classes", "581,012", "54", "-", "download"]
    assert line_of("sensIT", output)[-2:] == ["by", "hand"]
    assert line_of("iris", output)[-1] == "scikit-learn"
    assert output.splitlines()[-2:] == [f"folder: {folder}", f"cache: {cache}"]


def test_the_list_finds_the_cache_without_a_folder(cache):
    (cache / "yacht").mkdir(parents=True)
    (cache / "yacht" / "data.txt.gz").touch()
    output = run()
    assert line_of("yacht", output)[-1] == "cache"
    assert output.splitlines()[-1] == f"cache: {cache}"


def test_one_data_set_is_shown_with_its_terms_files_and_copies(cache, folder):
    (folder / "yacht" / "data.txt").touch()
    output = run("Yacht", "--data-dir", folder)
    entry = find_entry("yacht")
    for text in (entry.origin, entry.license, entry.files[0].sha256, entry.files[0].urls[0], "308", "froude_number"):
        assert text in output
    assert str(folder / "yacht" / "data.txt") in output


def test_a_check_with_nothing_there_says_so(cache):
    assert run("--check") == f"0 checked, 0 damaged, in {cache}.\n"


def test_a_check_names_a_damaged_file_and_fails(cache, folder):
    (folder / "yacht" / "data.txt.gz").write_bytes(gzip.compress(b"1 2 3\n"))
    output = run("--check", "--data-dir", folder, code=1)
    assert f"DAMAGED  {folder / 'yacht' / 'data.txt.gz'}: " in output
    assert "1 checked, 1 damaged" in output
    assert "0 checked" in run("iris", "--check", "--data-dir", folder)


@needs_data("yacht")
def test_a_check_holds_the_table_and_its_splits_to_what_was_published(cache, tmp_path):
    shutil.copytree(data_folder() / "yacht", tmp_path / "copy" / "yacht")
    for path in (tmp_path / "copy").rglob("*"):
        path.chmod(0o755)
    output = run("--check", "--data-dir", tmp_path / "copy")
    assert output.startswith("ok ")
    assert "20 splits as published" in output
    assert "2 checked, 0 damaged" in output

    folder = tmp_path / "copy" / "yacht"
    # Found before the compressed file of the same name.
    for k in (3, 4):
        (folder / f"index_train_{k}.txt").write_text("".join(f"{i}\n" for i in range(277)))
        (folder / f"index_test_{k}.txt").write_text("".join(f"{i}\n" for i in range(277, 308)))
    output = run("yacht", "--check", "--data-dir", tmp_path / "copy", code=1)
    assert "splits [3, 4] differ from those of the seed" in output

    (folder / "index_test_3.txt").write_text("0\n")
    output = run("yacht", "--check", "--data-dir", tmp_path / "copy", code=1)
    assert "index_test_3.txt" in output
    assert "must hold each of the 308 rows once" in output


def test_an_unknown_name_or_folder_is_an_error(cache, tmp_path):
    result = CliRunner().invoke(app, ["nothing-like-it"])
    assert isinstance(result.exception, ValueError)
    result = CliRunner().invoke(app, ["--data-dir", str(tmp_path / "nowhere")])
    assert "data_dir must be an existing folder" in str(result.exception)
