"""Proven ranges of all values inside a ladder while its inputs stay in a box: interval arithmetic, rung by rung."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.polynomial.ball import Ball, RungBalls, affine, between, ladder_intervals
from polyladder.polynomial.ladder import LadderPolynomial

Array = np.ndarray[Any, np.dtype[np.float64]]


def feature_range(feature: Feature) -> tuple[float, float]:
    """The range of one input of the ladders over all rows; infinite if no step limits it."""
    low, high = -np.inf, np.inf
    for step in feature.steps:
        low, high = step.span(low, high)
    return low, high


def input_box(model: FittedModel) -> Ball:
    """All inputs that a row can lead to; refused if a column is not limited to a range. Shape (1, d)."""
    ranges = [feature_range(feature) for feature in model.steps]
    for feature, (low, high) in zip(model.steps, ranges, strict=True):
        if not np.isfinite([low, high]).all():
            raise ValueError(
                f"Column {model.columns[feature.column].name!r} must be held to a range, so that ranges can be proven; "
                "it is not. Fit with clip=True, or give ranges."
            )
    return between(*torch.tensor(ranges, dtype=torch.float64).T.unsqueeze(1))


def ladder_ranges(polynomial: LadderPolynomial, box: Ball) -> tuple[list[RungBalls], Ball]:
    """What every rung of a single ladder, and its outputs, can be while the inputs stay in the box. Shapes (1, k)."""
    rungs = ladder_intervals(polynomial, box)
    top = rungs[-1].product if rungs else box
    return rungs, affine(top, polynomial.readout, polynomial.offset)


def size_of(ball: Ball) -> Array:
    """The largest absolute value of each number. Shape (k,)."""
    return np.asarray(ball.size[0].numpy())
