"""Rows of a file as a fitted estimator wants them, whether it was fitted to dense or to sparse rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyladder.estimators.table_estimator import TableEstimator
    from polyladder.fitted.column import Column
    from polyladder.tables.columns import ColumnKind
    from polyladder.tables.table import Table
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


def file_columns(file: TableFile, estimator: TableEstimator) -> dict[str, ColumnKind]:
    """For each column of the file that the model needs, in the model's order, what it holds."""
    from polyladder.fitted import rows

    return rows.file_columns(file, model_columns(estimator), has_names(estimator))


def has_names(estimator: TableEstimator) -> bool:
    """Whether the columns of the training table had names; scikit-learn keeps them only then."""
    try:
        return len(estimator.feature_names_in_) > 0
    except AttributeError:
        return False


def model_rows(
    chunk: Any, columns: dict[str, ColumnKind], file: TableFile, estimator: TableEstimator, row: int = 1
) -> Table:
    """Rows that the estimator takes. What had to be converted is said as a warning."""
    from polyladder.fitted.rows import file_table

    return file_table(chunk, columns, file, model_columns(estimator), row)
