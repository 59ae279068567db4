"""What the columns of a text table hold (numbers, categories, dates), and turning cells into that. Needs polars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-", ".", "missing")
"""What stands for a missing value, in lower case."""

DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d %b %Y",
    "%b %d, %Y",
)
"""How dates may be written; the first that fits every cell counts."""

DAYS = "days since 1970-01-01"
"""The unit that dates become numbers in."""

MISREAD = 0.8
"""From this share of numbers on, a column with text in it is taken for numbers that were misread."""

Comma = Literal["decimal", "thousands"]


@dataclass(frozen=True)
class ColumnKind:
    """What a column holds.

    Attributes:
        name: of the column.
        kind: "number", "category", "date", or "empty" if there is nothing in it.
        date_format: how its dates are written, if they are text.
    """

    name: str
    kind: Literal["number", "category", "date", "empty"]
    date_format: str | None = None


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
    numbers = as_numbers(present, comma)
    if not numbers.null_count():
        return ColumnKind(name, "number")
    # Many cells are alike, and parsing dates is slow.
    different = present.unique(maintain_order=True)
    for date_format in DATE_FORMATS:
        if as_days(different.head(20), date_format).null_count() == 0 == as_days(different, date_format).null_count():
            return ColumnKind(name, "date", date_format)
    if numbers.null_count() <= (1 - MISREAD) * len(present):
        text = present.filter(numbers.is_null())[0]
        number = present.filter(numbers.is_not_null())[0]
        raise ValueError(
            f"Column {name!r} must hold numbers or categories, not both; got {number!r} and {text!r}. "
            f"Mend it, or pass --category {name!r} or --drop {name!r}."
        )
    return ColumnKind(name, "category")


def convert(column: Any, kind: ColumnKind, comma: Comma, row: int = 1) -> Any:
    """The cells of a column as numbers (float64) or text, what is missing as null.

    Args:
        column: of a frame.
        kind: what it must hold.
        comma: what a comma in a number marks.
        row: number of the first cell's row, for messages.
    """
    import polars as pl

    if kind.kind == "category":
        return cleaned(column)
    if kind.kind == "date" and column.dtype in (pl.Date, pl.Datetime):
        return column.cast(pl.Datetime("us")).dt.epoch("us") / 86_400e6
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        values = column.cast(pl.Float64).fill_nan(None)
    else:
        text = cleaned(column)
        values = as_days(text, kind.date_format or DATE_FORMATS[0]) if kind.kind == "date" else as_numbers(text, comma)
        refuse(kind, text, text.is_not_null() & values.is_null(), "numbers" if kind.kind == "number" else "dates", row)
    refuse(kind, column, values.is_infinite().fill_null(False), "finite numbers", row)
    return values


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


def as_numbers(text: Any, comma: Comma) -> Any:
    """Cells as float64, null where they are no numbers."""
    import polars as pl

    values = text.cast(pl.Float64, strict=False)
    wrong = values.is_null() & text.is_not_null()
    if not wrong.any():
        return values
    if comma == "decimal":
        other = text.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
        pattern = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?$"
    else:
        other = text.str.replace_all(",", "", literal=True)
        pattern = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
    mended = other.cast(pl.Float64, strict=False).set(~text.str.contains(pattern).fill_null(False), None)
    return values.zip_with(~wrong, mended)


def as_days(text: Any, date_format: str) -> Any:
    """Cells as days since 1970, fractions of a day included; null where they are not written in this way."""
    plain = text.str.replace(r"(\d\d:\d\d.*?)(Z|[+-]\d\d:?\d\d)$", "$1")
    return plain.str.to_datetime(date_format, strict=False, time_unit="us").dt.epoch("us") / 86_400e6
