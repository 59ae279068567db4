"""Columns that name rows instead of describing them, such as ids and row numbers: they may leak the answer."""

from __future__ import annotations

import re
from typing import Any, Literal

from polyladder.tables.columns import ColumnKind

NEARLY_ALL = 0.95
"""A column with the name of an id is one if at least this share of its values is different."""

DENSE = 0.1
"""Rising whole numbers are a counter with gaps if they are at least this share of all numbers in their range."""

LONG = 8
"""Numbers with at least this many digits are codes, such as phone numbers, if all have equally many and all differ."""

MOST_CATEGORIES = 500
"""Text columns with more different values than this, or than half the rows, are names rather than categories."""

ID_WORDS = frozenset(
    re.split(r"\s+", "id ids idx index uid uuid guid pk key nr no rowid rownum rn serial unnamed row record case obs")
)
NUMBER_WORDS = frozenset(("number", "num", "code", "#"))
ID_NOUNS = frozenset(
    re.split(r"\s+", "customer patient account order user invoice phone serial ticket id row record case sample")
)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|#")
UNNAMED = re.compile(r"column \d+|unnamed: \d+|_c\d+", re.IGNORECASE)
TIME_NAME = re.compile(r"year|month|week|day|date|hour|minute|second|time|epoch|^t$|period|quarter|age", re.IGNORECASE)


def useless(column: Any, values: Any, kind: ColumnKind, forced: bool) -> str:
    """Why a column cannot help to predict; empty if it may.

    Args:
        column: as it was read.
        values: its cells as numbers or text.
        kind: what it holds.
        forced: whether the user asked for this column.
    """
    if kind.kind == "empty":
        return "is empty"
    present = values.drop_nulls()
    different = present.n_unique()
    if different == 1 and len(present) == len(column):
        return "never changes"
    if forced:
        return ""
    alone = len(present) >= 20 and different >= NEARLY_ALL * len(present)
    if kind.kind == "category" and (alone or different > min(MOST_CATEGORIES, max(20, len(column) // 2))):
        what = "codes" if kind.codes else "texts"
        return f"holds {different:,} different {what}, more like names than categories"
    return identity(present, kind) if kind.kind in ("number", "category") else ""


def identity(present: Any, kind: ColumnKind) -> str:
    """Why a column only names rows; empty if it does not."""
    count, different = len(present), present.n_unique()
    if count < 10 or different < NEARLY_ALL * count:
        return ""
    named = is_id_name(kind.name)
    if kind.kind == "category":
        return "is an id by its name, and differs from row to row" if named else ""
    if kind.style.prefix or kind.style.suffix or not bool((present == present.round(0)).all()):
        return ""
    if different == count:
        found = counter(present)
        if UNNAMED.fullmatch(kind.name):
            return f"has no name and {'counts the rows' if found else 'differs from row to row, like a row number'}"
        if found and not TIME_NAME.search(kind.name):
            return "counts the rows" if found == "counter" else "rises from row to row, like a counter with gaps"
        digits = present.abs().cast(int).cast(str).str.len_bytes()
        if digits.min() == digits.max() and digits.min() >= LONG and not TIME_NAME.search(kind.name):
            return f"holds different numbers of {digits.min()} digits each, like codes"
    return "is an id by its name, and differs from row to row" if named else ""


def is_id_name(name: str) -> bool:
    """Whether a column has the name of an id: "id", "customerId", "PatientID", "row", "invoice number"."""
    words = [word.lower() for word in WORD.findall(name)]
    if not words:
        return False
    return words[-1] in ID_WORDS or words[0] == "unnamed" or (words[-1] in NUMBER_WORDS and bool(ID_NOUNS & {*words}))


def counter(values: Any) -> Literal["", "counter", "gaps"]:
    """Whether different whole numbers count rows: without gaps in any order, or with gaps if they rise or fall."""
    span = float(values.max()) - float(values.min()) + 1
    if span == len(values):
        return "counter"
    steps = values.diff().drop_nulls()
    ordered = bool((steps > 0).all()) or bool((steps < 0).all())
    return "gaps" if ordered and len(values) >= DENSE * span else ""
