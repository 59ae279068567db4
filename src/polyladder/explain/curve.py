"""The exact course of a prediction along one column: one polynomial, or one for each part between knots."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch

from polyladder.analysis.line import LinePolynomial, line_polynomial
from polyladder.explain.columns import Column, scaled, typical_inputs, unscaled
from polyladder.explain.fitted import FittedModel

STEPS = 120


@dataclass(frozen=True)
class Curve:
    """One output of the polynomial along a column of numbers, the others typical.

    Attributes:
        column: its name.
        x: values of the column, evenly spaced over its training range.
        y: the output there.
        minimum: where the output is lowest on that range, and its value: of the polynomial, not of the points.
        maximum: the same for the highest.
        held_to: the range that predictions are held to, if they are.
    """

    column: str
    x: tuple[float, ...] = field(repr=False)
    y: tuple[float, ...] = field(repr=False)
    minimum: tuple[float, float]
    maximum: tuple[float, float]
    held_to: tuple[float, float] | None


def curve(model: FittedModel, column: Column, output: int = 0) -> Curve:
    """The curve of one output along a column of numbers."""
    if column.kind != "numeric":
        raise ValueError(f"column must hold numbers that vary; got {column.name!r}.")
    features = model.features
    pieces = column_pieces(model, column)
    x = np.linspace(column.low, column.high, STEPS)
    t = scaled(features, column, x)
    ends = np.array([high for _, high, _ in pieces[:-1]])
    which = np.searchsorted(ends, t)
    y = np.empty(len(t))
    lowest, highest = [], []
    for k, (low, high, line) in enumerate(pieces):
        at = torch.from_numpy(t[which == k]).unsqueeze(-1)
        y[which == k] = line(at)[..., output].numpy()
        lowest.append(tuple(v[output].item() for v in line.minimize(low, high)))
        highest.append(tuple(v[output].item() for v in line.maximize(low, high)))
    least, most = min(lowest, key=lambda each: each[1]), max(highest, key=lambda each: each[1])
    held = model.guard_range
    return Curve(
        column.name,
        tuple(x.tolist()),
        tuple(y.tolist()),
        (unscaled(features, column, least[0]), least[1]),
        (unscaled(features, column, most[0]), most[1]),
        None if held is None else (held[0][output].item(), held[1][output].item()),
    )


def column_pieces(model: FittedModel, column: Column) -> list[tuple[float, float, LinePolynomial]]:
    """The outputs along a column, the others typical: a polynomial of the scaled value t on each part of its range.

    Args:
        model: as `read_model` found it.
        column: of numbers.

    Returns:
        For each part its ends in t, and the polynomials of all outputs in t. One part unless the column has ramps.
    """
    features = model.features
    center = torch.from_numpy(typical_inputs(features, model.columns))[0]
    low, high = (float(scaled(features, column, np.array([end]))[0]) for end in (column.low, column.high))
    knots = [] if features.ramps_ is None else features.ramps_.knots(column.at).tolist()
    ends = [low, *(knot for knot in knots if low < knot < high), high]
    found = []
    for left, right in pairwise(ends):
        point, direction = center.clone(), torch.zeros_like(center)
        point[column.at], direction[column.at] = 0.0, 1.0
        if features.ramps_ is not None and column.ramps:
            middle, own = (left + right) / 2, list(column.ramps)
            at = np.zeros((1, len(features.kept_)))
            at[0, column.at] = middle
            first = own[0] - int(np.flatnonzero(features.ramps_.column == column.at)[0])
            slopes = features.ramps_.slopes(column.at, middle)
            value = features.ramps_(at)[0]
            for k in own:
                direction[k] = float(slopes[k - first])
                point[k] = float(value[k - first] - middle * slopes[k - first])
        found.append((left, right, line_polynomial(model.estimator.polynomial_, point, direction)))
    return found
