"""The columns of the table that a fitted estimator reads, in their own units and as its polynomial sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from polyladder.tables.features import Features
from polyladder.tables.table import Table


@dataclass(frozen=True)
class Column:
    """One column of the table and where it lies among the transformed features.

    Attributes:
        name: as the table has it.
        kind: "constant" columns have one value; the model uses no more of them than whether it is missing.
        unit: such as "kg", or None.
        low: smallest value in training, of numbers.
        high: largest value in training, of numbers.
        typical: a value to start from: the median, or the most frequent category (None is the missing one).
        fill: what a missing number counts as, or None where there can be none.
        categories: as the model knows them; None is the missing one.
        at: first transformed feature of the column.
        flag: transformed feature that says "is missing", or None.
        edges: of the histogram's bars; empty where the density is not known.
        counts: of rows in each bar, or in each category; empty where they are not known.
        ramps: transformed features that are ramps of the column.
        held: the range that clipping holds numbers to: that of training, or a little more.
    """

    name: str
    kind: Literal["numeric", "category", "constant"]
    unit: str | None = None
    low: float = 0.0
    high: float = 0.0
    typical: float | str | None = None
    fill: float | None = None
    categories: tuple[str | None, ...] = ()
    at: int = -1
    flag: int | None = None
    edges: tuple[float, ...] = ()
    counts: tuple[float, ...] = ()
    ramps: tuple[int, ...] = ()
    held: tuple[float, float] = (0.0, 0.0)

    @property
    def inputs(self) -> list[int]:
        """The transformed features that the column becomes."""
        count = {"numeric": 1, "category": len(self.categories), "constant": 0}[self.kind]
        return [*range(self.at, self.at + count), *([] if self.flag is None else [self.flag]), *self.ramps]


def table_columns(features: Features, notes: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The columns of a table that features were fitted to; ``notes`` are summaries of them, or nothing."""
    names = features.names_in_
    if len(notes) != len(names):
        notes = [{}] * len(names)
    numeric = numeric_positions(features)
    place = {int(position): at for at, position in enumerate(features.kept_)}
    flags = {numeric[int(i)]: len(place) + k for k, i in enumerate(features.flagged_)}
    next_input = len(place) + len(flags)
    found = []
    for i, (name, note) in enumerate(zip(names, notes, strict=True)):
        if i in place:
            found.append(numeric_column(features, name, note, numeric.index(i), place[i], flags.get(i)))
        elif i in features.encoded_:
            column = category_column(features, name, note, i, next_input)
            next_input += len(column.categories)
            found.append(column)
        elif i in flags:
            value = float(features.low_[numeric.index(i)])
            found.append(Column(name, "constant", None, value, value, value, value, flag=flags[i]))
        else:
            found.append(Column(name, "constant"))
    return found


def numeric_positions(features: Features) -> list[int]:
    """Positions in the table of the numeric columns, the constant ones included."""
    return [i for i in range(len(features.names_in_)) if i not in features.categorical_]


def numeric_column(
    features: Features, name: str, note: Mapping[str, Any], number: int, at: int, flag: int | None
) -> Column:
    """A numeric column; ``number`` counts among the numeric ones, ``at`` among those of them that vary."""
    held = float(features.low_[number]), float(features.high_[number])
    low, high = (float(ends[number]) for ends in features.training_range())
    fill = None if features.imputer_ is None else float(features.imputer_.statistics_[number])
    median = note.get("median")
    typical = middle(features, at) if median is None else float(median)
    density = note.get("density", {})
    first = len(features.feature_names_out_) - (0 if features.ramps_ is None else len(features.ramps_.column))
    own = () if features.ramps_ is None else np.flatnonzero(features.ramps_.column == at)
    return Column(
        name,
        "numeric",
        note.get("unit"),
        low,
        high,
        min(max(typical, low), high),
        fill,
        at=at,
        flag=flag,
        edges=tuple(density.get("edges", ())),
        counts=tuple(float(c) for c in density.get("counts", ())),
        ramps=tuple(first + int(k) for k in own),
        held=held,
    )


def middle(features: Features, at: int) -> float:
    """The value of a numeric column whose transform is the mean."""
    shaped = features.scaler_.mean_.reshape(1, -1)
    return float((shaped if features.shaper_ is None else features.shaper_.inverse_transform(shaped))[0, at])


def category_column(features: Features, name: str, note: Mapping[str, Any], position: int, at: int) -> Column:
    """A column of categories, in the order of the model's inputs."""
    assert features.encoder_ is not None
    known = tuple(features.encoder_.categories_[features.encoded_.index(position)].tolist())
    listed = dict(zip(note.get("categories") or (), note.get("density", {}).get("counts", ()), strict=False))
    counts = tuple(float(note["missing"] if k is None else listed.get(k, 0)) for k in known) if listed else ()
    typical = known[int(np.argmax(counts))] if counts else known[0]
    return Column(name, "category", typical=typical, categories=known, at=at, counts=counts)


def values_of(features: Features, columns: Sequence[Column], table: Table) -> list[list[float | str | None]]:
    """The rows of a table as one value a column; None for what is missing, or constant and never missing."""
    numbers = {i: table.numbers[:, k] for k, i in enumerate(numeric_positions(features))}
    return [
        [
            None
            if not column.inputs
            else table.categories[i][row]
            if column.kind == "category"
            else (None if np.isnan(numbers[i][row]) else float(numbers[i][row]))
            for i, column in enumerate(columns)
        ]
        for row in range(len(table.numbers))
    ]


def table_of(features: Features, columns: Sequence[Column], values: Sequence[Sequence[Any]]) -> Table:
    """The inverse of `values_of`: a table for the features to transform, constants at what they were."""
    numeric = numeric_positions(features)
    numbers = np.array([[row[i] for i in numeric] for row in values], dtype=np.float64).reshape(len(values), -1)
    for k, i in enumerate(numeric):
        if not columns[i].inputs:
            numbers[:, k] = features.low_[k]
    categories = {i: np.array([row[i] for row in values], dtype=object) for i in features.categorical_}
    return Table(numbers, categories, tuple(numeric), features.names_in_)


def scaled(features: Features, column: Column, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of a numeric column as the polynomial sees them. Shape (n,)."""
    table = np.repeat(features.low_[features.varying_][None], len(x), 0)
    table[:, column.at] = x
    shaped = table if features.shaper_ is None else features.shaper_.transform(table)
    return np.asarray(features.scaler_.transform(shaped)[:, column.at])


def unscaled(features: Features, column: Column, value: float) -> float:
    """What `scaled` undoes, for one value; beyond the range that values are held to, it is the end of that range."""
    low, high = scaled(features, column, np.array(column.held))
    # Asked first: beyond what it can reach, a bent transform has no inverse at all.
    if not low < value < high:
        return column.held[0] if value <= low else column.held[1]
    table = np.zeros((1, len(features.varying_)))
    table[0, column.at] = value
    table = features.scaler_.inverse_transform(table)
    table = table if features.shaper_ is None else features.shaper_.inverse_transform(table)
    return min(max(float(table[0, column.at]), column.held[0]), column.held[1])


def typical_inputs(features: Features, columns: Sequence[Column]) -> NDArray[np.float64]:
    """The typical row, medians and most frequent categories, as the polynomial sees it. Shape (1, inputs)."""
    return features.transform_table(table_of(features, columns, [[column.typical for column in columns]]))
