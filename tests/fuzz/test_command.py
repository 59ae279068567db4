"""The command with random words and files: a result, or one sentence and an exit code, and never a traceback."""

import os
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyladder import LPNNClassifier, LPNNRegressor
from polyladder.cli.main import app
from tests.cli.tables import as_text, small_models, small_table
from tests.fuzz import fuzz

pytestmark = pytest.mark.slow

OPTIONS = {
    "fit": [
        "--target",
        "-t",
        "--task",
        "--drop",
        "--category",
        "--seed",
        "--time-budget",
        "--solver",
        "--output",
        "--json",
        "--metrics",
        "--report",
    ],
    "predict": ["--output", "-o", "--interval", "--no-clobber", "--quiet"],
    "export": ["--to", "c", "sql", "excel", "numpy", "recipe", "--output", "-o", "--no-clobber"],
    "explain": ["--feature", "-f", "--terms", "--json"],
    "report": ["--output", "--no-clobber"],
    "equation": ["--markdown"],
    "datasets": ["--data-dir", "--check"],
    "reproduce": ["--list", "--only", "--show", "--markdown"],
}
WORDS = st.one_of(
    st.sampled_from(["t.csv", "t.csv.gz", "c.csv", "m.ladder", "c.ladder", "absent.csv", "folder", "-", "--", ""]),
    st.sampled_from(
        ["y", "a", "b", "x9", "0", "-1", "1", "90", "100.5", "nan", "1e400", "regression", "adam", "\u00a0"]
    ),
)
"""Names of files and columns, numbers in and out of range, and words that mean nothing."""

DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), st.binary(max_size=8)), max_size=3)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command, and options and words in any order; most have something that the command can use."""
    command = draw(st.sampled_from(sorted(OPTIONS)))
    first = {"fit": ["t.csv", "-t", "y"], "predict": ["m.ladder", "t.csv"], "explain": ["m.ladder"]}.get(
        command, ["m.ladder", "--to"] if command == "export" else []
    )
    rest = draw(st.lists(st.one_of(st.sampled_from(OPTIONS[command]), WORDS), max_size=5))
    return [command, *(first if draw(st.booleans()) else []), *rest]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """What the folder holds before the command runs."""
    table = small_table(30)
    x, y = np.array([table["a"], table["b"]], dtype=float).T, np.array(table["y"], dtype=float)
    small = {"order": 2, "width": 2, "max_iter": 2, "n_estimators": 1, "random_state": 0}
    with tempfile.TemporaryDirectory() as folder:
        LPNNRegressor(**small).fit(x, y).save(Path(folder) / "m.ladder")
        LPNNClassifier(**small).fit(x, y > 0).save(Path(folder) / "c.ladder")
        found = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    return found | {"t.csv": as_text(table).encode(), "c.csv": as_text({**table, "y": ["p", "q"] * 15}).encode()}


def run(arguments: list[str], standard_input: bytes) -> tuple[object, str]:
    """The exit code of the command and what it says on standard error."""
    out, err = TextIOWrapper(BytesIO()), StringIO()
    stdin = TextIOWrapper(BytesIO(standard_input))
    words = patch.object(sys, "argv", ["polyladder", *arguments])
    with words, patch.object(sys, "stdin", stdin), redirect_stdout(out), redirect_stderr(err):
        try:
            app()
            code: object = 0
        except SystemExit as leaving:
            code = leaving.code or 0
    return code, err.getvalue()


@pytest.mark.usefixtures(small_models.__name__)
@fuzz
@given(arguments=command_lines(), damage=DAMAGE, victim=st.sampled_from(["t.csv", "m.ladder", "c.csv"]))
def test_any_words_and_files_end_in_a_sentence(
    files: dict[str, bytes], arguments: list[str], damage: list[tuple[float, int, bytes]], victim: str
) -> None:
    content = files[victim]
    for place, length, piece in damage:
        start = round(place * len(content))
        content = content[:start] + piece + content[start + length :]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, data in (files | {victim: content}).items():
            Path(name).write_bytes(data)
        Path("folder").mkdir()
        before = {name: Path(name).read_bytes() for name in files}
        code, said = run(arguments, files["t.csv"])
        assert code in (0, 1, 2), said
        assert "Traceback" not in said
        if code == 1:
            last = said.rstrip("\n").splitlines()[-1]
            assert last.startswith("polyladder: "), said
            # A command that fails has written nothing and changed nothing.
            assert {name: Path(name).read_bytes() for name in before} == before
        # Without --force only a model is replaced, by a model.
        changed = {name for name in before if Path(name).read_bytes() != before[name]}
        assert changed <= ({"m.ladder", "c.ladder"} if arguments[0] == "fit" else set()), arguments
        assert not [name for name in os.listdir() if name.startswith(".")]
