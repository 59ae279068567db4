"""Where contributions start: the mean of the training rows, as the model holds it, whatever rows are explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel

MEAN = "the training mean"
"""What the start is called where it is known."""

MIDDLE = "the middle of the inputs (the file is of an earlier version and does not hold the training mean)"
"""What it is called in other files."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """A start of contributions.

    Attributes:
        inputs: as the polynomial sees it. Shape (d,).
        words: what it is.
    """

    inputs: NDArray[np.float64]
    words: str


def training_mean(model: FittedModel) -> Baseline:
    """The mean that the model was fitted with; of earlier files, what their scales and their cards say of it."""
    if model.mean is not None:
        return Baseline(model.mean, MEAN)
    start = np.zeros(model.ladders.in_features)
    # Numbers and ramps are scaled by their means, unless all columns share one scale.
    known = not share_scale(model)
    notes = {note["name"]: note for note in model.card.get("columns", ())}
    for column in model.columns:
        start[list(column.inputs)], told = earlier_mean(column, notes.get(column.name), model.card.get("rows"))
        known &= told
    return Baseline(start, MEAN if known else MIDDLE)


def earlier_mean(column: Column, note: Any, rows: int | None) -> tuple[NDArray[np.float64], bool]:
    """The mean of a column's inputs, and whether it is known; ``note`` is what the card says of the column, or None."""
    mean, noted = np.zeros(len(column.inputs)), note is not None and bool(rows)
    if column.kind == "category":
        # Without a card the counts would be those of the rows that are explained.
        counted = noted and sum(column.counts) > 0
        counts = np.array(column.counts if counted else [1.0] * len(mean))
        return counts / counts.sum(), counted
    if column.flag is None:
        return mean, True
    if noted:
        mean[column.inputs.index(column.flag)] = note["missing"] / rows
    return mean, noted


def share_scale(model: FittedModel) -> bool:
    """Whether several columns of numbers are all scaled alike, as those of images are."""
    last = {model.steps[column.main].steps[-1] for column in model.columns if column.main is not None}
    return len(last) == 1 and sum(column.main is not None for column in model.columns) > 1
