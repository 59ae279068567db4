"""From the outputs of the ladders to answers, as operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from polyladder.convert.exported.normal import CENTER, tail_coefficients
from polyladder.convert.onnx.graph import Graph
from polyladder.fitted.answers import Classes, Draws, Numbers, Probit
from polyladder.fitted.model import FittedModel


def ladders(graph: Graph, model: FittedModel, z: str, dtype: Any) -> str:
    """Outputs of every ladder. Shape (draws, n, m)."""

    def affine(h: str, matrix: Any, vector: Any) -> str:
        product = graph("MatMul", h, matrix.mT.numpy().astype(dtype))
        return graph("Add", product, vector.unsqueeze(-2).numpy().astype(dtype))

    h = z
    for W, b, V, c in model.ladders.layers():
        h = graph("Mul", affine(h, W, b), affine(z, V, c))
    return affine(h, model.ladders.readout, model.ladders.offset)


def answers(graph: Graph, model: FittedModel, z: str, dtype: Any) -> dict[str, str]:
    """The results by their output names."""
    f = ladders(graph, model, z, dtype)
    answer = model.answer
    match answer:
        case Numbers(guard):
            y = mean(graph, f, 0)
            if guard is not None:
                y = held(graph, y, guard, dtype)
            return {"prediction": y}
        case Classes(labels, link):
            return labeled(graph, labels, linked(graph, mean(graph, f, 0), len(labels), link, dtype))
        case Draws():
            return posterior(graph, answer, f, z, dtype)
        case Probit(labels):
            return labeled(graph, labels, mean(graph, probit(graph, answer, f, model, dtype), 0))
        case _:
            raise TypeError(f"{type(answer).__name__} must have nodes of its own in ONNX; it has none.")


def mean(graph: Graph, values: str, axis: int) -> str:
    """The mean along an axis, which is removed."""
    return graph("ReduceMean", values, np.array([axis]), keepdims=0)


def held(graph: Graph, y: str, guard: Any, dtype: Any) -> str:
    """Values (..., m) held to the guard's range."""
    low, high = (np.asarray(side, dtype=dtype) for side in guard)
    return graph("Min", graph("Max", y, low), high)


def linked(graph: Graph, scores: str, count: int, link: str, dtype: Any) -> str:
    """Probabilities from mean scores. Shape (n, classes)."""
    if link == "one-versus-rest":
        # log sigmoid(s) = min(s, 0) - log(1 + exp(-|s|)); ONNX Runtime has no Softplus in double precision.
        rest = graph("Add", graph("Exp", graph("Neg", graph("Abs", scores))), np.asarray(1, dtype=dtype))
        scores = graph("Sub", graph("Min", scores, np.asarray(0, dtype=dtype)), graph("Log", rest))
    elif count == 2:
        scores = graph("Concat", graph("Mul", scores, np.asarray(0, dtype=dtype)), scores, axis=1)
    return graph("Softmax", scores, axis=1)


def labeled(graph: Graph, labels: tuple[Any, ...], probabilities: str) -> dict[str, str]:
    """The best label, along with the probabilities."""
    texts = not all(isinstance(label, int) for label in labels)
    known = np.array(list(map(str, labels)), dtype=object) if texts else np.array(labels, dtype=np.int64)
    best = graph("ArgMax", probabilities, axis=1, keepdims=0)
    return {"label": graph("Gather", known, best), "probabilities": probabilities}


def posterior(graph: Graph, answer: Draws, f: str, z: str, dtype: Any) -> dict[str, str]:
    """Lower median and standard deviation over the believed draws."""
    draws = len(answer.variance)
    number = {np.float64: 11, np.float32: 1}[dtype]
    zero = np.asarray(0, dtype=dtype)
    if answer.guard is None:
        inside = graph("Equal", graph("Mul", graph("ReduceMax", f, np.array([2]), keepdims=1), zero), zero)
    else:
        low, high = (np.asarray(side, dtype=dtype) for side in answer.guard)
        both = graph("And", graph("GreaterOrEqual", f, low), graph("LessOrEqual", f, high))
        held_all = graph("ReduceMin", graph("Cast", both, to=number), np.array([2]), keepdims=1)
        none = graph("Equal", graph("ReduceMax", held_all, np.array([0]), keepdims=1), zero)
        inside = graph("Or", graph("Greater", held_all, zero), none)
        f = held(graph, f, answer.guard, dtype)
    ones = graph("Cast", inside, to=number)
    count = graph("ReduceSum", ones, np.array([0]), keepdims=1)

    def average(values: str) -> str:
        total = graph("ReduceSum", graph("Where", inside, values, zero), np.array([0]), keepdims=1)
        return graph("Div", total, count)

    center = average(f)
    spread = average(graph("Pow", graph("Sub", f, center), np.asarray(2, dtype=dtype)))
    noise = average(tilted(graph, answer, z, dtype))
    deviation = graph("Sqrt", graph("Add", spread, noise))
    # Draws outside of the guard's range are sorted to the end.
    far = graph("Where", inside, f, np.asarray(np.inf, dtype=dtype))
    ranked = graph.several("TopK", 2, far, np.array([draws]), axis=0, largest=0, sorted=1)[0]
    place = graph("Div", graph("Sub", graph("Cast", count, to=7), np.array(1)), np.array(2))
    each = graph("Expand", place, graph("Shape", center))
    median = graph("GatherElements", ranked, each, axis=0)
    first = np.array([0])
    return {"prediction": graph("Squeeze", median, first), "std": graph("Squeeze", deviation, first)}


