"""Proven ranges of everything inside of a ladder while its inputs stay in a box: interval arithmetic, rung by rung."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from polyladder.convert.exported.model import ExportedModel, Feature
from polyladder.convert.exported.steps import (
    Affine,
    Blank,
    Clip,
    Fill,
    IsCategory,
    IsMissing,
    Quantile,
    Ramp,
    YeoJohnson,
)
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
    """The range of one input of the ladders, whatever the row; infinite where no step holds it."""
    low, high = -np.inf, np.inf
    for step in feature.steps:
        match step:
            case Blank():
                pass
            case Fill(value):
                low, high = min(low, value), max(high, value)
            case Clip(bottom, top):
                low, high = (min(max(v, bottom), top) for v in (low, high))
            case Affine(shift, scale):
                low, high = (low - shift) / scale, (high - shift) / scale
            case Ramp() | IsMissing() | IsCategory():
                low, high = 0.0, 1.0
            case Quantile(at=at):
                low, high = at[0], at[-1]
            case YeoJohnson(power):
                low, high = yeo_johnson(low, power), yeo_johnson(high, power)
    return low, high


def yeo_johnson(x: float, power: float) -> float:
    """The power transform of one number, which may be infinite."""
    if x >= 0:
        return float(np.log1p(x) if power == 0 else np.expm1(power * np.log1p(x)) / power)
    return float(-np.log1p(-x) if power == 2 else -np.expm1((2 - power) * np.log1p(-x)) / (2 - power))


def input_box(model: ExportedModel) -> Interval:
    """The box of all inputs that any row can reach; refused where a column is not held to a range."""
    ranges = [feature_range(feature) for feature in model.features]
    for feature, (low, high) in zip(model.features, ranges, strict=True):
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
