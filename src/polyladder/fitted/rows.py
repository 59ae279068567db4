"""Rows of a file, a data frame or an array as a model wants them: its columns, in its order, as numbers and texts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from polyladder.fitted.column import Column
from polyladder.tables.columns import ColumnKind, convert
from polyladder.tables.marks import as_others_write
from polyladder.tables.table import (
    Located,
    Table,
    as_numbers,
    frame_columns,
    is_date,
    is_frame,
    matrix_table,
    read_table,
)

if TYPE_CHECKING:
    from polyladder.tables.table_file import TableFile


def read(columns: Sequence[Column], rows: Any, named: bool = True) -> Table:
    """Rows taken apart, and refused where they are not those of a model.

    Args:
        columns: of the model's table.
        rows: an array, a data frame, or rows that were taken apart before. Shape (n, columns).
        named: whether the columns have names of their own, by which those of a frame are found.
    """
    if isinstance(rows, Table):
        return rows
    if is_frame(rows) and any(column.written is not None for column in columns):
        # A table that was read cell by cell in training is read so again.
        from polyladder.tables.table_file import frame_file

        file = frame_file(rows)
        return file_rows(file, columns, named).table(file.whole())
    if isinstance(rows, Mapping):
        import polars as pl

        rows = pl.DataFrame(rows)
    rows = as_numbers(rows)
    table = frame_table(columns, rows, named) if is_frame(rows) else array_table(columns, rows)
    if np.isinf(table.numbers).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
    refuse_missing(columns, table)
    return table


def array_table(columns: Sequence[Column], rows: Any) -> Table:
    """An array, which holds numbers alone."""
    texts = [column.name for column in columns if column.kind == "category"]
    if texts:
        raise ValueError(f"X must be a data frame, as column {texts[0]!r} holds texts; got {type(rows).__name__}.")
    numbers = np.asarray(rows, dtype=np.float64)
    if numbers.ndim != 2 or numbers.shape[1] != len(columns):
        raise ValueError(f"X must have shape (rows, {len(columns)}), as in training; got {numbers.shape}.")
    return matrix_table(numbers, (column.name for column in columns))


def frame_table(columns: Sequence[Column], rows: Any, named: bool) -> Table:
    """A data frame, whose columns are found by their names, or by their places where training had no names."""
    found = dict(enumerate(frame_columns(rows)))
    places = {name: i for i, (name, _) in found.items()}
    if named:
        lacking = [column.name for column in columns if column.name not in places]
        if lacking:
            raise ValueError(f"X must have the columns of training; it lacks {', '.join(map(repr, lacking[:5]))}.")
        order = [places[column.name] for column in columns]
    else:
        if len(found) != len(columns):
            raise ValueError(f"X must have {len(columns)} columns, as in training; got {len(found)}.")
        order = list(range(len(columns)))
    for column, place in zip(columns, order, strict=True):
        days = column.cells is not None and column.cells.kind == "date"
        if column.kind == "number" and is_date(found[place][1]) != days:
            wanted, got = ("dates", "numbers") if days else ("numbers", "dates")
            raise ValueError(f"Column {column.name!r} must hold {wanted}, as in training; got {got}.")
    chosen = rows.iloc[:, order] if isinstance(rows, Located) else rows[:, order]
    return read_table(chosen, [i for i, column in enumerate(columns) if column.kind == "category"])


def refuse_missing(columns: Sequence[Column], table: Table) -> None:
    """Refuse missing numbers where the model has nothing to put in their place."""
    gone = np.isnan(table.numbers)
    open_ = [k for k, i in enumerate(table.positions) if columns[i].fill is None and columns[i].role == "numeric"]
    if gone[:, open_].any():
        row, place = (int(i) for i in np.argwhere(gone[:, open_])[0])
        raise ValueError(
            f"Input X contains NaN, first in row {row + 1} of column {columns[table.positions[open_[place]]].name!r}. "
            "Leave missing='impute' in training to have missing numbers filled in."
        )


@dataclass(frozen=True)
class FileRows:
    """A file whose cells become rows of a model.

    Attributes:
        file: the open table.
        columns: of the model's table.
        kinds: for each of them, in their order, its name in the file and what it holds.
    """

    file: TableFile
    columns: Sequence[Column]
    kinds: dict[str, ColumnKind]

    def table(self, chunk: Any, row: int = 1) -> Table:
        """Rows of the file, converted cell by cell. What had to be converted is said as a warning.

        Args:
            chunk: a polars frame with the cells.
            row: number of the first row, for messages.
        """
        numbers, categories, positions = [], {}, []
        others = as_others_write(chunk, self.kinds, self.file.comma, warn)
        for i, (column, (name, kind)) in enumerate(zip(self.columns, others.items(), strict=True)):
            cells = convert(chunk[name], kind, self.file.comma, row, warn)
            if column.kind == "category":
                categories[i] = np.array(cells.to_list(), dtype=object)
            else:
                positions.append(i)
                numbers.append(cells.to_numpy())
        matrix = np.stack(numbers, 1).astype(np.float64) if numbers else np.empty((len(chunk), 0))
        table = Table(matrix, categories, tuple(positions), tuple(column.name for column in self.columns))
        refuse_missing(self.columns, table)
        return table


def file_rows(file: TableFile, columns: Sequence[Column], named: bool = True) -> FileRows:
    """A file by the columns that a model needs; refused where it lacks some.

    A model that was fitted to an array has no names: it takes the columns of the file as they come.
    """
    kinds = [column.reading for column in columns]
    lacking = [kind.name for kind in kinds if kind.name not in file.names]
    if not lacking:
        return FileRows(file, columns, {kind.name: kind for kind in kinds})
    if not named and len(file.names) == len(kinds):
        return FileRows(file, columns, dict(zip(file.names, kinds, strict=True)))
    listed = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
    raise ValueError(
        f"{file.label} must have the {len(kinds)} columns that the model was fitted to; it lacks {listed}."
    )


def warn(sentence: str) -> None:
    """Say something of rows that are about to be predicted."""
    warnings.warn(sentence, UserWarning, stacklevel=2)
