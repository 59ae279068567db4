"""Tables as columns: what is a number, what is a category."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, Protocol, runtime_checkable

import numpy as np

TEXT = ("str", "string", "large_string", "utf8", "category", "categorical", "enum", "dictionary")
"""How the names of types of text and categories begin, in pandas, polars and arrow, in lower case."""

DATES = ("date", "timestamp")
"""How the names of types of dates begin. Dates are read as days since 1970."""

SPANS = ("time", "duration", "period", "interval")
"""How the names of types of times of day and of durations begin, which are refused."""

DAY = 86_400e6
"""Microseconds of a day."""


@dataclass(frozen=True)
class Table:
    """Numeric columns as one matrix, the others one by one.

    Attributes:
        numbers: shape (n, numeric columns), float64, possibly with NaN.
        categories: for each categorical column its position in the table and its values as strings; None is missing.
        positions: for each numeric column its position in the table.
        names: of the table's columns.
        dates: positions of the numeric columns that hold dates, as days since 1970.
    """

    numbers: np.ndarray[Any, np.dtype[np.float64]]
    categories: dict[int, np.ndarray[Any, Any]]
    positions: tuple[int, ...]
    names: tuple[str, ...]
    dates: tuple[int, ...] = ()

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.numbers)

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """The numbers or texts of a column."""
        i = self.names.index(name)
        return self.categories[i] if i in self.categories else self.numbers[:, self.positions.index(i)]

    def take(self, rows: np.ndarray[Any, Any] | Sequence[int]) -> Table:
        """The given rows."""
        return replace(self, numbers=self.numbers[rows], categories={i: c[rows] for i, c in self.categories.items()})


def matrix_table(numbers: np.ndarray[Any, np.dtype[np.float64]], names: Iterable[Any] | None = None) -> Table:
    """A matrix (n, d) as a table; columns without names are called x0, x1, ..."""
    places = range(numbers.shape[1])
    known = (f"x{i}" for i in places) if names is None else map(str, names)
    return Table(numbers, {}, tuple(places), tuple(known))


@runtime_checkable
class Frame(Protocol):
    """A data frame of any library: columns with names."""

    @property
    def columns(self) -> Any:
        """Their names."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""


@runtime_checkable
class Located(Protocol):
    """A frame or a column of pandas, or of a library like it, whose cells are found by their places."""

    @property
    def iloc(self) -> Any:
        """What is indexed by places."""

    def to_numpy(self, dtype: Any = None, copy: bool = False, na_value: Any = None) -> np.ndarray[Any, Any]:
        """As an array."""


def as_numbers(X: Any) -> Any:
    """A masked array as numbers with NaN where it is masked. Arrays of dates are refused; all else is unchanged."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        # NumPy would count them in whatever unit they are stored in.
        raise ValueError(f"X must hold numbers; got dates ({X.dtype}). Turn them into numbers first, such as days.")
    return np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else X


def is_frame(X: Any) -> bool:
    """Whether X has named columns (pandas, polars)."""
    # Arrays, which are most common, need not wait for the protocol: it takes longer than the prediction of a row.
    return not isinstance(X, np.ndarray) and isinstance(X, Frame)


def frame_columns(X: Any) -> list[tuple[str, Any]]:
    """Names and columns of a frame, duplicated names included."""
    names = [str(name) for name in X.columns]
    if isinstance(X, Located):
        return [(name, X.iloc[:, i]) for i, name in enumerate(names)]
    return [(name, X[:, i]) for i, name in enumerate(names)]


def find_categories(X: Any) -> tuple[int, ...]:
    """Positions of the columns of a frame that hold categories; spans of time and mixtures are refused."""
    return tuple(i for i, (name, column) in enumerate(frame_columns(X)) if is_categorical(name, column))


def find_dates(X: Any) -> tuple[int, ...]:
    """Positions of the columns of a frame that hold dates."""
    return tuple(i for i, (_, column) in enumerate(frame_columns(X)) if is_date(column))


def is_date(column: Any) -> bool:
    """Whether a column holds dates, with or without a time of day."""
    kind = str(column.dtype).lower()
    if not kind.startswith("object"):
        return kind.startswith(DATES)
    first = next((v for v in np.asarray(column, dtype=object) if not is_missing(v)), None)
    return isinstance(first, (datetime.date, np.datetime64))


def is_categorical(name: str, column: Any) -> bool:
    """Text and categorical columns are categories; numbers, booleans, nullable numbers and dates are not.

    A column of Python objects is judged by its values. It must not mix numbers and text: a mixture is nearly always a
    misread number.
    """
    kind = str(column.dtype).lower()
    if is_date(column):
        return False
    if kind.startswith(SPANS):
        raise ValueError(no_spans(name))
    if not kind.startswith("object"):
        return kind.startswith(TEXT)
    values = [v for v in np.asarray(column, dtype=object) if not is_missing(v)]
    if any(isinstance(v, (datetime.time, datetime.timedelta, np.timedelta64)) for v in values):
        raise ValueError(no_spans(name))
    numeric = [isinstance(v, (Number, np.bool_)) for v in values]
    if any(numeric) and not all(numeric):
        number, text = values[numeric.index(True)], values[numeric.index(False)]
        raise ValueError(
            f"Column {name!r} must hold numbers or categories, not both; got {number!r} and {text!r}. "
            "Turn it into one of them first."
        )
    return not any(numeric)


def is_missing(value: Any) -> bool:
    """Whether a value of an object column is missing: None, NaN, NaT or pandas' NA."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "NaN", "<NA>", "NaT"))


def no_spans(name: str) -> str:
    """The error for a column of durations."""
    return (
        f"Column {name!r} must hold numbers, categories or dates; got times or spans of time. "
        "Turn it into numbers first, such as hours."
    )


def read_table(X: Any, categorical: Sequence[int]) -> Table:
    """Take a frame apart. ``categorical`` are the positions of the categories, as found at the first reading."""
    numbers, categories, positions, dates = [], {}, [], []
    for i, (name, column) in enumerate(frame_columns(X)):
        if str(column.dtype).lower().startswith(SPANS):
            raise ValueError(no_spans(name))
        if i in categorical:
            values = np.asarray(column, dtype=object)
            categories[i] = np.array([None if is_missing(v) else str(v) for v in values], dtype=object)
            continue
        positions.append(i)
        if is_date(column):
            dates.append(i)
            numbers.append(read_days(name, column))
        else:
            numbers.append(read_numbers(name, column))
    matrix = np.stack(numbers, 1) if numbers else np.empty((len(X), 0))
    return Table(matrix, categories, tuple(positions), tuple(str(name) for name in X.columns), tuple(dates))


def read_days(name: str, column: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A column of dates as days since 1970, in UTC where they have a time zone; NaN where they are missing."""
    try:
        values = column if str(column.dtype) != "object" else [None if is_missing(v) else v for v in column]
        stamps = np.asarray(values, dtype="datetime64[us]")
    except (TypeError, ValueError) as error:
        raise ValueError(f"Column {name!r} must hold dates throughout; {error}.") from error
    return np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / DAY)


def read_numbers(name: str, column: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A column as float64, with NaN for missing values."""
    try:
        if isinstance(column, Located):
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Column {name!r} must hold numbers; {error}.") from error
