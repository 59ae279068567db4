"""Proven ranges of everything inside of a ladder while its inputs stay in a box: interval arithmetic, rung by rung."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.polynomial.ladder import LadderPolynomial

Array = np.ndarray[Any, np.dtype[np.float64]]

OUTWARD = 1e-12
"""By how much, relatively, an interval is widened after each rung, for the rounding of the arithmetic itself."""

TINY = 1e-300
"""By how much it is widened at least: what underflows is far less, and later weights multiply it like the rest."""


@dataclass(frozen=True)
class Interval:
    """Numbers between low and high, entry by entry."""

    low: Array
    high: Array

    @property
    def size(self) -> Array:
        """The largest absolute value of each entry."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


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
        low, high = step.span(low, high)
    return low, high


def input_box(model: FittedModel) -> Interval:
    """The box of all inputs that any row can reach; refused where a column is not held to a range."""
    ranges = [feature_range(feature) for feature in model.steps]
    for feature, (low, high) in zip(model.steps, ranges, strict=True):
        if not np.isfinite([low, high]).all():
            raise ValueError(
                f"Column {model.columns[feature.column].name!r} must be held to a range, so that ranges can be proven; "
                "it is not. Fit with clip=True, or give ranges."
            )
    return widened(Interval(*(np.array(side, dtype=np.float64) for side in zip(*ranges, strict=True))))


def widened(interval: Interval) -> Interval:
    """A little wider, for rounding."""
    margin = OUTWARD * interval.size + TINY
    return Interval(interval.low - margin, interval.high + margin)


def affine_range(matrix: Array, vector: Array, x: Interval) -> Interval:
    """The range of matrix x + vector."""
    up, down = np.maximum(matrix, 0.0), np.minimum(matrix, 0.0)
    size = np.abs(matrix) @ x.size + np.abs(vector)
    low, high = up @ x.low + down @ x.high + vector, up @ x.high + down @ x.low + vector
    return Interval(low - OUTWARD * size - TINY, high + OUTWARD * size + TINY)


def product_range(a: Interval, b: Interval) -> Interval:
    """The range of a product, entry by entry."""
    corners = np.stack([a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high])
    return widened(Interval(corners.min(0), corners.max(0)))


def ladder_ranges(polynomial: LadderPolynomial, box: Interval) -> tuple[list[RungRange], Interval]:
    """Ranges of every rung of a single ladder, and of its outputs, while the inputs stay in the box."""
    h, found = box, []
    for W, b, V, c in polynomial.layers():
        inner = affine_range(W.numpy(), b.numpy(), h)
        gate = affine_range(V.numpy(), c.numpy(), box)
        h = product_range(inner, gate)
        found.append(RungRange(inner, gate, h))
    return found, affine_range(polynomial.readout.numpy(), polynomial.offset.numpy(), h)
