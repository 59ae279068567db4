"""Dates as text: the formats that are known, reading them as days since 1970 and writing days as dates."""

from __future__ import annotations

import datetime
import math
from typing import Any

TIMES = ("%H:%M", "%I:%M %p", "%I:%M:%S %p", "%H:%M:%S%.f")
"""Times of day."""

ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f")
"""Unambiguous formats: they are read in every column of dates, whatever its own format."""

WITHOUT_DAY = ("%Y-%m", "%m/%Y", "%b %Y", "%B %Y")
"""Months; they are read as their first day."""

DATE_FORMATS = (
    *ISO,
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b %d %Y",
    "%Y%m%d",
    "%Y%m%dT%H%M%S",
    *WITHOUT_DAY,
    *TIMES,
)
"""How dates may be written; the first that fits every cell counts."""

SWAPPED = {"%d/%m/%Y": "%m/%d/%Y", "%d-%m-%Y": "%m-%d-%Y", "%d/%m/%y": "%m/%d/%y"}
"""Formats of which a cell may fit both."""

DAYS = "days since 1970-01-01"
"""The unit of dates that are read as numbers."""

SHARES_OF_DAY = "days since midnight"
"""The unit of times of day that are read as numbers: 12:00 is 0.5."""

EXAMPLE = 20088.0 + 13.75 / 24
"""December 31, 2024, 13:45: an example in which day, month, hour and minute cannot be confused."""

PLAIN_NUMBER = r"^[+-]?\d*[.,]?\d+([eE][+-]?\d+)?$"
"""A plain number, which is not a date unless every cell of the column has eight digits."""

FIRST_YEAR = 1000
EPOCH = datetime.datetime(1970, 1, 1)


def find_date_format(cells: Any) -> str | None:
    """The first format in which every cell is a date; None if there is none.

    Args:
        cells: different texts without surrounding space, none missing.
    """
    # Columns of digits are numbers, unless all are eight digits that form a date YYYYMMDD.
    if bool(cells.str.contains(r"^\d+$").all()):
        return "%Y%m%d" if in_our_time(cells) else None
    first = cells.head(20)
    # Trying all formats is slow, and most columns hold numbers.
    if bool(first.str.contains(PLAIN_NUMBER).any()) or not bool(first.str.contains(r"\d").all()):
        return None
    for date_format in DATE_FORMATS:
        if as_days(first, date_format).null_count() == 0 == as_days(cells, date_format).null_count():
            return date_format
    # Some cells have a time of day, or seconds, and others do not: take the longest format that occurs.
    for start, alike in ((r"^\d{4}-\d\d-\d\d", ISO), (r"^\d{1,2}:\d\d", TIMES)):
        if bool(cells.str.contains(start).all()) and read_dates(cells, alike[0]).null_count() == 0:
            return next(date_format for date_format in reversed(alike) if as_days(cells, date_format).count())
    return None


def in_our_time(cells: Any) -> bool:
    """Whether cells of eight digits are dates from 1900 to 2100."""
    if not bool(cells.str.contains(r"^(19|20)\d\d[01]\d[0-3]\d$").all()):
        return False
    return as_days(cells, "%Y%m%d").null_count() == 0


def is_ambiguous(cells: Any, date_format: str) -> bool:
    """Whether day and month could be swapped in every cell."""
    other = SWAPPED.get(date_format)
    return other is not None and as_days(cells, other).null_count() == 0


def as_days(text: Any, date_format: str) -> Any:
    """Cells as days since 1970, fractions of a day included; null where they do not have this format."""
    import polars as pl

    plain = text.str.replace(r"(\d\d:\d\d.*?)(Z|[+-]\d\d:?\d\d)$", "$1")
    if date_format in WITHOUT_DAY:
        plain, date_format = pl.Series(text.name, ["1 "]).new_from_index(0, len(plain)) + plain, f"%d {date_format}"
    elif date_format in TIMES:
        first = pl.Series(text.name, ["1970-01-01 "]).new_from_index(0, len(plain))
        plain, date_format = first + plain, f"%Y-%m-%d {date_format}"
    found = plain.str.to_datetime(date_format, strict=False, time_unit="us")
    # %Y would read a year of two digits as one of the first century.
    found = found.set((found.dt.year() < FIRST_YEAR).fill_null(False), None)
    return found.dt.epoch("us") / 86_400e6


def read_dates(text: Any, date_format: str | None) -> Any:
    """Cells as days, in the column's format or as an ISO date; without a format, each file's own is found."""
    if date_format is None:
        present = text.drop_nulls().unique(maintain_order=True)
        date_format = (find_date_format(present) if len(present) else None) or ISO[0]
    days = as_days(text, date_format)
    for other in TIMES if date_format in TIMES else ISO:
        if days.null_count() > text.null_count():
            days = days.fill_null(as_days(text, other))
    return days


def is_date_format(text: str) -> bool:
    """Whether a text is a format that dates can be read and written by."""
    import polars as pl

    try:
        written = pl.Series([write_date(EXAMPLE, text)])
        return "%" in text and as_days(written, text).null_count() == 0
    except (pl.exceptions.PolarsError, ValueError):
        return False


def date_words(date_format: str | None) -> str:
    """What a column of dates must hold, with an example."""
    if date_format is None:
        return "dates"
    also = "" if date_format in (*TIMES, ISO[0]) else f" or {write_date(EXAMPLE, ISO[0])}"
    what = "times" if date_format in TIMES else "dates"
    return f"{what} written like {write_date(EXAMPLE, date_format)} ({date_format}){also}"


def date_unit(date_format: str | None) -> str:
    """The unit of a column of dates that is read as numbers."""
    return SHARES_OF_DAY if date_format in TIMES else DAYS


def write_date(days: float, date_format: str | None) -> str:
    """Days since 1970 as a date in the column's own format."""
    if not math.isfinite(days):
        return "missing"
    try:
        moment = EPOCH + datetime.timedelta(days=days)
    except OverflowError:
        return f"{days:g}"
    wanted = date_format or ("%Y-%m-%d" if days == round(days) else "%Y-%m-%d %H:%M")
    return moment.strftime(wanted.replace("%.f", ""))
