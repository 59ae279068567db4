"""What `Features` learn from a table in parts: one pass for scales, ranges, categories and a random sample.

Ranges and categories are exact: rows that hold them are kept besides the sample. Means and variances are exact: they
are sums. Quantiles (medians of missing numbers, ramps, quantile maps) and shares of categories are those of the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polyladder.fitted.features import RAMPS, Features, all_whole
from polyladder.tables.partitions import Part, row_keys
from polyladder.tables.table import Table, as_numbers, find_categories, is_frame, matrix_table, read_table

Array = np.ndarray[Any, Any]

SAMPLE_SEED = 1


@dataclass(frozen=True, eq=False)
class KeyedRows:
    """Rows of a table with their targets, and the keys by which a sample is drawn. Shapes (n, ...)."""

    table: Table
    y: Array
    keys: Array

    def take(self, rows: Array) -> KeyedRows:
        """Some of them."""
        return KeyedRows(self.table.take(rows), self.y[rows], self.keys[rows])


@dataclass(frozen=True, eq=False)
class Summary:
    """What is known of some rows; two summaries add up to that of all their rows.

    Attributes:
        rows: how many there are.
        present: numbers of each numeric column that are not missing. Shape (columns,).
        mean: of those. Shape (columns,).
        spread: sum of their squared distances from the mean. Shape (columns,).
        integral: whether all of them are whole numbers. Shape (columns,).
        sample: rows drawn at random.
        witnesses: rows that hold the extremes of numeric columns, every category, and a missing number, of each column.
        size: how many rows a sample has at most.
    """

    rows: int
    present: Array
    mean: Array
    spread: Array
    integral: Array
    sample: KeyedRows
    witnesses: KeyedRows
    size: int

    def __add__(self, other: Summary) -> Summary:
        present = self.present + other.present
        share = np.divide(other.present, present, out=np.zeros_like(self.mean), where=present > 0)
        apart = other.mean - self.mean
        return Summary(
            self.rows + other.rows,
            present,
            self.mean + share * apart,
            self.spread + other.spread + self.present * share * apart**2,
            (self.integral | (self.present == 0)) & (other.integral | (other.present == 0)) & (present > 0),
            drawn(joined(self.sample, other.sample), self.size),
            witnesses(joined(self.witnesses, other.witnesses)),
            self.size,
        )


@dataclass(frozen=True)
class Summarize:
    """The summary of a part.

    Attributes:
        size: how many rows a sample has at most.
    """

    size: int

    def __call__(self, part: Part) -> Summary:
        """Of all rows of a part."""
        rows = KeyedRows(part_table(part.X), np.asarray(part.y), row_keys(part, SAMPLE_SEED))
        numbers = rows.table.numbers
        present = (~np.isnan(numbers)).sum(0)
        mean = np.nansum(numbers, 0) / np.maximum(present, 1)
        spread = np.nansum((numbers - mean) ** 2, 0)
        if np.isinf(numbers).any():
            raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
        known = drawn(rows, self.size), witnesses(rows)
        return Summary(len(numbers), present, mean, spread, all_whole(numbers), *known, self.size)


def part_table(X: Any) -> Table:
    """The rows of a part as a table."""
    if is_frame(X):
        return read_table(X, find_categories(X))
    matrix = np.asarray(as_numbers(X), dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"X must have shape (n, d); got shape {matrix.shape}.")
    return matrix_table(matrix)


def drawn(rows: KeyedRows, size: int) -> KeyedRows:
    """The rows with the smallest keys: a random sample, whatever the order in which parts are joined."""
    if len(rows.keys) <= size:
        return rows
    return rows.take(np.sort(np.argpartition(rows.keys, size - 1)[:size]))


def witnesses(rows: KeyedRows) -> KeyedRows:
    """For each column a row with its least number, its greatest, a missing one, and each of its categories."""
    kept: list[Array] = []
    for column in rows.table.numbers.T:
        gone = np.isnan(column)
        if gone.any():
            kept.append(np.flatnonzero(gone)[:1])
        if not gone.all():
            kept.append(np.array([np.nanargmin(column), np.nanargmax(column)]))
    for column in rows.table.categories.values():
        first: dict[Any, int] = {}
        for i, value in enumerate(column.tolist()):
            first.setdefault(value, i)
        kept.append(np.array(list(first.values())))
    return rows.take(np.unique(np.concatenate(kept)) if kept else np.arange(0))


def joined(a: KeyedRows, b: KeyedRows) -> KeyedRows:
    """The rows of two parts as one."""
    one, other = a.table, b.table
    if one.names != other.names or tuple(one.categories) != tuple(other.categories) or one.dates != other.dates:
        raise ValueError(f"Every part must have the same columns; got {one.names[:6]} and {other.names[:6]}.")
    categories = {i: np.concatenate([c, other.categories[i]]) for i, c in one.categories.items()}
    table = replace(one, numbers=np.concatenate([one.numbers, other.numbers]), categories=categories)
    return KeyedRows(table, np.concatenate([a.y, b.y]), np.concatenate([a.keys, b.keys]))


def features_of(summary: Summary, features: Features) -> Features:
    """Features, fitted as if to all rows up to quantiles; "quantile", "yeo-johnson" and periods go by the sample."""
    table = summary.sample.table
    if features.whole or features.reach is not None:
        raise ValueError("Features of rows in parts must have whole=False and reach=None. Leave them out.")
    if features.missing == "error" and (summary.present < summary.rows).any():
        name = table.names[table.positions[int(np.argmax(summary.present < summary.rows))]]
        raise ValueError(
            f"Input X contains NaN in column {name!r}. Leave missing='impute' to have missing numbers filled in."
        )
    everything = joined(summary.sample, summary.witnesses).table
    features.fit_table(everything)
    features.integral_ = summary.integral
    if features.shaper_ is None and features.varying_.size:
        scale_by(features, summary, everything)
    features.mean_ = mean_of(features, summary)
    return features


def scale_by(features: Features, summary: Summary, everything: Table) -> None:
    """Scale numbers by their means and variances over all rows, and find ramps again where there are some."""
    varying = features.varying_
    filled = summary.mean if features.imputer_ is None else features.imputer_.statistics_
    share = summary.present[varying] / summary.rows
    apart = (filled - summary.mean)[varying]
    features.scaler_.mean_ = summary.mean[varying] + (1 - share) * apart
    features.scaler_.var_ = summary.spread[varying] / summary.rows + share * (1 - share) * apart**2
    features.scaler_.scale_ = np.sqrt(features.scaler_.var_)
    if features.ramps_ is not None:
        features.ramps_ = None
        features.ramps_ = features.ramped(everything, features.ramps or RAMPS).ramps_


def mean_of(features: Features, summary: Summary) -> Array:
    """The mean of the transformed rows: exact for scaled numbers and missing ones, else the sample's. Shape (d,)."""
    mean: Array = features.transform_table(summary.sample.table).mean(0)
    numbers, flags = len(features.kept_), len(features.flagged_)
    if features.shaper_ is None:
        mean[:numbers] = 0.0
    mean[numbers : numbers + flags] = 1 - summary.present[features.flagged_] / summary.rows
    return mean
