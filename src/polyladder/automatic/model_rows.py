"""Rows of a file as a fitted model wants them: its columns, in its order, as numbers and categories."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyladder.tables.columns import ColumnKind
    from polyladder.tables.table_file import TableFile


def load_estimator(path: Path) -> Any:
    """The estimator in a file; a bare polynomial is refused."""
    from polyladder.polynomial.ladder import LadderPolynomial
    from polyladder.polynomial.store import load

    found = load(path)
    if isinstance(found, LadderPolynomial):
        raise ValueError(f"{path} must hold a fitted estimator; it holds a polynomial without its preprocessing.")
    return found


def model_columns(estimator: Any) -> tuple[ColumnKind, ...]:
    """The columns that the model was fitted to, and what they hold."""
    from polyladder.tables.columns import ColumnKind, column_kind
    from polyladder.tables.dates import DAYS
    from polyladder.tables.sparse_features import SparseFeatures

    features = estimator.features_
    if isinstance(features, SparseFeatures):
        return tuple(ColumnKind(name, "number") for name in features.feature_names_out_)
    described = {column["name"]: column for column in (estimator.card_ or {}).get("columns", ())}
    kinds = []
    for i, name in enumerate(features.names_in_):
        column = described.get(name, {})
        if "written" in column:
            kind = column_kind(name, column["written"])
        elif i in features.categorical_:
            kind = ColumnKind(name, "category")
        elif i in features.dates_:
            kind = ColumnKind(name, "date")
        elif column.get("unit") == DAYS:
            kind = ColumnKind(name, "date", column.get("date_format"))
        else:
            kind = ColumnKind(name, "number")
        span = tuple(column.get(end) for end in ("minimum", "median", "maximum"))
        kinds.append(kind if None in span else replace(kind, span=span))
    return tuple(kinds)


def file_columns(file: TableFile, estimator: Any) -> dict[str, ColumnKind]:
    """For each column of the file that the model needs, in the model's order, what it holds.

    A model that was fitted to an array has no names: it takes the columns of the file as they come.
    """
    kinds = model_columns(estimator)
    lacking = [kind.name for kind in kinds if kind.name not in file.names]
    if not lacking:
        return {kind.name: kind for kind in kinds}
    if "feature_names_in_" not in vars(estimator) and len(file.names) == len(kinds):
        return dict(zip(file.names, kinds, strict=True))
    listed = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
    raise ValueError(
        f"{file.label} must have the {len(kinds)} columns that the model was fitted to; it lacks {listed}."
    )


def model_rows(chunk: Any, columns: dict[str, ColumnKind], file: TableFile, estimator: Any, row: int = 1) -> Any:
    """Rows that the estimator takes: a polars frame, or an array if it was fitted to one.

    What had to be converted is said as a warning.
    """
    import polars as pl

    from polyladder.tables.columns import convert
    from polyladder.tables.features import Features
    from polyladder.tables.marks import as_others_write
    from polyladder.tables.table import DAY

    kinds = as_others_write(chunk, columns, file.comma, warn)
    rows = chunk.select(list(columns)).with_columns(
        convert(chunk[name], kind, file.comma, row, warn) for name, kind in kinds.items()
    )
    features = estimator.features_
    if isinstance(features, Features) and features.dates_:
        # A model that was fitted to a frame with dates wants dates.
        dates = pl.col([list(columns)[i] for i in features.dates_])
        rows = rows.with_columns((dates * DAY).round().cast(pl.Int64).cast(pl.Datetime("us")))
    return rows if "feature_names_in_" in vars(estimator) else rows.to_numpy()


def frame_rows(frame: Any, estimator: Any) -> Any:
    """The rows of a data frame for a model of `fit_table`, read as its table was: columns by name, others left out."""
    from polyladder.automatic.fit_table import frame_file

    file = frame_file(frame)
    return model_rows(file.whole(), file_columns(file, estimator), file, estimator)


def warn(sentence: str) -> None:
    """Say something of rows that are about to be predicted."""
    warnings.warn(sentence, UserWarning, stacklevel=2)
