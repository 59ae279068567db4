"""Parts of a dask DataFrame or array, processed where they are stored. Needs the extra ``cluster``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from polyladder.tables.partitions import Part

T = TypeVar("T")

FIRST_ROWS = 2**40
"""Row numbers of part i start at i times this, because the size of a part is not known before it is read."""

JOINED = 8
"""Results of this many parts are joined at once, on a worker, before they are sent on."""


def is_dask(X: Any) -> bool:
    """Whether X is a collection of dask."""
    return type(X).__module__.startswith(("dask.", "dask_expr."))


@dataclass(frozen=True, eq=False)
class DaskPartitions:
    """Row partitions of dask collections, all divided at the same rows.

    The current scheduler computes them: threads of this process, or the workers of the latest ``distributed.Client``.
    Only results of folds are sent, joined on the way. A collection that is not persisted is read again in every pass.

    Attributes:
        X: dask DataFrame or array (n, d).
        y: dask Series, DataFrame or array (n,) or (n, m).
        weight: dask Series or array (n,), or None.
    """

    X: Any
    y: Any
    weight: Any = None

    def fold(self, of_part: Callable[[Part], T], join: Callable[[T, T], T]) -> T:
        """See `polyladder.tables.partitions.Partitions`."""
        from dask.base import compute
        from dask.delayed import delayed

        columns = [row_blocks(self.X), row_blocks(self.y)]
        columns.append([None] * len(columns[0]) if self.weight is None else row_blocks(self.weight))
        if len({len(c) for c in columns}) != 1:
            raise ValueError(f"X and y must have equally many partitions; got {len(columns[0])} and {len(columns[1])}.")
        task, joined = delayed(result_of, pure=False), delayed(join_all, pure=False)
        # The function goes to the workers once, not with each part.
        shared = delayed(of_part, pure=False)
        found = [task(shared, i, *blocks) for i, blocks in enumerate(zip(*columns, strict=True))]
        while len(found) > 1:
            found = [joined(join, found[i : i + JOINED]) for i in range(0, len(found), JOINED)]
        (result,) = compute(joined(join, found))  # type: ignore[no-untyped-call]
        if result is None:
            raise ValueError("X must hold rows; there are none.")
        return result


def row_blocks(collection: Any) -> list[Any]:
    """The row blocks of a collection in order; the columns of an array must not be divided."""
    blocks = np.asarray(collection.to_delayed(), dtype=object)
    if blocks.ndim > 1 and blocks.shape[1] > 1:
        raise ValueError(
            f"X must be divided by rows only; got {blocks.shape[1]} blocks of columns. Use X.rechunk((rows, -1))."
        )
    return list(blocks.ravel())


def result_of(of_part: Callable[[Part], Any], number: int, X: Any, y: Any, weight: Any) -> Any:
    """What a worker computes from one part; None for an empty one."""
    if not len(X):
        return None
    if len(X) != len(y):
        raise ValueError(f"Part {number} must have as many targets as rows; got {len(y)} and {len(X)}.")
    values = [None if v is None else np.asarray(v) for v in (y, weight)]
    return of_part(Part(number * FIRST_ROWS, X, *values))


def join_all(join: Callable[[Any, Any], Any], results: list[Any]) -> Any:
    """The results that are not None, joined in order."""
    found = None
    for result in results:
        if result is not None:
            found = result if found is None else join(found, result)
    return found
