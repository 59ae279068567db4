"""What the columns of a text table hold (numbers, categories, yes and no, dates), and turning cells into that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from polyladder.tables.booleans import find_words, read_words
from polyladder.tables.dates import as_days, find_date_format, write_date
from polyladder.tables.number_style import (
    PLAIN,
    Comma,
    NumberStyle,
    find_style,
    number_style,
    read_numbers,
    write_number,
)

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "missing", "#ref!", "#value!", "#div/0!")
"""What stands for a missing value, in lower case."""

MISREAD = 0.8
"""From this share of numbers on, a column with text in it is taken for numbers that were misread."""

Kind = Literal["number", "category", "boolean", "date", "empty"]


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds.

    Attributes:
        name: of the column.
        kind: "number", "category", "boolean" for yes and no, "date", or "empty" if there is nothing in it.
        date_format: how its dates are written, if they are text.
        style: how its numbers are written.
        words: for no and for yes.
        codes: whether its categories are digits with leading zeros.
    """

    name: str
    kind: Kind
    date_format: str | None = None
    style: NumberStyle = PLAIN
    words: tuple[str, str] | None = None
    codes: bool = False

    def json(self) -> dict[str, Any]:
        """As a card holds it."""
        found: dict[str, Any] = {"kind": self.kind}
        if self.date_format is not None:
            found["date_format"] = self.date_format
        if self.style != PLAIN:
            found["style"] = self.style.json()
        if self.words is not None:
            found["words"] = list(self.words)
        return found


def column_kind(name: str, entries: Mapping[str, Any]) -> ColumnKind:
    """A kind from what `ColumnKind.json` wrote."""
    words = entries.get("words")
    style = number_style(dict(entries.get("style", {})))
    return ColumnKind(name, entries["kind"], entries.get("date_format"), style, None if words is None else tuple(words))


def guess_kind(column: Any, comma: Comma) -> ColumnKind:
    """What a column of a frame holds, judged by all its cells."""
    import polars as pl

    name, dtype = column.name, column.dtype
    if dtype.is_numeric() or dtype == pl.Boolean:
        return ColumnKind(name, "number" if column.null_count() < len(column) else "empty")
    if dtype in (pl.Date, pl.Datetime):
        return ColumnKind(name, "date")
    present = cleaned(column).drop_nulls()
    if not len(present):
        return ColumnKind(name, "empty")
    # Many cells are alike, and looking at text is slow.
    different = present.unique(maintain_order=True)
    if has_leading_zeros(different):
        return ColumnKind(name, "category", codes=True)
    date_format = find_date_format(different)
    if date_format is not None:
        return ColumnKind(name, "date", date_format)
    style = find_style(different, comma)
    if style is not None:
        return ColumnKind(name, "number", style=style)
    words = find_words(present)
    if words is not None:
        return ColumnKind(name, "boolean", words=words)
    refuse_misread(name, present, comma)
    return ColumnKind(name, "category")


def kind_as(column: Any, kind: Literal["number", "category", "boolean", "date"], comma: Comma) -> ColumnKind:
    """What a column holds if it must be of a kind: how its numbers, dates or words are written, as far as they fit."""
    import polars as pl

    name = column.name
    if kind == "category" or column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Date, pl.Datetime):
        return ColumnKind(name, kind)
    different = cleaned(column).drop_nulls().unique(maintain_order=True)
    if kind == "date":
        return ColumnKind(name, kind, find_date_format(different))
    if kind == "boolean":
        return ColumnKind(name, kind, words=find_words(different) or ("no", "yes"))
    return ColumnKind(name, kind, style=find_style(different, comma) or PLAIN)


def has_leading_zeros(cells: Any) -> bool:
    """Whether cells are digits throughout, some with zeros in front: codes, whose zeros mean something."""
    return bool(cells.str.contains(r"^0\d+$").any()) and bool(cells.str.contains(r"^\d+$").all())


