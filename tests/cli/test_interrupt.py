"""Ctrl-C and kill -9 at any moment, on the real command: exit code 130 and one word, and no file half written."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_friedman1

from polyladder import LPNNRegressor, load

pytestmark = pytest.mark.slow

MOMENTS = int(os.environ.get("POLYLADDER_INTERRUPTS", "2"))
"""Interrupts for each solver; ten and more make a thorough run."""

PATIENCE = float(os.environ.get("POLYLADDER_PATIENCE", "10"))
"""Seconds after Ctrl-C within which the command must have ended. On a free machine 2 are enough."""

COMMAND = (sys.executable, "-m", "polyladder")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes a while."""
    X, y = make_friedman1(4000, noise=1.0, random_state=0)
    path = tmp_path_factory.mktemp("table") / "t.csv"
    pl.DataFrame({**{f"x{i}": column for i, column in enumerate(X.T)}, "y": y}).write_csv(path)
    return path


def interrupt(arguments: list[str], seconds: float, cwd: Path) -> tuple[int, str, float]:
    """Run the command, press Ctrl-C after so many seconds; exit code, standard error, and how long it took to end."""
    with subprocess.Popen([*COMMAND, *arguments], cwd=cwd, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as run:
        time.sleep(seconds)
        assert run.poll() is None, "the command had ended before it could be interrupted"
        run.send_signal(signal.SIGINT)
        began = time.perf_counter()
        said = run.communicate(timeout=60)[1].decode()
        return run.returncode, said, time.perf_counter() - began


@pytest.mark.parametrize(
    "options", [["--solver", "alternating"], ["--solver", "adam"], ["--bayesian"]], ids=["solves", "adam", "gibbs"]
)
def test_an_interrupted_fit_leaves_no_file(options: list[str], table: Path, tmp_path: Path) -> None:
    chance = random.Random(str(options))
    fit = ["fit", str(table), "--target", "y", "-o", "m.ladder", "--report", "--time-budget", "120", *options]
    for _ in range(MOMENTS):
        code, said, seconds = interrupt(fit, chance.uniform(0.3, 6.0), tmp_path)
        assert code == 130, said
        assert said.endswith("polyladder: interrupted.\n")
        assert "Traceback" not in said
        assert seconds < PATIENCE
        assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_importing_is_one_word(tmp_path: Path, table: Path) -> None:
    for seconds in (0.12, 0.25, 0.5):
        code, said, _ = interrupt(["fit", str(table), "--target", "y"], seconds, tmp_path)
        # Before the first line of the package runs, Python itself answers.
        assert code == 130 or (code == -signal.SIGINT and "polyladder" not in said), said
        assert list(tmp_path.iterdir()) == []


def test_an_interrupted_fit_leaves_an_existing_model_alone(table: Path, tmp_path: Path) -> None:
    kept = tmp_path / "m.ladder"
    kept.write_bytes(b"what was there")
    fit = ["fit", str(table), "--target", "y", "-o", "m.ladder", "--time-budget", "120", "--force"]
    assert interrupt(fit, 4.0, tmp_path)[0] == 130
    assert kept.read_bytes() == b"what was there"


SAVING = """
import os, random, signal, sys, time
import torch
from polyladder import load
from polyladder.report.page import write_report

torch.set_num_threads(1)
source, target, page, kills = sys.argv[1:]
model, moments = load(source), random.Random(0)
write_report(model, page)
for _ in range(int(kills)):
    # A fork has everything imported already: it is writing from its first moment on.
    child = os.fork()
    while child == 0:
        model.save(target)
        write_report(model, page)
    time.sleep(moments.uniform(0.05, 0.6))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("killed", flush=True)
    sys.stdin.readline()
"""


def test_killed_saves_and_reports_leave_whole_files(tmp_path: Path) -> None:
    X, y = make_friedman1(200, random_state=0)
    model = LPNNRegressor(order=3, n_estimators=2, max_iter=2, random_state=0).fit(X, y)
    model.save(tmp_path / "source.ladder")
    expected, kills = model.predict(X), max(3, MOMENTS)
    target, page = tmp_path / "m.ladder", tmp_path / "p.html"
    arguments = [sys.executable, "-c", SAVING, tmp_path / "source.ladder", target, page, str(kills)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        for _ in range(kills):
            assert run.stdout.readline() == b"killed\n"
            if target.exists():
                np.testing.assert_array_equal(load(target).predict(X), expected)
            assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
            run.stdin.write(b"\n")
            run.stdin.flush()
    assert run.returncode == 0
    assert target.exists()
    # What a killed process left behind is hidden and beside the file.
    assert all(path.name.startswith(".") or path.suffix in (".ladder", ".html") for path in tmp_path.iterdir())
