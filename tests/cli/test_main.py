import io
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from polyladder import LPNNRegressor, __version__
from polyladder.cli.main import COMMANDS, app, commands
from tests.cli.tables import small_table, write


def test_a_mistake_is_one_sentence_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["polyladder", "equation", "99"])
    with pytest.raises(SystemExit) as stop:
        app()
    assert stop.value.code == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("polyladder: equation must be one of")
    assert err.count("\n") == 1


def test_version() -> None:
    assert CliRunner().invoke(commands, ["--version"]).stdout == f"polyladder {__version__}\n"


def test_help_does_not_import_torch() -> None:
    code = "import sys; from polyladder.cli.main import commands; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("name", [command.__name__ for command in COMMANDS])
def test_every_command_has_help_with_an_example(name: str) -> None:
    shown = CliRunner().invoke(commands, [name, "--help"]).stdout
    assert "Example" in shown
    assert f"polyladder {name}" in shown


def test_completion_can_be_installed() -> None:
    assert "--install-completion" in CliRunner().invoke(commands, ["--help"]).stdout


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("First\nsecond."), 1, "polyladder: First second.\n"),
        (OSError(28, "No space left"), 1, "polyladder: [Errno 28] No space left\n"),
        (ImportError("Install x."), 1, "polyladder: Install x.\n"),
        (MemoryError(), 1, "polyladder: The memory is used up; try fewer rows or columns.\n"),
    ],
)
def test_errors_are_one_line_and_have_their_code(
    error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("polyladder.cli.main.commands", fail)
    with pytest.raises(SystemExit) as stop:
        app()
    assert stop.value.code == code
    assert capsys.readouterr().err == said


def test_a_reader_that_has_had_enough_is_no_error(tmp_path: Path) -> None:
    code = (
        "import sys; from polyladder.cli import main; "
        "main.commands = lambda: print('x' * 10**6) or sys.stdout.flush(); main.app()"
    )
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.read(10)
    writer.stdout.close()
    assert writer.stderr.read() == b""
    assert writer.wait() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["predict m.ladder t.csv", "columns t.csv --json", "certify m.ladder t.csv", "equation --markdown"]
)
def test_a_full_disk_is_noticed_without_a_buffer(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As under PYTHONUNBUFFERED=1: what is written goes straight to the file, which takes no more than its limit."""
    monkeypatch.chdir(tmp_path)
    table = small_table()
    write(Path("t.csv"), table)
    X, y = np.array([table["a"], table["b"]], dtype=float).T, np.array(table["y"], dtype=float)
    model = LPNNRegressor(order=2, width=2, n_estimators=1, random_state=0)
    model.fit(pd.DataFrame(X, columns=["a", "b"]), y).save("m.ladder")
    monkeypatch.setattr(sys, "argv", ["polyladder", *words.split()])
    unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open("out", "wb", buffering=0) as file:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(file, write_through=True))  # type: ignore[type-var]
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, unlimited[1]))
        try:
            with pytest.raises(SystemExit) as stop:
                app()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
    assert stop.value.code == 1
    assert "File too large" in capsys.readouterr().err