def refuse_misread(name: str, present: Any, comma: Comma) -> None:
    """Refuse a column most of whose cells are numbers: it is nearly always numbers with a few texts among them."""
    numbers = read_numbers(present, PLAIN)
    if comma == "decimal" and numbers.null_count():
        numbers = numbers.fill_null(read_numbers(present, NumberStyle(decimal=",", thousands=".")))
    if numbers.null_count() <= (1 - MISREAD) * len(present):
        text = present.filter(numbers.is_null())[0]
        number = present.filter(numbers.is_not_null())[0]
        raise ValueError(
            f"Column {name!r} must hold numbers or categories, not both; got {number!r} and {text!r}. "
            f"Mend it, or pass --category {name!r} or --drop {name!r}."
        )


def convert(column: Any, kind: ColumnKind, comma: Comma, row: int = 1) -> Any:
    """The cells of a column as numbers (float64) or text, what is missing as null.

    Args:
        column: of a frame.
        kind: what it must hold.
        comma: what a comma in a number means where the cells leave it open.
        row: number of the first cell's row, for messages.
    """
    import polars as pl

    if kind.kind == "category":
        return cleaned(column)
    if kind.kind == "date" and column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("us")).dt.epoch("us") / 86_400e6
    if kind.kind == "boolean":
        text = cleaned(column)
        words = read_words(text, kind.words or ("no", "yes"))
        refuse(kind, text, text.is_not_null() & words.is_null(), "yes or no", row)
        return words
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        values = column.cast(pl.Float64).fill_nan(None)
    else:
        text = cleaned(column)
        values = read_dates(text, kind) if kind.kind == "date" else read_styled(text, kind.style, comma)
        refuse(kind, text, text.is_not_null() & values.is_null(), "numbers" if kind.kind == "number" else "dates", row)
    refuse(kind, column, values.is_infinite().fill_null(False), "finite numbers", row)
    return values


def read_dates(text: Any, kind: ColumnKind) -> Any:
    """Dates in the column's format; one without a format takes each file's own."""
    present = text.drop_nulls().unique(maintain_order=True)
    return as_days(text, kind.date_format or (find_date_format(present) if len(present) else None) or "%Y-%m-%d")


def read_styled(text: Any, style: NumberStyle, comma: Comma) -> Any:
    """Numbers in the column's style; where a cell is not, in the style that the cells at hand share.

    The second matters for new files: prices that were plain in training may come with a currency.
    """
    values = read_numbers(text, style)
    wrong = text.is_not_null() & values.is_null()
    if not wrong.any():
        return values
    other = find_style(text.drop_nulls().unique(maintain_order=True), comma)
    return values if other is None else read_numbers(text, other)


def refuse(kind: ColumnKind, cells: Any, wrong: Any, wanted: str, row: int) -> None:
    """Refuse a column at its first wrong cell, if there is one."""
    if wrong.any():
        at = int(wrong.arg_true()[0])
        raise ValueError(f"Column {kind.name!r} must hold {wanted}; got {cells[at]!r} in row {row + at}.")


def cleaned(column: Any) -> Any:
    """The cells as text without surrounding space; null where they stand for nothing."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Duration):
        raise ValueError(f"Column {column.name!r} must hold numbers, dates or text; got {column.dtype}.")
    text = column.cast(pl.String).str.strip_chars()
    return text.set(text.str.len_bytes().le(8) & text.str.to_lowercase().is_in(list(MISSING)), None)


def write_value(value: float | str | None, written: Mapping[str, Any] | None, digits: int = 4) -> str:
    """A value as the column's cells are written.

    Args:
        value: number, text, or None or NaN where it is missing.
        written: what `ColumnKind.json` wrote; None for plain numbers.
        digits: of numbers, at most.
    """
    if isinstance(value, str):
        return value
    if value is None or math.isnan(value):
        return "missing"
    entries = written or {}
    if entries.get("kind") == "date":
        return write_date(value, entries.get("date_format"))
    if "style" in entries:
        return write_number(value, number_style(dict(entries["style"])), digits)
    return f"{value:.{digits}g}"
