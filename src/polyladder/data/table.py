"""Tables as columns: what is a number, what is a category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """Numeric columns as one matrix, the others one by one.

    Attributes:
        numbers: shape (n, numeric columns), float64, possibly with NaN.
        categories: for each categorical column its position in the table and its values as strings; None is missing.
        positions: for each numeric column its position in the table.
        names: of the table's columns.
    """

    numbers: np.ndarray[Any, np.dtype[np.float64]]
    categories: dict[int, np.ndarray[Any, Any]]
    positions: tuple[int, ...]
    names: tuple[str, ...]

    def take(self, rows: np.ndarray[Any, Any]) -> Table:
        """The given rows."""
        return Table(
            self.numbers[rows], {i: column[rows] for i, column in self.categories.items()}, self.positions, self.names
        )


def is_frame(X: Any) -> bool:
    """Whether X has named columns (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not hasattr(X, "toarray")


def has_categories(X: Any) -> bool:
    """Whether X is a frame with a column that is not numeric."""
    return is_frame(X) and any(is_categorical(column) for _, column in frame_columns(X))


def frame_columns(X: Any) -> list[tuple[str, Any]]:
    """Names and columns of a frame, duplicated names included."""
    names = [str(name) for name in X.columns]
    if hasattr(X, "iloc"):
        return [(name, X.iloc[:, i]) for i, name in enumerate(names)]
    return [(name, X[:, i]) for i, name in enumerate(names)]


def is_categorical(column: Any) -> bool:
    """Text, categorical and mixed columns are categories; numbers, booleans and nullable numbers are not."""
    kind = str(column.dtype).lower()
    return not kind.startswith(("int", "uint", "float", "double", "bool", "decimal", "datetime", "date", "duration"))


def read_table(X: Any, categorical: Sequence[int] | None = None) -> Table:
    """Take a frame apart. ``categorical`` fixes which columns are categories, as found at the first reading."""
    numbers, categories, positions = [], {}, []
    for i, (name, column) in enumerate(frame_columns(X)):
        if str(column.dtype).lower().startswith(("date", "duration", "timedelta")):
            raise ValueError(
                f"Column {name!r} must hold numbers or categories; got dates. Turn it into numbers first, such as days."
            )
        if is_categorical(column) if categorical is None else i in categorical:
            values = np.asarray(column, dtype=object)
            missing = np.array([v is None or str(v) in ("nan", "<NA>", "NaT") for v in values], dtype=bool)
            text = np.array([None if gone else str(v) for v, gone in zip(values, missing, strict=True)], dtype=object)
            categories[i] = text
        else:
            try:
                values = np.asarray(column, dtype=object)
                numbers.append(np.array([np.nan if v is None else v for v in values], dtype=np.float64))
            except (TypeError, ValueError) as error:
                raise ValueError(f"Column {name!r} must hold numbers, as it did before; got {error}.") from error
            positions.append(i)
    n = len(X)
    matrix = np.stack(numbers, 1) if numbers else np.empty((n, 0))
    return Table(matrix, categories, tuple(positions), tuple(str(name) for name in X.columns))
