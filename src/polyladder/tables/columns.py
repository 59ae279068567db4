"""What the columns of a text table hold (numbers, categories, yes and no, dates), and turning cells into that."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from polyladder.tables.booleans import find_words, read_words
from polyladder.tables.dates import date_words, find_date_format, read_dates, write_date
from polyladder.tables.number_style import (
    PLAIN,
    Comma,
    NumberStyle,
    find_style,
    number_style,
    read_numbers,
    write_number,
)
from polyladder.tables.spellings import find_spellings
from polyladder.tables.styled_numbers import read_styled, refuse_fractions
from polyladder.tables.units import unit_of

MISSING = (
    *("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "missing"),
    *("#ref!", "#value!", "#div/0!", "#name?", "#num!", "#null!"),
)
"""What stands for a missing value, in lower case."""

MISREAD = 0.8
"""A text column of which at least this share is numbers is refused as misread; raise it to refuse fewer columns."""

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
        missing: the number that marks a missing value, if there is one.
        spelled: maps other spellings of a category to the one that is used.
        span: its smallest, its median and its largest number in training, where they are known.
    """

    name: str
    kind: Kind
    date_format: str | None = None
    style: NumberStyle = PLAIN
    words: tuple[str, str] | None = None
    codes: bool = False
    missing: float | None = None
    spelled: Mapping[str, str] = field(default_factory=dict)
    span: tuple[float, float, float] | None = field(default=None, compare=False)

    @property
    def unit(self) -> str:
        """The unit or currency of its numbers, from its cells or else from its name; empty if neither names one."""
        return self.style.unit or self.style.money or unit_of(self.name) or ""

    def json(self) -> dict[str, Any]:
        """As a card holds it."""
        found: dict[str, Any] = {"kind": self.kind}
        if self.date_format is not None:
            found["date_format"] = self.date_format
        if self.style != PLAIN:
            found["style"] = self.style.json()
        if self.words is not None:
            found["words"] = list(self.words)
        if self.missing is not None:
            found["missing"] = self.missing
        if self.spelled:
            found["spelled"] = dict(self.spelled)
        return found


def column_kind(name: str, entries: Mapping[str, Any]) -> ColumnKind:
    """A kind from what `ColumnKind.json` wrote."""
    try:
        words, missing = entries.get("words"), entries.get("missing")
        return ColumnKind(
            name,
            entries["kind"],
            entries.get("date_format"),
            number_style(dict(entries.get("style", {}))),
            None if words is None else tuple(words),
            missing=None if missing is None else float(missing),
            spelled={str(text): str(spelling) for text, spelling in dict(entries.get("spelled", {})).items()},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"The model's card must say how column {name!r} is written; it says {entries!r}.") from error


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
    # Cells repeat, and text is slow to parse.
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
    refuse_misread(name, present)
    return ColumnKind(name, "category", spelled=find_spellings(present))


def kind_as(column: Any, kind: Literal["number", "category", "boolean", "date"], comma: Comma) -> ColumnKind:
    """A column as a given kind, with the way in which its numbers, dates or words are written, as far as they fit."""
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
    """Whether all cells are digits and some have leading zeros: then they are codes, not numbers."""
    return bool(cells.str.contains(r"^0\d+$").any()) and bool(cells.str.contains(r"^\d+$").all())


def refuse_misread(name: str, present: Any) -> None:
    """Refuse a text column in which most cells are numbers: it is nearly always numbers with a few typos."""
    numbers = read_numbers(present, PLAIN)
    commas = read_numbers(present, NumberStyle(decimal=",", thousands="."))
    out = f"or pass --category {name!r} or --drop {name!r}"
    for read, rest in ((numbers, commas), (commas, numbers)):
        lacking = read.is_null()
        if lacking.sum() > (1 - MISREAD) * len(present):
            continue
        number, text = present.filter(~lacking)[0], present.filter(lacking)[0]
        if rest.filter(lacking).null_count() < lacking.sum():
            text = present.filter(lacking & rest.is_not_null())[0]
            number = next((c for c in present.filter(~lacking) if not c.isdigit()), number)
            raise ValueError(
                f"Column {name!r} must write decimals in one way; got {number!r} and {text!r}. "
                f"Write all with a point or all with a comma, {out}."
            )
        raise ValueError(
            f"Column {name!r} must hold numbers or categories, not both; got {number!r} and {text!r}. Fix it, {out}."
        )


def convert(
    column: Any, kind: ColumnKind, comma: Comma, row: int = 1, say: Callable[[str], None] = lambda sentence: None
) -> Any:
    """The cells of a column as numbers (float64) or text, with null for missing ones.

    Args:
        column: of a frame.
        kind: what it must hold.
        comma: what a comma in a number means where the cells leave it open.
        row: number of the first cell's row, for messages.
        say: told in a sentence what had to be converted.
    """
    import polars as pl

    if kind.kind == "category":
        text = cleaned(column)
        return text.replace(list(kind.spelled), list(kind.spelled.values())) if kind.spelled else text
    if kind.kind == "date" and column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("us")).dt.epoch("us") / 86_400e6
    if kind.kind == "boolean":
        text = cleaned(column)
        words = read_words(text, kind.words or ("no", "yes"))
        refuse(kind, text, text.is_not_null() & words.is_null(), "yes or no", row)
        return words
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        values = column.cast(pl.Float64).fill_nan(None)
        refuse_fractions(kind, column, values, row)
    elif kind.kind == "date":
        text = cleaned(column)
        values = read_dates(text, kind.date_format)
        refuse(kind, text, text.is_not_null() & values.is_null(), date_words(kind.date_format), row)
    else:
        text = cleaned(column)
        values = read_styled(text, kind, comma, row, say)
        wanted = f"numbers in {kind.style.unit}" if kind.style.unit else "numbers"
        refuse(kind, text, text.is_not_null() & values.is_null(), wanted, row)
    refuse(kind, column, values.is_infinite().fill_null(False), "finite numbers", row)
    return values if kind.missing is None else values.set(values.eq(kind.missing).fill_null(False), None)


def refuse(kind: ColumnKind, cells: Any, wrong: Any, wanted: str, row: int) -> None:
    """Refuse a column at its first wrong cell, if there is one."""
    if wrong.any():
        from polyladder.tables.totals import is_label

        at = int(wrong.arg_true()[0])
        advice = " If this row sums up the others, take it out." if is_label(cells[at]) else ""
        raise ValueError(f"Column {kind.name!r} must hold {wanted}; got {cells[at]!r} in row {row + at}.{advice}")


def cleaned(column: Any) -> Any:
    """The cells as text without surrounding space; null where they are missing."""
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
