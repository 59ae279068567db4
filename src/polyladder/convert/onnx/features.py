"""Elementary steps as operators. They are computed in double precision, whatever the ladders are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polyladder.convert.onnx.graph import Graph, Value
from polyladder.convert.onnx.texts import is_category
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, Step, YeoJohnson


def features(graph: Graph, model: FittedModel, column: Callable[[int], Value]) -> Value:
    """The inputs of the ladders. Shape (n, d), float64.

    Args:
        graph: to add to.
        model: whose features they are.
        column: the values of a column, of shape (n, 1), numbers in float64.
    """
    found: dict[int, Value] = {}
    parts = []
    for feature in model.steps:
        if feature.column not in found:
            found[feature.column] = column(feature.column)
        value, own = found[feature.column], model.columns[feature.column]
        for step in feature.steps:
            if isinstance(step, IsCategory):
                value = is_category(graph, own, step.category, value)
            else:
                value = apply(graph, step, value)
        parts.append(value)
    z = graph("Concat", *parts, axis=1)
    numbers = [value for i, value in found.items() if model.columns[i].kind == "number"]
    return z + nothing(graph, numbers) if numbers else z


def nothing(graph: Graph, columns: list[Value]) -> Value:
    """0 for rows of finite or missing numbers, and NaN for others, whose answers all become NaN. Shape (n, 1)."""
    x = graph("Concat", *columns, axis=1)
    return graph.along("ReduceSum", graph("Where", graph("IsNaN", x), 0.0, x - x), 1)


def apply(graph: Graph, step: Step, x: Value) -> Value:
    """One step."""
    match step:
        case Blank(code):
            return graph("Where", graph("Equal", x, code), np.nan, x)
        case Fill(value):
            return graph("Where", graph("IsNaN", x), value, x)
        case Clip(low, high):
            return clipped(graph, x, low, high)
        case Affine(shift, scale):
            return (x - shift) / scale
        case Ramp(low, high):
            return clipped(graph, (x - low) / (high - low), 0.0, 1.0)
        case YeoJohnson(power):
            return yeo_johnson(graph, x, power)
        case Quantile():
            return quantile(graph, step, x)
        case IsMissing():
            return graph.cast(graph("IsNaN", x), np.float64)
        case IsCategory():
            raise AssertionError("texts are compared as their column wants it")
        case _:
            return step.written(x, GraphOperations(graph))


@dataclass(frozen=True)
class GraphOperations:
    """Arithmetic of columns as nodes of a graph."""

    graph: Graph

    def number(self, value: float) -> Value:
        """A constant."""
        return self.graph.constant(value)

    def minus(self, a: Value, b: Value) -> Value:
        """A difference."""
        return a - b

    def times(self, a: Value, b: Value) -> Value:
        """A product."""
        return a * b

    def sine(self, a: Value) -> Value:
        """The sine."""
        return self.graph("Sin", a)


def clipped(graph: Graph, x: Value, low: float, high: float) -> Value:
    """X between two numbers; NaN stays NaN, which Clip, Min and Max do not promise."""
    above = graph("Where", graph("Less", x, low), low, x)
    return graph("Where", above > high, high, above)


def yeo_johnson(graph: Graph, x: Value, power: float) -> Value:
    """The power transform."""
    log = graph("Log", graph("Abs", x) + 1.0)

    def grown(rate: float) -> Value:
        return log if rate == 0 else (graph("Exp", log * rate) - 1.0) / rate

    return graph("Where", x >= 0.0, grown(power), -grown(2 - power))


def quantile(graph: Graph, step: Quantile, x: Value) -> Value:
    """A binary search for the knot below x, then the line behind it."""
    count = len(step.knots)
    rounds = max(1, math.ceil(math.log2(count)))
    knots = graph.constant([*step.knots, *[np.inf] * (2**rounds - count)])
    lower = graph.cast(graph("IsNaN", x), np.int64) * np.array(0)
    for half in reversed(range(rounds)):
        candidate = lower + np.array(2**half)
        lower = graph("Where", x >= graph("Gather", knots, candidate), candidate, lower)
    lower = graph("Min", lower, np.array(count - 2))
    rise = np.subtract(step.before[1:], step.after[:-1]) / np.diff(step.knots)
    start = graph("Gather", knots, lower)
    line = graph("Gather", np.array(step.after), lower) + graph("Gather", rise, lower) * (x - start)
    value = graph("Where", graph("Equal", x, start), graph("Gather", np.array(step.at), lower), line)
    value = graph("Where", graph("LessOrEqual", x, step.knots[0]), step.at[0], value)
    return graph("Where", x >= step.knots[-1], step.at[-1], value)
