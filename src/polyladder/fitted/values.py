"""Rows of a table as values of its columns, and values of one column as the ladders see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.ramps import Ramps
from polyladder.fitted.steps import Affine, Ramp, Step
from polyladder.fitted.steps.step import Array, applied, undone
from polyladder.tables.table import Table

Value = float | str | None


def values_of(columns: Sequence[Column], table: Table) -> list[list[Value]]:
    """The rows of a table as one value a column; None for what is missing, or constant and never missing."""
    numbers = {i: table.numbers[:, k] for k, i in enumerate(table.positions)}

    def value(i: int, row: int) -> Value:
        if not columns[i].inputs:
            return None
        if columns[i].kind == "category":
            return table.categories[i][row]
        return None if np.isnan(numbers[i][row]) else float(numbers[i][row])

    return [[value(i, row) for i in range(len(columns))] for row in range(len(table))]


def table_of(columns: Sequence[Column], values: Sequence[Sequence[Any]]) -> Table:
    """The inverse of `values_of`, constants at what they were."""
    numeric = tuple(i for i, column in enumerate(columns) if column.kind == "number")
    numbers = np.array([[row[i] for i in numeric] for row in values], dtype=np.float64).reshape(len(values), -1)
    for k, i in enumerate(numeric):
        if not columns[i].inputs:
            numbers[:, k] = columns[i].low
    texts = {i: [row[i] for row in values] for i, column in enumerate(columns) if column.kind == "category"}
    categories = {i: np.array(column, dtype=object) for i, column in texts.items()}
    return Table(numbers, categories, numeric, tuple(column.name for column in columns))


def typical_inputs(model: FittedModel) -> Array:
    """The typical row, medians and most frequent categories, as the ladders see it. Shape (1, inputs)."""
    return model.table_inputs(table_of(model.columns, [[column.typical for column in model.columns]]))


def main_steps(model: FittedModel, column: Column) -> tuple[Step, ...]:
    """The steps of the input that is a column's number itself."""
    if column.main is None:
        raise ValueError(f"column must hold numbers that vary; got {column.name!r}.")
    return model.steps[column.main].steps


def scaled(model: FittedModel, column: Column, x: Array) -> Array:
    """Values of a column of numbers as the ladders see them. Shape (n,)."""
    return applied(main_steps(model, column), x)


def unscaled(model: FittedModel, column: Column, value: float) -> float:
    """What `scaled` undoes, for one value; beyond the range that values are held to, it is the end of that range."""
    low, high = scaled(model, column, np.array(column.reach))
    # Asked first: beyond what it can reach, a bent transform has no inverse at all.
    if not low < value < high:
        return column.reach[0] if value <= low else column.reach[1]
    x = undone(main_steps(model, column), np.array([value]))
    return min(max(float(x[0]), column.reach[0]), column.reach[1])


def is_straight(model: FittedModel, column: Column) -> bool:
    """Whether all inputs of a column of numbers are piecewise affine in one of them, its scaled number."""
    return column.main is not None and all(s.straight for steps in bent_steps(model, column).values() for s in steps)


def inputs_along(model: FittedModel, column: Column, x: Array) -> dict[int, Array]:
    """The inputs of a column of numbers at values of it, but for whether it is missing. Each has shape (n,)."""
    return {k: applied(model.steps[k].steps, x) for k in column.inputs if k != column.flag}


def bent_steps(model: FittedModel, column: Column) -> dict[int, tuple[Step, ...]]:
    """The column's further inputs, and the steps from its scaled number to each."""
    main = main_steps(model, column)
    others = (k for k in column.inputs if k not in (column.main, column.flag))
    return {k: model.steps[k].steps[len(main) :] for k in others}


def ramps_of(model: FittedModel) -> Ramps | None:
    """All ramps, over the inputs that are numbers themselves, in the order of the inputs; None where there are none."""
    found = []
    for column in model.columns:
        for k, steps in bent_steps(model, column).items() if column.main is not None else ():
            ramp, scale = steps
            assert isinstance(ramp, Ramp)
            assert isinstance(scale, Affine)
            found.append((k, column.main, ramp.low, ramp.high, scale.shift, scale.scale))
    if not found:
        return None
    _, main, *numbers = (np.array(each) for each in zip(*sorted(found), strict=True))
    return Ramps(main, *numbers)
