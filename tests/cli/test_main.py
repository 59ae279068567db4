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


def test_demo_ends_with_a_model_that_can_be_read(tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["demo", "--output", str(tmp_path)])
    assert result.exit_code == 0
    assert "HistGradientBoosting" in result.stdout
    assert "exact minimum" in result.stdout
    assert load(tmp_path / "friedman.ladder").in_features == 10
