"""Sparse tables: checked, scaled and held inside the training range, with every zero left a zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from polyladder.tables.table import as_numbers

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SparseTable:
    """A sparse matrix and the names of its columns.

    Attributes:
        numbers: CSR, shape (n, d), float64.
        names: of the columns.
    """

    numbers: Any
    names: tuple[str, ...]


def is_sparse_table(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def read_sparse(estimator: BaseEstimator, X: Any, *, reset: bool) -> SparseTable:
    """Check sparse rows as scikit-learn does, on behalf of an estimator with a ``features`` parameter.

    Missing numbers are refused: a median of mostly zeros says nothing.

    Args:
        estimator: its ``n_features_in_`` is set, or compared if ``reset`` is False.
        X: SciPy sparse matrix or array; dense rows are taken as well, for a model that was fitted to sparse ones.
        reset: whether the estimator is being fitted.
    """
    if estimator.features not in ("standard", "auto"):
        raise ValueError(
            f"The 'features' parameter of {type(estimator).__name__} must be 'standard' for sparse X. "
            f"Got {estimator.features!r} instead."
        )
    matrix = validate_data(
        estimator,
        as_numbers(X),
        reset=reset,
        accept_sparse="csr",
        dtype=np.float64,
        ensure_min_samples=2 if reset else 1,
    )
    numbers = sparse.csr_matrix(matrix)
    if not numbers.has_canonical_format:
        # Entries that are given twice are summed, in a copy: powers and ranges need each entry once.
        numbers = numbers.copy()
        numbers.sum_duplicates()
    return SparseTable(numbers, tuple(f"x{i}" for i in range(numbers.shape[1])))


class SparseFeatures:
    """Scaling that keeps zeros: every column is divided by its largest absolute value; nothing is centered.

    Parameters
    ----------
    clip : bool, default=True
        Hold each column to the range that it had in training, zero included.

    Attributes
    ----------
    scale_ : ndarray of shape (d,)
        Largest absolute value of each column; 1 for a column without values.
    feature_names_out_ : list of str
        Names of the columns, all of which are kept.
    """

    def __init__(self, clip: bool = True) -> None:
        self.clip = clip

    def fit_table(self, table: SparseTable, weight: Array | None = None) -> Self:
        """Learn the ranges from the rows whose weight is not zero."""
        numbers = table.numbers if weight is None else table.numbers[np.flatnonzero(weight)]
        # Zeros that are not stored are values as well; where a column has none, starting at 0 only widens its range.
        self.low_, self.high_ = np.zeros((2, numbers.shape[1]))
        np.minimum.at(self.low_, numbers.indices, numbers.data)
        np.maximum.at(self.high_, numbers.indices, numbers.data)
        largest = np.maximum(-self.low_, self.high_)
        self.scale_ = np.where(largest > 0, largest, 1.0)
        self.feature_names_out_ = list(table.names)
        return self

    def transform_table(self, table: SparseTable) -> Any:
        """Scaled rows. CSR, shape (n, d)."""
        numbers = table.numbers.copy()
        if self.clip:
            np.clip(numbers.data, self.low_[numbers.indices], self.high_[numbers.indices], out=numbers.data)
        numbers.data /= self.scale_[numbers.indices]
        return numbers

    def affine(self) -> tuple[Any, Array]:
        """(matrix, shift) with transformed = matrix @ original + shift inside the training range.

        The matrix is diagonal, in CSR form. Shapes (d, d) and (d,).
        """
        return sparse.diags(1.0 / self.scale_).tocsr(), np.zeros_like(self.scale_)
