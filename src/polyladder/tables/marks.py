"""What points and commas mean where a column leaves it open: 1.589 beside 950 may be thousands or decimals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from polyladder.tables.columns import ColumnKind, cleaned
from polyladder.tables.number_style import Comma, find_style, read_numbers

AROUND = r"[^\d.,]*"
OPEN = rf"^{AROUND}[1-9]\d{{0,2}}[.,]\d{{3}}{AROUND}$"
"""One mark with three digits behind it: it may mean both."""

SMALL = rf"^{AROUND}[1-9]\d{{0,2}}{AROUND}$"
"""A number below 1,000 without a mark, as thousands leave it and three decimals do not."""

LARGE = r"\d{4}"
"""A number that a mark of thousands would have cut."""

ENOUGH = 5
"""Different numbers with a mark from which on, beside two without, the mark is no decimal point in a file whose commas
are decimal: of numbers with three decimals one in ten ends in a zero, and one in a thousand has none."""

FIRST = 50
"""Cells that are looked at first."""

WORDS = {".": "point", ",": "comma"}


def settle_marks(
    frame: Any, kinds: Mapping[str, ColumnKind], comma: Comma, fixed: Iterable[str] = ()
) -> tuple[dict[str, ColumnKind], dict[str, str]]:
    """The kinds of columns after all have been heard: where one leaves a mark open, the others decide.

    Args:
        frame: with these columns.
        kinds: of the columns, each as it looks alone.
        comma: what a comma in a number means where the cells leave it open.
        fixed: columns whose kind was asked for, and stays.

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
    # To look at all cells of every column takes long, and the first ones tell of most.
    first = different(column.head(FIRST))
    marked = first.filter(first.str.contains("[.,]"))
    return bool(marked.str.contains(OPEN).all()) and bool(open_mark(different(column)))


def open_mark(cells: Any) -> str:
    """The mark of a column in which it may mean thousands as well as decimals; empty where there is none."""
    if bool(cells.str.contains(LARGE).any()):
        return ""
    marked = cells.filter(cells.str.contains("[.,]"))
    if not len(marked) or not bool(marked.str.contains(OPEN).all()):
        return ""
    return next((mark for mark in WORDS if bool(marked.str.contains(mark, literal=True).all())), "")


def settled(cells: Any, kind: ColumnKind, mark: str, sure: set[str], comma: Comma) -> tuple[ColumnKind, str]:
    """A column whose mark is open, as the others say, and a sentence about it."""
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
    """The kinds that training found, for new cells, which may come from a program that writes decimals otherwise.

    Where some columns show that, marks that others leave open are read as those show.

    Args:
        frame: of new rows.
        kinds: of its columns, as training found them.
        comma: what a comma in a number means where the cells leave it open.
        say: told in a sentence what was decided.
    """
    import polars as pl

    found = dict(kinds)
    texts = [name for name, kind in kinds.items() if kind.kind == "number" and frame[name].dtype == pl.String]
    # Most files are written as that of training, and these have no mark of the other kind.
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
    """The mark that decimals of a column do not have."""
    return "," if kind.style.decimal == "." else "."


def new_mark(cells: Any, kind: ColumnKind, comma: Comma) -> str:
    """The decimal mark of cells that are not written as training's; empty if they are, or leave it open."""
    if not read_numbers(cells, kind.style).null_count() or open_mark(cells):
        return ""
    style = find_style(cells, comma)
    return style.decimal if style is not None and style.decimal != kind.style.decimal else ""
