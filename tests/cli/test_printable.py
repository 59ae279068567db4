import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.text import Text

from polyladder import LPNNRegressor
from polyladder.automatic.card import make_card
from polyladder.cli.main import app, commands, encrypted
from polyladder.cli.printable import Printable, make_console, printable, printable_streams, terminal
from tests.cli.tables import run

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202ea"
ACTING = set("\x1b\x07\x9b\u202e\r\x08")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({HOSTILE: rng.normal(size=50), "b" + HOSTILE: rng.choice(["u" + HOSTILE, "v"], 50)})
    estimator = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(X, X[HOSTILE])
    estimator.card_ = make_card(estimator, X, target="y" + HOSTILE)
    path = tmp_path_factory.mktemp("hostile") / "m.ladder"
    estimator.save(path)
    X.assign(y=1.0).to_csv(path.with_suffix(".csv"), index=False)
    X.replace("v", "w" + HOSTILE).to_csv(path.with_suffix(".new.csv"), index=False)
    return path


def test_characters_that_act_are_written_out() -> None:
    assert printable("a\tb\nc é 漢") == "a\tb\nc é 漢"
    assert printable("\x1b[0m\r\x00\x7f\x9b") == r"\u001b[0m\u000d\u0000\u007f\u009b"


@pytest.mark.parametrize(
    "words",
    [
        "columns {csv}",
        "columns {csv} --toml",
        "columns {csv} --json",
        "explain {model}",
        "explain {model} {csv} --row 1",
        "explain {model} --formula",
        "predict {model} {new} -o {out}",
        "optimize {model} --maximize",
        "export {model} --to c -o {out}",
    ],
)
def test_no_command_prints_them(words: str, model: Path, tmp_path: Path) -> None:
    places = {"model": model, "csv": model.with_suffix(".csv"), "new": model.with_suffix(".new.csv")}
    given = [word.format(**places, out=tmp_path / "out") for word in words.split()]
    done = run(*given)
    said = done.stdout + done.stderr
    assert said
    assert not ACTING & set(said)


def test_nor_do_errors_and_warnings(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["polyladder", "explain", str(model), "--feature", HOSTILE + "none"])
    with pytest.raises(SystemExit):
        app()
    said = capsys.readouterr().err
    assert said.startswith("polyladder: ")
    assert not ACTING & set(said)


def test_every_command_is_held_to_it() -> None:
    for registered in (*commands.registered_commands, *encrypted.registered_commands):
        assert registered.callback is not None
        assert registered.callback.__wrapped__.__module__ != "polyladder.cli.printable"  # type: ignore[attr-defined]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_keeps_its_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    with printable_streams():
        assert isinstance(sys.stdout, Printable)
        assert not sys.stdout.isatty()
        assert terminal(sys.stdout) is screen
        print("plain \x1b[31m")
        make_console(color_system="standard", width=60).print(Text("bold \x1b[32m", "bold"))
    assert screen.getvalue() == "plain \\u001b[31m\n\x1b[1mbold \\u001b[32m\x1b[0m\n"


def test_bytes_go_as_they_are() -> None:
    beneath = io.BytesIO()
    stream = Printable(io.TextIOWrapper(beneath, "utf-8"))
    stream.buffer.write(b"\x1b")
    stream.write("é\x1b")
    stream.flush()
    assert beneath.getvalue() == b"\x1b" + "é\\u001b".encode()
    assert stream.encoding == "utf-8"
    assert stream.writable()
