import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from polyladder import __version__, load
from polyladder.cli.main import app, commands


def test_equation_prints_file_and_line() -> None:
    result = CliRunner().invoke(commands, ["equation", "12"])
    assert result.exit_code == 0
    assert "models/merge.py:" in result.stdout
    assert "merge" in result.stdout


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


@pytest.mark.parametrize("name", ["fit", "columns", "predict", "explain", "report", "datasets", "demo", "equation"])
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


def test_demo_ends_with_a_model_and_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polyladder.report.page")
    monkeypatch.setattr("polyladder.cli.demo.ROWS", 200)
    monkeypatch.setattr("polyladder.cli.demo.SECONDS", 0.0)
    result = CliRunner().invoke(commands, ["demo", "--output", str(tmp_path)])
    assert result.exit_code == 0, result.exception
    assert "HistGradientBoosting" in result.stdout
    assert "exact minimum" in result.stdout
    assert result.stdout.endswith(f"Report: {tmp_path / 'friedman.html'}\n")
    assert (tmp_path / "friedman.html").is_file()
    model = load(tmp_path / "friedman.ladder")
    assert model.n_features_in_ == 10
    rmse = {score["model"]: score["rmse"] for score in model.card_["scores"]}
    assert rmse["ladder"] < rmse["linear"] < rmse["mean"]
