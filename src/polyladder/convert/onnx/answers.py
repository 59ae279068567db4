"""From the outputs of the ladders to answers, as operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from polyladder.convert.exported.normal import CENTER, tail_coefficients
from polyladder.convert.onnx.graph import Graph, Value
from polyladder.fitted.answers import Banded, Classes, Draws, Numbers, Probit
from polyladder.fitted.model import FittedModel


def ladders(model: FittedModel, z: Value) -> Value:
    """Outputs of every ladder. Shape (draws, n, m)."""

    def affine(h: Value, matrix: Tensor, vector: Tensor) -> Value:
        return h @ matrix.mT + vector.unsqueeze(-2)

    h = z
    for W, b, V, c in model.ladders.layers():
        h = affine(h, W, b) * affine(z, V, c)
    return affine(h, model.ladders.readout, model.ladders.offset)


def answers(graph: Graph, model: FittedModel, z: Value) -> dict[str, Value]:
    """The results by their output names."""
    f = ladders(model, z)
    answer = model.answer
    match answer:
        case Numbers(guard):
            y = graph.along("ReduceMean", f, 0, keep=False)
            return {"prediction": y if guard is None else graph.held(y, *guard)}
        case Banded():
            return banded(graph, answer, graph.along("ReduceMean", f, 0, keep=False))
        case Classes(labels, link):
            scores = graph.along("ReduceMean", f, 0, keep=False)
            return labeled(graph, labels, linked(graph, scores, len(labels), link))
        case Draws():
            return posterior(graph, answer, f, z)
        case Probit(labels):
            each = probit(graph, answer, f, model.ladders.out_features)
            return labeled(graph, labels, graph.along("ReduceMean", each, 0, keep=False))
        case _:
            raise TypeError(f"{type(answer).__name__} must have nodes of its own in ONNX; it has none.")


def banded(graph: Graph, answer: Banded, outputs: Value) -> dict[str, Value]:
    """Predictions, the ends of their intervals, and scales."""
    values, log_scale, growth = graph.several("Split", 3, outputs, axis=1, num_outputs=3)
    y = values if answer.guard is None else graph.held(values, *map(np.array, answer.guard))
    growth = graph("Min", growth, answer.most)
    scale = graph("Exp", graph.held(log_scale, *map(np.array, answer.log_scales)) + growth)
    half = scale * np.array(answer.widths)
    return {"prediction": y, "prediction_low": y - half, "prediction_high": y + half, "prediction_scale": scale}


def linked(graph: Graph, scores: Value, count: int, link: str) -> Value:
    """Probabilities from mean scores. Shape (n, classes)."""
    if link == "one-versus-rest":
        # log sigmoid(s) = min(s, 0) - log(1 + exp(-|s|)); ONNX Runtime has no Softplus in double precision.
        rest = graph("Exp", -graph("Abs", scores)) + 1.0
        scores = graph("Min", scores, 0.0) - graph("Log", rest)
    elif count == 2:
        scores = graph("Concat", scores * 0.0, scores, axis=1)
    return graph("Softmax", scores, axis=1)


def labeled(graph: Graph, labels: tuple[Any, ...], probabilities: Value) -> dict[str, Value]:
    """The best label, along with the probabilities."""
    texts = not all(isinstance(label, int) for label in labels)
    known = np.array(list(map(str, labels)), dtype=object) if texts else np.array(labels, dtype=np.int64)
    best = graph("ArgMax", probabilities, axis=1, keepdims=0)
    return {"label": graph("Gather", known, best), "probabilities": probabilities}


def posterior(graph: Graph, answer: Draws, f: Value, z: Value) -> dict[str, Value]:
    """Lower median and standard deviation over the believed draws."""
    if answer.guard is None:
        inside = graph("Equal", graph.along("ReduceMax", f, 2) * 0.0, 0.0)
    else:
        low, high = map(np.array, answer.guard)
        both = graph("And", f >= low, graph("LessOrEqual", f, high))
        held_all = graph.along("ReduceMin", graph.cast(both, graph.dtype), 2)
        none = graph("Equal", graph.along("ReduceMax", held_all, 0), 0.0)
        inside = graph("Or", held_all > 0.0, none)
        f = graph.held(f, low, high)
    count = graph.along("ReduceSum", graph.cast(inside, graph.dtype), 0)

    def average(values: Value) -> Value:
        return graph.along("ReduceSum", graph("Where", inside, values, 0.0), 0) / count

    center = average(f)
    spread = average(graph("Pow", f - center, 2.0))
    deviation = graph("Sqrt", spread + average(tilted(graph, answer, z)))
    # Draws outside of the guard's range are sorted to the end.
    far = graph("Where", inside, f, np.inf)
    ranked, _ = graph.several("TopK", 2, far, np.array([len(answer.variance)]), axis=0, largest=0, sorted=1)
    place = (graph.cast(count, np.int64) - np.array(1)) / np.array(2)
    median = graph("GatherElements", ranked, graph("Expand", place, graph("Shape", center)), axis=0)
    first = np.array([0])
    return {"prediction": graph("Squeeze", median, first), "std": graph("Squeeze", deviation, first)}


def tilted(graph: Graph, answer: Draws, z: Value) -> Value:
    """The noise's variance at every row. Shape (draws, n or 1, m)."""
    base = graph.constant(answer.variance[:, None])
    if not answer.slopes.shape[-1]:
        return base
    x = graph.held(z, -3.0, 3.0)
    raw = graph("Concat", x, (x * x - 1.0) / 2.0, axis=1) @ answer.slopes.swapaxes(1, 2)
    return base * graph("Exp", graph("Tanh", raw / answer.tilt) * -answer.tilt)


def probit(graph: Graph, answer: Probit, f: Value, m: int) -> Value:
    """Every draw's probabilities. Shape (draws, n, classes)."""
    if m == 1:
        x = graph.held(f, -answer.surest, answer.surest)
        return normal(graph, graph("Concat", -x, x, axis=2))
    x = graph("Max", f - graph.along("ReduceMax", f, 2), -answer.surest)
    margin = graph("Unsqueeze", x, np.array([3])) - graph("Unsqueeze", x, np.array([2]))
    others = ~np.eye(m, dtype=bool)
    total = None
    # Node after node: all at once would hold 32 times as many numbers.
    for t, weight in zip(answer.nodes, answer.weights, strict=True):
        below = graph("Where", others, normal(graph, margin + t), 1.0)
        part = graph.along("ReduceProd", below, 3, keep=False) * weight
        total = part if total is None else total + part
    assert total is not None
    return total / graph.along("ReduceSum", total, 2)


def normal(graph: Graph, x: Value) -> Value:
    """The normal distribution function. ONNX Runtime has no Erf in double precision, so it is exp times a polynomial.

    With u = |x| / sqrt(2), erfcx(u) (1 + u) is smooth in (u - CENTER) / (u + CENTER).
    """
    # Beyond 12 it is 0 or 1 in either precision, and squares must not overflow.
    u = graph("Min", graph("Abs", x), 12.0) / np.sqrt(2)
    t = (u - CENTER) / (u + CENTER)
    last, *others = reversed(tail_coefficients().tolist())
    value = graph.constant(last)
    for c in others:
        value = value * t + c
    tail = graph("Exp", -(u * u)) * value / ((u + 1.0) * 2.0)
    return graph("Where", x > 0.0, 1.0 - tail, tail)