def tilted(graph: Graph, answer: Draws, z: str, dtype: Any) -> str:
    """The noise's variance at every row. Shape (draws, n or 1, m)."""
    base = answer.variance[:, None].astype(dtype)
    if not answer.slopes.shape[-1]:
        return graph.constant(base)
    three, one, two, tilt = (np.asarray(v, dtype=dtype) for v in (3, 1, 2, answer.tilt))
    x = graph("Min", graph("Max", z, -three), three)
    squares = graph("Div", graph("Sub", graph("Mul", x, x), one), two)
    raw = graph("MatMul", graph("Concat", x, squares, axis=1), answer.slopes.swapaxes(1, 2).astype(dtype))
    bent = graph("Mul", graph("Tanh", graph("Div", raw, tilt)), -tilt)
    return graph("Mul", base, graph("Exp", bent))


def probit(graph: Graph, answer: Probit, f: str, model: FittedModel, dtype: Any) -> str:
    """Every draw's probabilities. Shape (draws, n, classes)."""
    surest = np.asarray(answer.surest, dtype=dtype)
    m = model.ladders.out_features
    if m == 1:
        x = graph("Min", graph("Max", f, -surest), surest)
        return normal(graph, graph("Concat", graph("Neg", x), x, axis=2), dtype)
    x = graph("Max", graph("Sub", f, graph("ReduceMax", f, np.array([2]), keepdims=1)), -surest)
    margin = graph("Sub", graph("Unsqueeze", x, np.array([3])), graph("Unsqueeze", x, np.array([2])))
    others = ~np.eye(m, dtype=bool)
    total = ""
    # Node after node: all at once would hold 32 times as many numbers.
    for t, weight in zip(answer.nodes, answer.weights, strict=True):
        below = normal(graph, graph("Add", margin, np.asarray(t, dtype=dtype)), dtype)
        product = graph(
            "ReduceProd", graph("Where", others, below, np.asarray(1, dtype=dtype)), np.array([3]), keepdims=0
        )
        part = graph("Mul", product, np.asarray(weight, dtype=dtype))
        total = graph("Add", total, part) if total else part
    return graph("Div", total, graph("ReduceSum", total, np.array([2]), keepdims=1))


def normal(graph: Graph, x: str, dtype: Any) -> str:
    """The normal distribution function. ONNX Runtime has no Erf in double precision, so it is exp times a polynomial.

    With u = |x| / sqrt(2), erfcx(u) (1 + u) is smooth in (u - CENTER) / (u + CENTER).
    """

    def number(value: float) -> np.ndarray[Any, Any]:
        return np.asarray(value, dtype=dtype)

    # Beyond 12 it is 0 or 1 in either precision, and squares must not overflow.
    u = graph("Div", graph("Min", graph("Abs", x), number(12)), number(np.sqrt(2)))
    t = graph("Div", graph("Sub", u, number(CENTER)), graph("Add", u, number(CENTER)))
    coefficients = tail_coefficients()
    value = graph.constant(number(coefficients[-1]))
    for c in coefficients[-2::-1]:
        value = graph("Add", graph("Mul", value, t), number(c))
    tail = graph("Mul", graph("Exp", graph("Neg", graph("Mul", u, u))), value)
    tail = graph("Div", tail, graph("Mul", graph("Add", u, number(1)), number(2)))
    return graph("Where", graph("Greater", x, number(0)), graph("Sub", number(1), tail), tail)
