"""Ramps: a column of numbers as several inputs that each rise over one part of its range, from knot to knot.

A polynomial of ramps is a polynomial on each part: it follows jumps and bends that one polynomial would smooth over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Ramps:
    """Ramps of several columns. All arrays have shape (ramps,).

    Attributes:
        column: number of the column that a ramp belongs to, among those given.
        low: where it begins to rise.
        high: where it stops.
        mean: of its values in training, before scaling.
        scale: their standard deviation.
    """

    column: Array
    low: Array
    high: Array
    mean: Array
    scale: Array

    def __call__(self, t: Array) -> Array:
        """Scaled ramps of columns (n, d). Shape (n, ramps)."""
        return (self.raw(t) - self.mean) / self.scale

    def rows(self) -> list[tuple[int, float, float, float, float]]:
        """The ramps one by one: column, low, high, mean, scale."""
        return list(zip(*(part.tolist() for part in vars(self).values()), strict=True))

    def raw(self, t: Array) -> Array:
        """Ramps from 0 to 1 of columns (n, d). Shape (n, ramps)."""
        return np.clip((t[:, self.column] - self.low) / (self.high - self.low), 0.0, 1.0)


def learn_ramps(t: Array, parts: int, weight: Array | None = None) -> Ramps | None:
    """Ramps over parts of each column that hold about equally many rows; None where no column has three values.

    Args:
        t: columns of numbers. Shape (n, d).
        parts: at most this many ramps per column.
        weight: of the rows. Shape (n,).
    """
    share = np.full(len(t), 1.0) if weight is None else weight
    found: list[tuple[int, float, float]] = []
    for j in range(t.shape[1]):
        order = np.argsort(t[:, j], kind="stable")
        values, reached = t[order, j], np.cumsum(share[order]) / share.sum()
        # Knots are values that occur, so that a weight of 2 and a row given twice lead to the same knots.
        inner = values[np.minimum(np.searchsorted(reached, np.arange(1, parts) / parts - 1e-9), len(values) - 1)]
        edges = np.unique(np.r_[values[0], inner, values[-1]])
        if len(np.unique(values)) > 2 and len(edges) > 2:
            found += [(j, low, high) for low, high in pairwise(edges)]
    if not found:
        return None
    column, low, high = (np.array(each) for each in zip(*found, strict=True))
    plain = Ramps(column, low, high, np.zeros(len(low)), np.ones(len(low)))
    raw = plain.raw(t)
    mean = share @ raw / share.sum()
    scale = np.sqrt(share @ (raw - mean) ** 2 / share.sum())
    return Ramps(column, low, high, mean, np.where(scale > 0, scale, 1.0))


def within_reach(ramps: Ramps, reach: float) -> Ramps:
    """The same ramps, with a larger scale where their ends would lie farther than ``reach`` from zero.

    The last ramp of a column with a heavy tail rises for only a few rows, so its standard deviation is tiny.
    """
    return replace(ramps, scale=np.maximum(ramps.scale, np.maximum(ramps.mean, 1 - ramps.mean) / reach))
