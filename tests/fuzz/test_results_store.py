"""A store of results that was damaged at random: undamaged rows all count, and the table is still shown."""

import dataclasses
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyladder_lab.commands.reproduce import show_comparison
from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.scores import packed
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.pages.page import html_page, markdown_section
from tests.fuzz import fuzz
from tests.lab.experiments.small import CLASSES, filled, small

pytestmark = pytest.mark.slow

NUMBERS = small()
LOST = dataclasses.replace(NUMBERS, lost_commits=("abc",))
SHARES = small(CLASSES.replace("splits = 3", "splits = 1"))


def figures():
    """What figures keep."""
    unit = {"unit": 1, "u": [1.0, 2.0], "h": [1.0, 4.0]}
    each = {
        "input": 1,
        "variance": 0.1,
        "ks": 0.1,
        "skewness": 0.0,
        "kurtosis": 0.0,
        "outside": 0,
        "histogram": [1, 5, 1],
    }
    return {"layers": [[unit, unit]], "distributions": [each, each]}


def claims():
    """What claims keep."""
    found = {f"{of}_{kind}": 1.0 for of in ("output", "gradient") for kind in ("found", "paper", "local")}
    depth = {"layers": 1, "train": 1.0, "test": 2.0, "changed": 0.0}
    norms = {"W": [1.0, 2.0], "V": [1.0, 2.0], "trained_W": [1.0, 2.0], "readout": [0.5]}
    return {"depths": [depth], "bounds": found, "norms": norms, "column": "diabetes", "commit": "abc"}


def content(d, extra):
    """The lines of a whole store."""
    rows = [row | extra if "value" in row else row for row in filled(d, lambda m, s: 0.1 * m + 0.01 * s).values()]
    return [json.dumps(row).encode() for row in rows]


WHOLE = [
    (NUMBERS, content(NUMBERS, {"seconds": 1.0})),
    (NUMBERS, content(NUMBERS, figures())),
    (LOST, content(LOST, claims())),
    (SHARES, content(SHARES, {"rows": 20, "wrong": packed(np.arange(20) % 3 == 0)})),
]

PIECES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [b"", b"\n", b"\r\n", b"\x00", b"\xff", b"NaN", b"null", b"1e999", b"-1", b"[" * 5000, b'"', b"{}"]
    ),
    st.sampled_from([b'"value":', b'"folds":', b'"key":', b'"rows":9', b'"wrong":""', b',"layers":[[]]']),
)
DAMAGE = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 60), PIECES), max_size=6)


def damaged(lines, damage):
    """The store with pieces cut out and others put in their place."""
    text = b"\n".join(lines) + b"\n"
    for place, length, piece in damage:
        start = round(place * len(text))
        text = text[:start] + piece + text[start + length :]
    return text


def read(d, text):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        (Path(folder) / "small.jsonl").write_bytes(text)
        return Store(Path(folder)).rows(d.name)


@fuzz
@given(st.sampled_from(WHOLE), DAMAGE)
def test_undamaged_rows_count_and_the_table_is_shown(whole, damage):
    d, lines = whole
    text = damaged(lines, damage)
    found = read(d, text)
    left = set(text.split(b"\n"))
    for line in lines:
        if line in left:
            row = json.loads(line)
            assert found[row["key"]] == row
    comparison = compare(d, found)
    show_comparison(comparison)
    assert d.models[0].name in markdown_section(comparison)


@fuzz
@given(st.sampled_from(WHOLE), st.integers(0, 10**6), st.integers(0, 7))
def test_a_flipped_bit_spoils_one_row_at_most(whole, place, bit):
    d, lines = whole
    text = bytearray(damaged(lines, []))
    text[place % len(text)] ^= 1 << bit
    found = read(d, bytes(text))
    # A line's end may become another character, and join two rows.
    assert sum(json.loads(line)["key"] in found for line in lines) >= len(lines) - 2
    compare(d, found)


def test_the_page_of_a_damaged_store_is_drawn():
    for d, lines in WHOLE[::2]:
        text = damaged(lines, [(0.5, 30, b"\xff"), (0.9, 3, b"[[[")])
        assert "<svg" in html_page([compare(d, read(d, text))])
