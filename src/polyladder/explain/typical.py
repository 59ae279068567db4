"""A typical row: one that is there, in the middle of all others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyladder.fitted.model import FittedModel
from polyladder.fitted.values import values_of

ROWS = 1000
"""Rows that are compared with each other, evenly picked."""


def medoid(points: NDArray[np.float64]) -> int:
    """The row whose mean distance to all others is smallest. Shape (n, d)."""
    squares = (points**2).sum(1)
    apart = np.maximum(squares[:, None] + squares[None] - 2 * points @ points.T, 0.0)
    return int(np.sqrt(apart).mean(1).argmin())


def typical_row(model: FittedModel, rows: Any) -> list[float | str | None]:
    """The values of the columns in the medoid of rows, as the polynomial sees them; None for what is missing.

    Args:
        model: the model.
        rows: of its table. Shape (n, d).
    """
    table = model.read(rows)
    n = len(table.numbers)
    picked = np.unique(np.linspace(0, n - 1, min(n, ROWS)).round().astype(int))
    some = table.take(picked)
    at = medoid(model.table_inputs(some))
    return values_of(model.columns, some.take(np.array([at])))[0]
