import os
import re
from pathlib import Path

import pytest

from polyladder.export.source import LANGUAGES
from polyladder.files.kinds import METRICS, SECRET_KEY, TABLE
from polyladder.files.outputs import Output, check_output, check_outputs


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mine.csv").write_text("a\n1\n")
    Path("own.sql").write_text("-- Written by polyladder: SQL.\nSELECT 1;\n")
    return tmp_path


def query(name: str) -> list[Output]:
    return [Output("--output", Path(name), LANGUAGES["sql"].kind)]


def refused(outputs: list[Output], *inputs: object, **options: bool) -> str:
    with pytest.raises(ValueError, match=r"\.$") as error:
        check_outputs(outputs, inputs, **options)  # type: ignore[arg-type]
    return str(error.value)


def test_new_files_and_own_ones_are_written() -> None:
    assert check_outputs([*query("new.sql"), *query("own.sql")]) == [False, True]
    Path("empty").touch()
    assert check_outputs(query("empty")) == [True]
    assert check_outputs([]) == []


def test_files_of_others_are_replaced_by_force_alone() -> None:
    assert refused(query("mine.csv")) == (
        "--output must be a new file or SQL that polyladder wrote; mine.csv is neither. "
        "Choose another name, or replace it with --force."
    )
    assert check_outputs(query("mine.csv"), force=True) == [True]
    assert refused([Output("--metrics", Path("own.sql"), METRICS)]).startswith(
        "--metrics must be a new file or metrics"
    )
    assert "a CSV file does not show who wrote it; mine.csv exists" in refused(
        [Output("--output", Path("mine.csv"), TABLE)]
    )


def test_no_clobber_spares_own_files_too() -> None:
    assert "own.sql exists" in refused(query("own.sql"), no_clobber=True)
    assert check_outputs(query("new.sql"), no_clobber=True) == [False]
    assert "says the opposite" in refused(query("new.sql"), no_clobber=True, force=True)


def test_what_is_read_is_never_replaced() -> None:
    os.link("own.sql", "hard")
    os.symlink("own.sql", "soft")
    for name in ("own.sql", "./own.sql", "hard", "soft"):
        for force in (False, True):
            said = refused(query(name), None, "absent", "mine.csv", "own.sql", force=force)
            assert said.startswith(f"--output must not be a file that this command reads; got {Path(name)}.")
    assert check_outputs(query("own.sql"), ["mine.csv", "-"]) == [True]


def test_standard_input_is_read_too() -> None:
    before = os.dup(0)
    with open("own.sql", "rb") as file:
        os.dup2(file.fileno(), 0)
    try:
        assert "reads; got own.sql" in refused(query("own.sql"), "-", force=True)
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_two_outputs_are_two_files() -> None:
    said = refused([*query("new"), Output("--metrics", Path("./new"), METRICS)], force=True)
    assert said == "--metrics must be another file than --output; both are new."


def test_keys_are_never_replaced() -> None:
    Path("secret.key").touch()
    for force in (False, True):
        said = refused([Output("--secret", Path("secret.key"), SECRET_KEY)], force=force)
        assert "a secret key cannot be made again; secret.key exists" in said


def test_places_that_no_file_can_have() -> None:
    assert "Make nowhere first" in refused(query("nowhere/x"))
    Path("folder").mkdir()
    assert "folder is a folder" in refused(query("folder"), force=True)
    os.mkfifo("pipe")
    assert "pipe is a device or a pipe" in refused(query("pipe"), force=True)


def test_one_output_of_another_package_is_held_to_the_same_rules() -> None:
    Path("own.html").write_text("<!-- mine --> old")

    def check(path: str | None, *inputs: str, **options: bool) -> bool:
        place = None if path is None else Path(path)
        return check_output("--html", place, words="a page", mark=re.compile(b"<!-- mine"), inputs=inputs, **options)

    assert not check("new.html")
    assert check("own.html")
    assert not check(None)
    assert check("mine.csv", force=True)
    for path, inputs, options, words in (
        ("mine.csv", (), {}, "--html must be a new file or a page that polyladder wrote; mine.csv is neither"),
        ("own.html", ("own.html",), {}, "--html must not be a file that this command reads"),
        ("own.html", (), {"no_clobber": True}, "own.html exists"),
        (None, (), {"no_clobber": True, "force": True}, "--force must come without --no-clobber"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            check(path, *inputs, **options)
