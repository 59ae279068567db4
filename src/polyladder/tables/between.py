"""Further rows near those of a table: each cell lies between that of a row and that of a row near it, or next to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from polyladder.tables.table import Table

Array = np.ndarray[Any, Any]

BEYOND = 0.25
"""How far beyond the two rows a number may lie, as a share of what lies between them: new rows do so, too."""

NEAR = 15
"""Rows that count as near to a row."""

MOST_NEAR = 1_000
"""Rows, taken at random, among which near ones are looked for: distances to all would grow with the square."""

FEW_VALUES = 12
"""A column with at most this many different numbers keeps to them: there is nothing in between."""


def rows_between(table: Table, inputs: Array, count: int, rng: np.random.Generator, near: int = NEAR) -> Table:
    """Rows as new ones could be: cell by cell between a row and one of the rows near it.

    Each cell of a column looks at a near row of its own, so the new rows lie in the box around a row and its
    neighbors, not on the lines between them: that is about how far new rows are from the training rows. Numbers are
    drawn from in between and a little beyond, within the range of their column; numbers of few values, missing ones and
    categories are those of one of the two rows. The rows of the table take turns.

    Args:
        table: n rows.
        inputs: what distances are measured by: the rows transformed. Shape (n, d).
        count: how many new rows are wanted.
        rng: random numbers.
        near: rows that count as near to a row. Fewer keep the new rows closer to those of the table.
    """
    n = len(table)
    turns = np.concatenate([rng.permutation(n) for _ in range(-(-count // n))])[:count]
    others = near_rows(inputs, turns, rng, near)
    places = np.arange(count)

    def other() -> Array:
        """For each new row the number of a row near its own."""
        return np.asarray(others[places, rng.integers(0, others.shape[1], count)])

    numbers = np.empty((count, table.numbers.shape[1]))
    for k, column in enumerate(table.numbers.T):
        own, its = column[turns], column[other()]
        share = rng.uniform(-BEYOND, 1 + BEYOND, count)
        known = np.unique(column[~np.isnan(column)])
        mixed = np.full(count, np.nan)
        if len(known) > FEW_VALUES:
            mixed = np.clip(own + share * (its - own), known[0], known[-1])
        numbers[:, k] = np.where(np.isnan(mixed), np.where(share < 0.5, own, its), mixed)
    categories = {
        i: np.where(rng.random(count) < 0.5, column[turns], column[other()]) for i, column in table.categories.items()
    }
    return replace(table, numbers=numbers, categories=categories)


def near_rows(inputs: Array, rows: Array, rng: np.random.Generator, near: int = NEAR) -> Array:
    """For each of the rows of the given numbers, the numbers of rows near it, itself perhaps among them.

    Args:
        inputs: of all rows. Shape (n, d).
        rows: shape (count,).
        rng: random numbers, for which rows are looked at where there are many.
        near: how many rows count as near to a row.

    Returns:
        Shape (count, at most ``near``).
    """
    among = rng.permutation(len(inputs))[:MOST_NEAR]
    spread = inputs.std(0)
    # Around their mean, or a few digits would not tell rows far from zero apart.
    scaled = ((inputs - inputs.mean(0)) / np.where(spread > 0, spread, 1.0)).astype(np.float32)
    those = scaled[among]
    count = min(near, len(among))
    asked, place = np.unique(rows, return_inverse=True)
    # Of |a - b|^2 what does not depend on the row itself.
    distance = (those**2).sum(1) - 2 * scaled[asked] @ those.T
    found = among[np.argpartition(distance, count - 1, axis=1)[:, :count]]
    return np.asarray(found[place])
