"""Elementary steps as operators. They are computed in double precision, whatever the ladders are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyladder.convert.onnx.graph import DOUBLE, Graph
from polyladder.convert.onnx.texts import is_category
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, Step, YeoJohnson


def double(values: Any) -> np.ndarray[Any, Any]:
    """A constant in double precision."""
    return np.asarray(values, dtype=np.float64)


def features(graph: Graph, model: FittedModel, column: Callable[[int], str]) -> str:
    """The inputs of the ladders. Shape (n, d), float64.

    Args:
        graph: to add to.
        model: whose features they are.
        column: the name of a column's values, of shape (n, 1), numbers in float64.
    """
    found: dict[int, str] = {}
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
    numbers = [name for i, name in found.items() if model.columns[i].kind == "number"]
    return graph("Add", z, nothing(graph, numbers)) if numbers else z


def nothing(graph: Graph, columns: list[str]) -> str:
    """0 for rows of finite or missing numbers, and NaN for others, whose answers all become NaN. Shape (n, 1)."""
    x = graph("Concat", *columns, axis=1)
    each = graph("Where", graph("IsNaN", x), double(0.0), graph("Sub", x, x))
    return graph("ReduceSum", each, np.array([1]), keepdims=1)


def apply(graph: Graph, step: Step, x: str) -> str:
    """One step."""
    match step:
        case Blank(code):
            return graph("Where", graph("Equal", x, double([[code]])), double([[np.nan]]), x)
        case Fill(value):
            return graph("Where", graph("IsNaN", x), double([[value]]), x)
        case Clip(low, high):
            return held(graph, x, low, high)
        case Affine(shift, scale):
            return graph("Div", graph("Sub", x, double([[shift]])), double([[scale]]))
        case Ramp(low, high):
            share = graph("Div", graph("Sub", x, double([[low]])), double([[high - low]]))
            return held(graph, share, 0.0, 1.0)
        case YeoJohnson(power):
            return yeo_johnson(graph, x, power)
        case Quantile():
            return quantile(graph, step, x)
        case IsMissing():
            return graph("Cast", graph("IsNaN", x), to=DOUBLE)
        case IsCategory():
            raise AssertionError("texts are compared as their column wants it")
        case _:
            return step.written(x, GraphOperations(graph))


@dataclass(frozen=True)
class GraphOperations:
    """Arithmetic of columns as nodes of a graph."""

    graph: Graph

    def number(self, value: float) -> str:
        """A constant."""
        return self.graph("Identity", double([[value]]))

    def minus(self, a: str, b: str) -> str:
        """A difference."""
        return self.graph("Sub", a, b)

    def times(self, a: str, b: str) -> str:
        """A product."""
        return self.graph("Mul", a, b)

    def sine(self, a: str) -> str:
        """The sine."""
        return self.graph("Sin", a)


def held(graph: Graph, x: str, low: float, high: float) -> str:
    """X between two numbers; NaN stays NaN, which Clip does not promise."""
    above = graph("Where", graph("Less", x, double([[low]])), double([[low]]), x)
    return graph("Where", graph("Greater", above, double([[high]])), double([[high]]), above)


def yeo_johnson(graph: Graph, x: str, power: float) -> str:
    """The power transform."""
    log = graph("Log", graph("Add", graph("Abs", x), double(1.0)))

    def grown(rate: float) -> str:
        if rate == 0:
            return log
        powers = graph("Exp", graph("Mul", log, double(rate)))
        return graph("Div", graph("Sub", powers, double(1.0)), double(rate))

    return graph("Where", graph("GreaterOrEqual", x, double(0.0)), grown(power), graph("Neg", grown(2 - power)))


def quantile(graph: Graph, step: Quantile, x: str) -> str:
    """A binary search for the knot below x, then the line behind it."""
    count = len(step.knots)
    rounds = max(1, math.ceil(math.log2(count)))
    knots = graph.constant(double([*step.knots, *[np.inf] * (2**rounds - count)]))
    lower = graph("Cast", graph("Mul", graph("Cast", graph("IsNaN", x), to=7), np.array(0)), to=7)
    for half in reversed(range(rounds)):
        candidate = graph("Add", lower, np.array(2**half))
        reached = graph("GreaterOrEqual", x, graph("Gather", knots, candidate))
        lower = graph("Where", reached, candidate, lower)
    lower = graph("Min", lower, np.array(count - 2))
    rise = np.subtract(step.before[1:], step.after[:-1]) / np.diff(step.knots)
    start = graph("Gather", knots, lower)
    run = graph("Mul", graph("Gather", double(rise), lower), graph("Sub", x, start))
    line = graph("Add", graph("Gather", double(step.after), lower), run)
    value = graph("Where", graph("Equal", x, start), graph("Gather", double(step.at), lower), line)
    value = graph("Where", graph("LessOrEqual", x, double(step.knots[0])), double(step.at[0]), value)
    return graph("Where", graph("GreaterOrEqual", x, double(step.knots[-1])), double(step.at[-1]), value)
