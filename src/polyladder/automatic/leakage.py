"""Columns that already hold the answer: one that alone explains the target is worth a warning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

EXPLAINED = 0.999
"""The share of the target that a column alone must explain to be suspected."""

ROWS = 5000
"""Rows that are looked at, at most."""

FEWEST = 30
"""With fewer rows, a column may be perfect by chance."""


def leakage_notes(frame: Any, y: NDArray[Any], task: str, target: str) -> list[str]:
    """A sentence for each column that alone explains 99.9 % of the target.

    Args:
        frame: of numbers and text, n rows.
        y: numbers or classes. Shape (n,).
        task: "regression" or "classification".
        target: its name.
    """
    if len(y) < FEWEST or frame.width < 2:
        return []
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    some, answer = frame[np.sort(rows)], y[np.sort(rows)]
    explains = explained_number if task == "regression" else explained_class
    found = []
    for name in frame.columns:
        share = explains(as_numbers(some[name]), answer, some[name].dtype.is_numeric())
        if share >= EXPLAINED:
            found.append(
                f"Column {name!r} alone explains {np.floor(1000 * share) / 10:g} % of {target}: "
                f"if it is only known afterwards, leave it out with --drop {name!r}."
            )
    return found


def as_numbers(column: Any) -> NDArray[np.float64]:
    """A column as numbers: categories by their code, what is missing as a number of its own. Shape (n,)."""
    import polars as pl

    if not column.dtype.is_numeric():
        column = column.fill_null("").cast(pl.Categorical).to_physical()
    values = column.cast(pl.Float64).to_numpy()
    gone = np.isnan(values)
    return np.where(gone, values[~gone].min() - 1.0, values) if gone.any() else values


def explained_number(x: NDArray[np.float64], y: NDArray[Any], numeric: bool) -> float:
    """How much of the variance of y one column explains: a cubic of numbers, the means of categories."""
    variance = float(np.var(y))
    if variance == 0 or np.ptp(x) == 0:
        return 0.0
    if numeric:
        powers = np.vander((x - x.mean()) / x.std(), 4)
        residual = y - powers @ np.linalg.lstsq(powers, y, rcond=None)[0]
        return 1.0 - float(np.var(residual)) / variance
    _, group = np.unique(x, return_inverse=True)
    counts = np.bincount(group)
    # Each row by the mean of the others of its category: a category of one row explains nothing.
    others = (np.bincount(group, y)[group] - y) / np.maximum(counts[group] - 1, 1)
    predicted = np.where(counts[group] > 1, others, y.mean())
    return 1.0 - float(np.mean((y - predicted) ** 2)) / variance


def explained_class(x: NDArray[np.float64], y: NDArray[Any], numeric: bool) -> float:
    """The share of rows whose class one column tells: by an interval of numbers for each class, or by categories.

    Classes count equally, so that a rare one is not ignored. Few intervals cannot fit noise; categories of a single row
    tell nothing.
    """
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.tree import DecisionTreeClassifier

    labels, codes = np.unique(y, return_inverse=True)
    if numeric:
        tree = DecisionTreeClassifier(max_leaf_nodes=len(labels), class_weight="balanced", random_state=0)
        return float(balanced_accuracy_score(codes, tree.fit(x.reshape(-1, 1), codes).predict(x.reshape(-1, 1))))
    _, group = np.unique(x, return_inverse=True)
    table = np.zeros((group.max() + 1, len(labels)))
    np.add.at(table, (group, codes), 1)
    others = table[group]
    others[np.arange(len(y)), codes] -= 1
    told = others.max(1) > 0
    predicted = np.where(told, others.argmax(1), -1)
    return float(np.mean([np.mean(predicted[codes == k] == k) for k in range(len(labels))]))
