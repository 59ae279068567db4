"""Rows that are given several times, as one row of their summed weight, in an order that does not depend on theirs."""

from __future__ import annotations

import numpy as np

from polyladder.fitted.ramps import Array
from polyladder.tables.table import Table


def distinct_rows(table: Table, values: Array, weight: Array | None) -> tuple[Table, Array, Array]:
    """Every different row once, sorted, with its weight; rows of weight zero are left out.

    A row that stands in the table twice must be left out twice when it is to be predicted: otherwise a model that
    learns rows by heart would win.

    Args:
        table: n rows.
        values: their targets. Shape (n,) or (n, m).
        weight: of the rows. Shape (n,).
    """
    counts = np.ones(len(values)) if weight is None else weight
    used = np.flatnonzero(counts > 0)
    keys = [np.unique(column[used].astype(str), return_inverse=True)[1] for column in table.categories.values()]
    target = values[used].reshape(len(used), -1)
    numbers = [np.nan_to_num(table.numbers[used], nan=np.inf), np.stack(keys, 1) if keys else np.empty((len(used), 0))]
    codes = target if target.dtype.kind == "f" else np.unique(target, return_inverse=True)[1].reshape(target.shape)
    matrix = np.concatenate([*numbers, codes], 1)
    order = np.lexsort(matrix.T[::-1])
    sorted_rows = matrix[order]
    new = np.r_[True, (sorted_rows[1:] != sorted_rows[:-1]).any(1)]
    first = used[order[new]]
    summed = np.add.reduceat(counts[used][order], np.flatnonzero(new))
    return table.take(first), values[first], summed
