"""Rows of a file as a fitted estimator wants them, whether it was fitted to dense or to sparse rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyladder.estimators.table_estimator import TableEstimator
    from polyladder.fitted.column import Column
    from polyladder.fitted.rows import FileRows
    from polyladder.tables.table_file import TableFile


def load_estimator(path: Path) -> TableEstimator:
    """The estimator in a file; a bare polynomial is refused."""
    from polyladder.polynomial.ladder import LadderPolynomial
    from polyladder.polynomial.store import load

    found = load(path)
    if isinstance(found, LadderPolynomial):
        raise ValueError(f"{path} must hold a fitted estimator; it holds a polynomial without its preprocessing.")
    return found


def model_columns(estimator: TableEstimator) -> tuple[Column, ...]:
    """The columns that the model was fitted to; those of sparse rows hold numbers."""
    from polyladder.estimators.fitted_model import table_model
    from polyladder.fitted.column import Column
    from polyladder.tables.sparse_features import SparseFeatures

    features = estimator.features_
    if isinstance(features, SparseFeatures):
        return tuple(Column(name, "number") for name in features.feature_names_out_)
    return table_model(features, (estimator.card_ or {}).get("columns", ()))[0]


def model_rows(file: TableFile, estimator: TableEstimator) -> FileRows:
    """A file whose cells become rows of an estimator; refused where it lacks columns."""
    from polyladder.fitted.rows import file_rows

    return file_rows(file, model_columns(estimator), estimator.names_in is not None)
