"""Proven ranges of all values inside a ladder while its inputs stay in a box: interval arithmetic, rung by rung."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.polynomial.ball import Ball, affine, between, ladder_intervals
from polyladder.polynomial.ladder import LadderPolynomial

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Interval:
    """Numbers between low and high, entry by entry."""

    low: Array
    high: Array

    @property
    def size(self) -> Array:
        """The largest absolute value of each entry."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def ball(self) -> Ball:
        """The same as one row of numbers with a proven error. Shape (1, k)."""
        return between(*(torch.as_tensor(end, dtype=torch.float64).unsqueeze(0) for end in (self.low, self.high)))

    @classmethod
    def of(cls, ball: Ball) -> Interval:
        """From numbers with a proven error. Shape (1, k)."""
        return cls(ball.lower[0].numpy(), ball.upper[0].numpy())


@dataclass(frozen=True)
class RungRange:
    """Ranges of W h + b, of the gate V x + c and of their product. Shapes (k,)."""

    inner: Interval
    gate: Interval
    product: Interval


def feature_range(feature: Feature) -> tuple[float, float]:
    """The range of one input of the ladders over all rows; infinite if no step limits it."""
    low, high = -np.inf, np.inf
    for step in feature.steps:
        low, high = step.span(low, high)
    return low, high


def input_box(model: FittedModel) -> Interval:
    """The box of all inputs that a row can lead to; refused if a column is not limited to a range."""
    ranges = [feature_range(feature) for feature in model.steps]
    for feature, (low, high) in zip(model.steps, ranges, strict=True):
        if not np.isfinite([low, high]).all():
            raise ValueError(
                f"Column {model.columns[feature.column].name!r} must be held to a range, so that ranges can be proven; "
                "it is not. Fit with clip=True, or give ranges."
            )
    sides = (np.array(side, dtype=np.float64) for side in zip(*ranges, strict=True))
    return Interval.of(Interval(*sides).ball)


def affine_range(matrix: Array, vector: Array, x: Interval) -> Interval:
    """The range of matrix x + vector."""
    return Interval.of(affine(x.ball, torch.as_tensor(matrix), torch.as_tensor(vector)))


def ladder_ranges(polynomial: LadderPolynomial, box: Interval) -> tuple[list[RungRange], Interval]:
    """Ranges of every rung of a single ladder, and of its outputs, while the inputs stay in the box."""
    rungs = ladder_intervals(polynomial, box.ball)
    top = rungs[-1].product if rungs else box.ball
    output = affine(top, polynomial.readout, polynomial.offset)
    return [RungRange(*map(Interval.of, rung)) for rung in rungs], Interval.of(output)
