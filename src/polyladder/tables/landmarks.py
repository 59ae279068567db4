"""A few rows of a training table that a model keeps: those it predicts highest and lowest, and some from in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyladder.tables.table import Table

Array = np.ndarray[Any, Any]

ENDS = 16
"""Rows kept for the highest predictions, and as many for the lowest, over all outputs together; at least one per
output."""

BETWEEN = 64
"""Further rows, evenly spread over the predictions of the first output."""

NUMBERS = 2**14
"""Numbers that the further rows may hold together: of a table with many columns, fewer rows are kept."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Rows of a table, as `Table` has them.

    Attributes:
        numbers: shape (rows, numeric columns), NaN where they were missing.
        categories: for each column of categories its position and its values, shape (rows,).
    """

    numbers: Array
    categories: dict[int, Array]

    def __len__(self) -> int:
        return len(self.numbers)

    def __add__(self, other: Landmarks) -> Landmarks:
        both = {i: np.concatenate([column, other.categories[i]]) for i, column in self.categories.items()}
        return Landmarks(np.concatenate([self.numbers, other.numbers]), both)

    def table(self, like: Table) -> Table:
        """The rows as a table of the same columns as another."""
        return Table(self.numbers, self.categories, like.positions, like.names)


def landmarks_of(table: Table, model: Callable[[Table], Array], before: Landmarks | None = None) -> Landmarks:
    """The landmarks among the rows of a table, and among earlier ones.

    Args:
        table: n rows.
        model: what is predicted for the rows of a table. Shape (n, m).
        before: landmarks of rows that the model was fitted to earlier.
    """
    kept = table.take(landmark_rows(model(table), len(table.names)))
    found = Landmarks(kept.numbers, kept.categories)
    return found if before is None else landmarks_of((before + found).table(table), model)


def landmark_rows(outputs: Array, columns: int) -> Array:
    """The positions of the rows to keep, ascending."""
    n, m = outputs.shape
    each = max(1, ENDS // m)
    between = max(2, min(n, BETWEEN, NUMBERS // max(1, columns)))
    order = np.argsort(np.nan_to_num(outputs), axis=0, kind="stable")
    spread = order[np.linspace(0, n - 1, between).round().astype(np.intp), 0]
    return np.unique(np.concatenate([order[:each].ravel(), order[-each:].ravel(), spread]))
