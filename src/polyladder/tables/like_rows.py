"""Rows of a table in the form in which others were given, for models that are not ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyladder.tables.table import DAY, Located, Table, is_frame


def like_rows(table: Table, rows: Any) -> Any:
    """The rows of a table as an array or a pandas data frame, with the types of other rows.

    Numbers of whole-number columns are rounded, those of dates and booleans are written back as such.

    Args:
        table: with the columns of ``rows``.
        rows: an array, or a data frame of pandas.
    """
    if not is_frame(rows):
        return table.numbers
    if not isinstance(rows, Located):
        raise TypeError(f"rows must be an array or a pandas data frame; got {type(rows).__name__}. Convert them.")
    frame: Any = rows
    place = {position: k for k, position in enumerate(table.positions)}
    columns = {}
    for i, name in enumerate(frame.columns):
        if i in table.categories:
            columns[name] = table.categories[i]
        else:
            kind = "date" if i in table.dates else str(frame.dtypes.iloc[i]).lower()
            columns[name] = as_type(table.numbers[:, place[i]], kind)
    text = {name: frame.dtypes.iloc[i] for i, name in enumerate(frame.columns) if i in table.categories}
    return type(frame)(columns).astype(text)


def as_type(numbers: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    """Numbers in the type of a column of a data frame, by its name in lower case; missing ones have none but NaN."""
    if kind == "date":
        return (numbers * DAY).round().astype("datetime64[us]")
    if np.isnan(numbers).any():
        return numbers
    if kind.startswith(("int", "uint")):
        return numbers.round().astype(np.int64)
    return numbers >= 0.5 if kind.startswith("bool") else numbers
