"""The steps of an exported model applied to rows in NumPy, and its outputs turned into answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyladder.convert.exported.answers import Answer, Classes, Numbers
from polyladder.convert.exported.model import ExportedColumn, Feature
from polyladder.convert.exported.ranges import Array
from polyladder.convert.exported.steps import (
    Affine,
    Blank,
    Clip,
    Fill,
    IsCategory,
    IsMissing,
    Quantile,
    Ramp,
    Step,
    YeoJohnson,
)
from polyladder.tables.table import is_date, is_missing, read_days, read_numbers


def inputs_of(columns: Sequence[ExportedColumn], features: Sequence[Feature], rows: Any) -> Array:
    """The inputs of the ladders. Shape (n, d).

    Args:
        columns: of the table.
        features: the d inputs.
        rows: a data frame or another mapping from names to columns, or an array. Shape (n, columns).
    """
    found = []
    for feature in features:
        column = columns[feature.column]
        # A frame of either kind gives a column by its name; an array by its place.
        values = rows[:, feature.column] if isinstance(rows, np.ndarray) else rows[column.name]
        x: Any = texts(values) if column.kind == "category" else numbers(column, values)
        for step in feature.steps:
            x = apply(step, x)
        found.append(np.asarray(x, dtype=np.float64))
    z = np.stack(found, 1)
    if not np.isfinite(z).all():
        row, at = (int(i) for i in np.argwhere(~np.isfinite(z))[0])
        name = columns[features[at].column].name
        raise ValueError(f"Column {name!r} must hold finite numbers; row {row + 1} does not. Fill it in first.")
    return z


def numbers(column: ExportedColumn, values: Any) -> Array:
    """Numbers as such, and the days since 1970 of dates where the column holds some."""
    kind = np.asarray(values).dtype.kind
    if column.cells.kind == "date" and kind in "MO" and is_date(values):
        return read_days(column.name, values)
    if kind in "mM":
        # As numbers they would be counts of whatever unit they are stored in.
        raise ValueError(f"Column {column.name!r} must hold numbers; got dates. Turn them into numbers, such as days.")
    return read_numbers(column.name, values)


def texts(values: Any) -> np.ndarray[Any, Any]:
    """Texts as such, and None where there is none."""
    return np.array([None if is_missing(v) else str(v) for v in values], dtype=object)


def apply(step: Step, x: Any) -> Any:
    """One step on a column. Shape (n,)."""
    match step:
        case Blank(code):
            return np.where(x == code, np.nan, x)
        case Fill(value):
            return np.where(np.isnan(x), value, x)
        case Clip(low, high):
            return np.clip(x, low, high)
        case Affine(shift, scale):
            return (x - shift) / scale
        case Ramp(low, high):
            return np.clip((x - low) / (high - low), 0.0, 1.0)
        case YeoJohnson(power):
            return yeo_johnson(x, power)
        case Quantile():
            return quantile(step, x)
        case IsMissing():
            return np.isnan(x)
        case IsCategory(category):
            return np.array([value == category for value in x])


def yeo_johnson(x: Array, power: float) -> Array:
    """The power transform."""
    log = np.log1p(np.abs(x))
    up = log if power == 0 else np.expm1(power * log) / power
    down = log if power == 2 else np.expm1((2 - power) * log) / (2 - power)
    return np.where(x >= 0, up, -down)


def quantile(step: Quantile, x: Array) -> Array:
    """Piecewise linear with jumps."""
    knots, before, at, after = (np.array(side) for side in (step.knots, step.before, step.at, step.after))
    i = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
    y = after[i] + (before[i + 1] - after[i]) * ((x - knots[i]) / (knots[i + 1] - knots[i]))
    y = np.where(x == knots[i], at[i], y)
    y = np.where(x <= knots[0], at[0], np.where(x >= knots[-1], at[-1], y))
    return np.where(np.isnan(x), x, y)


def answers_of(answer: Answer, outputs: Array) -> Array:
    """Answers from the mean outputs (n, m) of the ladders: guarded numbers (n, m), or probabilities (n, classes)."""
    if isinstance(answer, Numbers):
        return outputs if answer.guard is None else np.clip(outputs, *(np.array(side) for side in answer.guard))
    if not isinstance(answer, Classes):
        raise ValueError("The outputs of a posterior's draws must be kept apart; their mean says too little.")
    scores = np.concatenate([np.zeros_like(outputs), outputs], 1) if outputs.shape[1] == 1 else outputs
    if answer.link == "one-versus-rest":
        scores = np.minimum(scores, 0.0) - np.log1p(np.exp(-np.abs(scores)))
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))
