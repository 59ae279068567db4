"""Fits that end in time: more and more rows while the next fit can be expected to be done before the deadline."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

GROWTH = 4
"""How many times more rows each attempt has: all attempts but the last cost at most a third of it."""

FEWEST_ROWS = 500
"""Rows of the first attempt."""

WORTH = 1.5
"""Another attempt is made for this many times more rows, at least."""

SLOWER = 1.2
"""A fit to n times the rows is expected to take this much longer than n times as long."""


@dataclass(frozen=True)
class Deadline:
    """When a run must be over.

    Attributes:
        start: when it began, by the monotonic clock.
        seconds: that it may take; infinite if there is no bound.
    """

    start: float
    seconds: float = math.inf

    def left(self, share: float = 1.0) -> float:
        """Seconds until a share of the time has passed; negative afterwards."""
        return self.start + share * self.seconds - time.monotonic()


def fit_in_time(
    model: Any, X: Any, y: NDArray[Any], seconds: float, seed: int = 0, weight: NDArray[Any] | None = None
) -> int:
    """Fit a model to as many rows as the time allows, and say to how many; the first attempt is always made.

    Args:
        model: with scikit-learn's ``fit``.
        X: table of n rows.
        y: shape (n,).
        seconds: until it should be done; infinite to take all rows at once.
        seed: of the choice of rows.
        weight: of the rows, or None. Shape (n,).
    """
    n = len(y)
    sizes = [n]
    while math.isfinite(seconds) and sizes[0] > GROWTH * FEWEST_ROWS:
        sizes.insert(0, sizes[0] // GROWTH)
    order = np.random.default_rng(seed).permutation(n)
    # Rows of every class come first, so that no attempt lacks one.
    if y.dtype.kind not in "f":
        _, first = np.unique(y[order], return_index=True)
        order = np.concatenate([order[first], np.delete(order, first)])

    def fit(size: int) -> float:
        rows = np.arange(n) if size == n else np.sort(order[:size])
        began = time.monotonic()
        part = (X, y) if size == n else (_safe_indexing(X, rows), y[rows])
        model.fit(*part, **({} if weight is None else {"sample_weight": weight[rows]}))
        return time.monotonic() - began

    began = time.monotonic()
    for at, size in enumerate(sizes):
        took = fit(size)
        left = seconds - (time.monotonic() - began)
        if at + 1 < len(sizes) and SLOWER * took * sizes[at + 1] / size > left:
            # The last attempt has as many rows as fit, if that is worth it.
            most = int(size * left / (SLOWER * took)) if took > 0 else size
            if most > WORTH * size:
                fit(most)
                return most
            return size
    return n
