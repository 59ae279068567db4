"""What points and commas mean where a column leaves it open: the point of 1.589 may mark thousands or decimals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from polyladder.tables.columns import ColumnKind, cleaned
from polyladder.tables.number_style import Comma, find_style, read_numbers

AROUND = r"[^\d.,]*"
OPEN = rf"^{AROUND}[1-9]\d{{0,2}}[.,]\d{{3}}{AROUND}$"
"""One mark followed by three digits: it may mark thousands or decimals."""

SMALL = rf"^{AROUND}[1-9]\d{{0,2}}{AROUND}$"
"""A number below 1,000 without a mark: usual where marks are for thousands, rare among numbers with three decimals."""

LARGE = r"\d{4}"
"""Four digits in a row, so that thousands are not marked."""

ENOUGH = 5
"""In a file with decimal commas, points mark thousands if at least this many different numbers have one and two have
none: of numbers with three decimals only one in a thousand is whole."""

FIRST = 50
"""Cells that are inspected first."""

WORDS = {".": "point", ",": "comma"}


def settle_marks(
    frame: Any, kinds: Mapping[str, ColumnKind], comma: Comma, fixed: Iterable[str] = ()
) -> tuple[dict[str, ColumnKind], dict[str, str]]:
    """The kinds of columns, where a mark that one column leaves open is decided by the others.

    Args:
        frame: with these columns.
        kinds: of the columns, each judged by its own cells.
        comma: what a comma in a number means where the cells leave it open.
        fixed: columns whose kind was asked for and is not changed.

    Returns:
        The kinds, and for some columns a sentence about what was decided or left open.
    """
    import polars as pl

    texts = [name for name, kind in kinds.items() if kind.kind == "number" and frame[name].dtype == pl.String]
    opened = {name: open_mark(different(frame[name])) for name in texts if name not in fixed and is_open(frame[name])}
    found, notes = dict(kinds), dict[str, str]()
    if not opened:
        return found, notes
    others = [name for name in texts if name not in opened]
    sure = {kinds[name].style.decimal for name in others if bool(frame[name].str.contains(r"\d[.,]|[.,]\d").any())}
    for name, mark in opened.items():
        found[name], notes[name] = settled(different(frame[name]), kinds[name], mark, sure, comma)
    return found, {name: note for name, note in notes.items() if note}


def different(column: Any) -> Any:
    """The different cells of a text column, none missing."""
    return cleaned(column).drop_nulls().unique(maintain_order=True)


def is_open(column: Any) -> bool:
    """Whether the numbers of a column have a mark that may mean thousands as well as decimals."""
    import polars as pl

    if column.dtype != pl.String:
        return False
    # Inspecting all cells of every column is slow, and the first ones settle most columns.
    first = different(column.head(FIRST))
    marked = first.filter(first.str.contains("[.,]"))
    return bool(marked.str.contains(OPEN).all()) and bool(open_mark(different(column)))


def open_mark(cells: Any) -> str:
    """The mark that may mean thousands or decimals in these cells; empty where nothing is open."""
    if bool(cells.str.contains(LARGE).any()):
        return ""
    marked = cells.filter(cells.str.contains("[.,]"))
    if not len(marked) or not bool(marked.str.contains(OPEN).all()):
        return ""
    return next((mark for mark in WORDS if bool(marked.str.contains(mark, literal=True).all())), "")


def settled(cells: Any, kind: ColumnKind, mark: str, sure: set[str], comma: Comma) -> tuple[ColumnKind, str]:
    """A column with an open mark, decided as the other columns suggest, and a sentence about it."""
    first = cells.filter(cells.str.contains(mark, literal=True))[0]
    small = cells.filter(cells.str.contains(SMALL))
    other = "," if mark == "." else "."
    decimal, reason = kind.style.decimal, ""
    if len(sure) == 1:
        (decimal,) = sure
        reason = f"as other columns have a decimal {WORDS[decimal]}"
    elif mark == "." and comma == "decimal" and len(small) > 1 and len(cells) - len(small) >= ENOUGH:
        decimal, reason = ",", "as numbers below 1,000 have none"
    thousands = decimal == other
    style = replace(kind.style, decimal=decimal, thousands=mark if thousands else "")
    shown = f"Column {kind.name!r} holds {first!r}" + (f" beside {small[0]!r}" if len(small) else "")
    note = ""
    if style != kind.style:
        meaning = "a mark of thousands" if thousands else f"a decimal {WORDS[mark]}"
        note = f"{shown}: the {WORDS[mark]} is read as {meaning}, {reason}."
    elif not thousands and len(small):
        note = (
            f"{shown}: the {WORDS[mark]} is read as a decimal {WORDS[mark]}{reason and ', ' + reason}; if it marks "
            f'thousands, say so in a schema, {{ kind = "number", decimal = "{other}", thousands = "{mark}" }}.'
        )
    return replace(kind, style=style), note


def as_others_write(
    frame: Any, kinds: Mapping[str, ColumnKind], comma: Comma, say: Callable[[str], None]
) -> dict[str, ColumnKind]:
    """The kinds that training found, adapted to new cells with another decimal mark.

    If some columns show that the decimal mark has changed, the open marks of other columns are read in that way.

    Args:
        frame: of new rows.
        kinds: of its columns, as training found them.
        comma: what a comma in a number means where the cells leave it open.
        say: told in a sentence what was decided.
    """
    import polars as pl

    found = dict(kinds)
    texts = [name for name, kind in kinds.items() if kind.kind == "number" and frame[name].dtype == pl.String]
    # Most files are written like the training file, and then no other mark occurs.
    strange = [name for name in texts if bool(frame[name].str.contains(unlike(kinds[name]), literal=True).any())]
    sure = {mark for name in strange if (mark := new_mark(different(frame[name]), kinds[name], comma))}
    if len(sure) != 1:
        return found
    (decimal,) = sure
    for name in texts:
        if kinds[name].style.decimal != decimal and is_open(frame[name]):
            found[name], note = settled(
                different(frame[name]), kinds[name], open_mark(different(frame[name])), sure, comma
            )
            say(note)
    return found


def unlike(kind: ColumnKind) -> str:
    """The mark, point or comma, that is not the column's decimal mark."""
    return "," if kind.style.decimal == "." else "."


def new_mark(cells: Any, kind: ColumnKind, comma: Comma) -> str:
    """The decimal mark of new cells if it differs from that of training; empty if it does not, or is open."""
    if not read_numbers(cells, kind.style).null_count() or open_mark(cells):
        return ""
    style = find_style(cells, comma)
    return style.decimal if style is not None and style.decimal != kind.style.decimal else ""
