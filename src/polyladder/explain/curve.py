"""The course of a prediction along one column: a polynomial, one for each part between knots, or a sampled function."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch

from polyladder.analysis.line import LinePolynomial, line_polynomial
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps.step import Array
from polyladder.fitted.values import bent_steps, inputs_along, is_straight, scaled, typical_inputs, unscaled

STEPS = 120
"""Points of a curve, for drawing."""

GRID = 1000
"""Points on which the lowest and the highest point of a curve that is no polynomial are searched."""

ZOOMS = 5
"""Times that such a search is repeated between the neighbors of the best point: each makes it 500 times as exact."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """One output of the polynomial along a column of numbers, the others typical.

    Along a column whose inputs are not piecewise affine in one of them, such as a phase, the output is no polynomial.
    It is then evaluated on a fine grid, and its extremes are those of the grid, refined between their neighbors.

    Attributes:
        column: its name.
        x: values of the column, evenly spaced over its training range.
        y: the output there.
        minimum: where the output is lowest on that range, and its value: of the function, not of the points.
        maximum: the same for the highest.
        held_to: the range that predictions are held to, if they are.
    """

    column: str
    x: tuple[float, ...] = field(repr=False)
    y: tuple[float, ...] = field(repr=False)
    minimum: Point
    maximum: Point
    held_to: tuple[float, float] | None


def curve(model: FittedModel, column: Column, output: int = 0) -> Curve:
    """The curve of one output along a column of numbers."""
    x = np.linspace(column.low, column.high, STEPS)
    y, least, most = (exact if is_straight(model, column) else sampled)(model, column, output, x)
    held = model.guard
    held_to = None if held is None else (held[0][output].item(), held[1][output].item())
    return Curve(column.name, tuple(x.tolist()), tuple(y.tolist()), least, most, held_to)


def sampled(model: FittedModel, column: Column, output: int, x: Array) -> tuple[Array, Point, Point]:
    """An output at values of a column, and where it is lowest and highest as far as a grid tells."""

    def at(values: Array) -> Array:
        z = np.repeat(typical_inputs(model), len(values), 0)
        for k, inputs in inputs_along(model, column, values).items():
            z[:, k] = inputs
        return np.asarray(model.polynomial(torch.from_numpy(z))[:, output].numpy())

    def best(sign: int) -> Point:
        low, high = column.low, column.high
        for _ in range(1 + ZOOMS):
            grid = np.linspace(low, high, GRID)
            y = at(grid)
            k = int((sign * y).argmin())
            low, high = grid[max(0, k - 1)], grid[min(GRID - 1, k + 1)]
        return float(grid[k]), float(y[k])

    return at(x), best(1), best(-1)


def exact(model: FittedModel, column: Column, output: int, x: Array) -> tuple[Array, Point, Point]:
    """An output at values of a column, and where it is lowest and highest, by the polynomials of its pieces."""
    pieces = column_pieces(model, column)
    t = scaled(model, column, x)
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
    return y, (unscaled(model, column, least[0]), least[1]), (unscaled(model, column, most[0]), most[1])


def column_pieces(model: FittedModel, column: Column) -> list[tuple[float, float, LinePolynomial]]:
    """The outputs along a column, the others typical: a polynomial of the scaled value t on each part of its range.

    Args:
        model: the model.
        column: of numbers.

    Returns:
        For each part its ends in t, and the polynomials of all outputs in t. One part unless the column has ramps.
    """
    bent = bent_steps(model, column)
    low, high = (float(end) for end in scaled(model, column, np.array([column.low, column.high])))
    center = torch.from_numpy(np.ascontiguousarray(typical_inputs(model)))[0]
    # Later steps are affine: only the first of each input has breaks.
    knots = {knot for steps in bent.values() if steps for knot in steps[0].breaks(low, high)}
    found = []
    for left, right in pairwise([low, *sorted(knots), high]):
        point, direction = center.clone(), torch.zeros_like(center)
        point[column.main], direction[column.main] = 0.0, 1.0
        middle = np.array([(left + right) / 2])
        for k, steps in bent.items():
            value, slope = middle, np.ones(1)
            for step in steps:
                slope = slope * step.slope(value)
                value = step.apply(value)
            direction[k], point[k] = float(slope[0]), float(value[0] - middle[0] * slope[0])
        found.append((left, right, line_polynomial(model.polynomial, point, direction)))
    return found
