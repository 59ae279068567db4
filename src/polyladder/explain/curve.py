"""The exact course of a prediction along one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from polyladder.analysis.line import line_polynomial
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
    x: tuple[float, ...]
    y: tuple[float, ...]
    minimum: tuple[float, float]
    maximum: tuple[float, float]
    held_to: tuple[float, float] | None


def curve(model: FittedModel, column: Column, output: int = 0) -> Curve:
    """The curve of one output along a column of numbers."""
    if column.kind != "numeric":
        raise ValueError(f"column must hold numbers that vary; got {column.name!r}.")
    features, center = model.features, torch.from_numpy(typical_inputs(model.features, model.columns))[0]
    direction = torch.zeros_like(center)
    center[column.at], direction[column.at] = 0.0, 1.0
    line = line_polynomial(model.estimator.polynomial_, center, direction)
    low, high = (scaled(features, column, np.array([end]))[0] for end in (column.low, column.high))
    x = np.linspace(column.low, column.high, STEPS)
    y = line(torch.from_numpy(scaled(features, column, x)).unsqueeze(-1))[..., output]

    def end(found: tuple[torch.Tensor, torch.Tensor]) -> tuple[float, float]:
        t, value = found
        return unscaled(features, column, t[output].item()), value[output].item()

    held = model.guard_range
    return Curve(
        column.name,
        tuple(x.tolist()),
        tuple(y.tolist()),
        end(line.minimize(low, high)),
        end(line.maximize(low, high)),
        None if held is None else (held[0][output].item(), held[1][output].item()),
    )
