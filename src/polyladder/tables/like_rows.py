"""Rows of a table in the form in which others were given, for models that are not ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyladder.tables.table import DAY, Located, Table, frame_columns, is_frame


def like_rows(table: Table, rows: Any) -> Any:
    """The rows of a table as an array or a data frame, with the types of other rows.

    Numbers of whole-number columns are rounded, those of dates and booleans are written back as such.

    Args:
        table: with the columns of ``rows``.
        rows: an array, or a data frame of pandas or polars.
    """
    if not is_frame(rows):
        return table.numbers
    place = {position: k for k, position in enumerate(table.positions)}
    columns, types = {}, {}
    for i, (name, (_, like)) in enumerate(zip(rows.columns, frame_columns(rows), strict=True)):
        text = i in table.categories
        kind = "date" if i in table.dates else str(like.dtype).lower()
        columns[name] = table.categories[i] if text else as_type(table.numbers[:, place[i]], kind)
        if text or not isinstance(rows, Located):
            types[name] = like.dtype
    frame: Any = type(rows)
    return frame(columns).astype(types) if isinstance(rows, Located) else frame(columns, nan_to_null=True).cast(types)


def as_type(numbers: np.ndarray[Any, Any], kind: str) -> np.ndarray[Any, Any]:
    """Numbers in the type of a column of a data frame, by its name in lower case; missing ones have none but NaN."""
    if kind == "date":
        return (numbers * DAY).round().astype("datetime64[us]")
    missing = np.isnan(numbers).any()
    if kind.startswith(("int", "uint")):
        return numbers.round() if missing else numbers.round().astype(np.int64)
    return numbers >= 0.5 if kind.startswith("bool") and not missing else numbers
