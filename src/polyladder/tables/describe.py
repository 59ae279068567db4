"""What a table's columns look like: range, median and density of each, as plain JSON."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from polyladder.tables.dates import DAYS
from polyladder.tables.table import Table
from polyladder.tables.units import unit_of

BINS = 24
"""Bins of a number's histogram."""


class Density(TypedDict):
    """A histogram: the bins' edges, or nothing for categories, and how many training rows lie in each."""

    edges: list[float]
    counts: list[int]


class ColumnSummary(TypedDict):
    """One column of a table, in numbers."""

    name: str
    kind: str  # "number" or "category"
    unit: str | None
    minimum: float | None
    maximum: float | None
    median: float | None
    categories: list[str] | None
    missing: int
    density: Density
    date_format: NotRequired[str | None]  # of dates that were read as numbers of days
    written: NotRequired[dict[str, Any]]  # how its cells are written, as `ColumnKind.json` has it


def describe_columns(table: Table) -> list[ColumnSummary]:
    """Range, median and density of each column of a table, in the table's order."""
    found: dict[int, ColumnSummary] = {}
    for column, i in zip(table.numbers.T, table.positions, strict=True):
        found[i] = describe_numbers(table.names[i], column)
        if i in table.dates:
            found[i]["unit"] = DAYS
    for i, values in table.categories.items():
        found[i] = describe_categories(table.names[i], values)
    return [found[i] for i in sorted(found)]


def describe_numbers(name: str, values: NDArray[np.float64]) -> ColumnSummary:
    """A column of numbers."""
    present = values[~np.isnan(values)]
    found = nothing_of(name, "number", values.size - present.size)
    found["unit"] = unit_of(name)
    if present.size:
        found["minimum"], found["maximum"] = float(present.min()), float(present.max())
        found["median"], found["density"] = float(np.median(present)), density(present)
    return found


def nothing_of(name: str, kind: str, missing: int) -> ColumnSummary:
    """A column of which no value is known."""
    return {
        "name": name,
        "kind": kind,
        "unit": None,
        "minimum": None,
        "maximum": None,
        "median": None,
        "categories": None,
        "missing": missing,
        "density": {"edges": [], "counts": []},
    }


def density(present: NDArray[np.float64]) -> Density:
    """A histogram of numbers in equal bins; fewer where the range holds too few different floats."""
    low, high = present.min(), present.max()
    if low == high:
        half = max(0.5, np.spacing(np.abs(low)))
        low, high = low - half, high + half
    at = np.linspace(0.0, 1.0, BINS + 1)
    edges = np.unique(np.clip(low * (1 - at) + high * at, low, high))
    return {"edges": edges.tolist(), "counts": np.histogram(present, edges)[0].tolist()}


def describe_categories(name: str, values: NDArray[Any]) -> ColumnSummary:
    """A column of categories, the most frequent first."""
    present = [v for v in values if v is not None]
    names, counts = np.unique(np.array(present, dtype=str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    found = nothing_of(name, "category", len(values) - len(present))
    found["categories"], found["density"]["counts"] = names[order].tolist(), counts[order].tolist()
    return found
