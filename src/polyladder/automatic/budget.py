"""Fits within a time limit: each has more rows, then more effort, while the next one is expected to end in time."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from polyladder.estimators.ladder import LadderEstimator
from polyladder.estimators.selection.recipe import SelectionRecipe

GROWTH = 4
"""How many times more rows each attempt has: all attempts but the last cost at most a third of it."""

FEWEST_ROWS = 500
"""Rows of the first attempt."""

WORTH = 1.5
"""Another attempt must have at least this many times more rows."""

SLOWER = 1.2
"""A fit to n times the rows is expected to take this much longer than n times as long."""

DEARER = 6
"""The next effort is expected to take this many times as long; measured on 100 to 20,000 rows: 1.2 to 15 times."""


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


@dataclass(frozen=True)
class TimedFit:
    """A fit, and what it took.

    Attributes:
        model: fitted.
        level: its place among the models that were given.
        rows: that it was fitted to.
        seconds: that this fit took.
        recipe: what its selection found; None where nothing was selected.
    """

    model: Any
    level: int
    rows: int
    seconds: float
    recipe: SelectionRecipe | None = None

    def affordable(self, seconds: float) -> int:
        """About how many rows the same model can be fitted to in so many seconds."""
        expected = max(SLOWER * self.seconds / self.rows, 1e-9)
        return int(min(seconds / expected, 1e18))


@dataclass(frozen=True, eq=False)
class RowsToFit:
    """A table to take rows from at random.

    Attributes:
        X: table of n rows.
        y: shape (n,).
        weight: of the rows, or None. Shape (n,).
        seed: of the order.
    """

    X: Any
    y: NDArray[Any]
    weight: NDArray[Any] | None = None
    seed: int = 0

    def fit(
        self, model: Any, size: int | None = None, level: int = 0, recipe: SelectionRecipe | None = None
    ) -> TimedFit:
        """Fit a model to so many of the rows, every class among them; None for all. A recipe takes over a selection."""
        size = len(self.y) if size is None else min(size, len(self.y))
        began = time.monotonic()
        rows = slice(None) if size == len(self.y) else np.sort(self.order()[:size])
        X = self.X if size == len(self.y) else _safe_indexing(self.X, rows)
        weight = {} if self.weight is None else {"sample_weight": self.weight[rows]}
        found = None
        if isinstance(model, LadderEstimator):
            found = model.fit_again(X, self.y[rows], **weight, recipe=recipe)
        else:
            model.fit(X, self.y[rows], **weight)
        return TimedFit(model, level, size, time.monotonic() - began, found)

    def order(self) -> NDArray[np.intp]:
        """All rows at random, but one of every class first."""
        order = np.random.default_rng(self.seed).permutation(len(self.y))
        if self.y.dtype.kind == "f":
            return order
        _, first = np.unique(self.y[order], return_index=True)
        return np.concatenate([order[first], np.delete(order, first)])


def fit_in_time(models: Sequence[Any], rows: RowsToFit, seconds: float) -> TimedFit:
    """Fit the first model to as many rows as there is time for, then the next ones to all rows.

    The attempts are the same whatever the time is, which decides only how many of them are made: more time never gives
    fewer rows or a lower effort. The first attempt is always made.

    Args:
        models: with scikit-learn's ``fit``, from the lowest effort to the highest.
        rows: to fit.
        seconds: until it should be done; infinite to fit the last model to all rows at once.
    """
    if math.isinf(seconds):
        return rows.fit(models[-1], level=len(models) - 1)
    end = time.monotonic() + seconds
    sizes = [len(rows.y)]
    while sizes[0] > GROWTH * FEWEST_ROWS:
        sizes.insert(0, sizes[0] // GROWTH)
    best = rows.fit(models[0], sizes[0])
    for size in sizes[1:]:
        most = best.affordable(end - time.monotonic())
        if most < size:
            # The last attempt has as many rows as fit, if that is worth it.
            return rows.fit(models[0], most) if most > WORTH * best.rows else best
        best = rows.fit(models[0], size)
    for level, model in enumerate(models[1:], 1):
        if DEARER * best.seconds > end - time.monotonic():
            break
        best = rows.fit(model, level=level)
    return best
