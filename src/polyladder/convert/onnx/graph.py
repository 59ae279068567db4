"""A graph under construction: nodes and constants in the order in which they are added. Needs no onnx."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPSET = 19
"""The operator set of models of numbers."""

TEXT_OPSET = 20
"""The operator set of models with texts: the oldest one that can match a text with a pattern."""

NUMBERS: dict[type[np.generic], int] = {np.float32: 1, np.int64: 7, np.float64: 11}
"""How ONNX counts types of numbers."""


@dataclass
class Graph:
    """Nodes as (operator, inputs, outputs, attributes) and constants by name; every name begins with ``prefix``.

    Constants that are fractions are stored as ``dtype``. A copy with another one adds to the same graph.
    """

    prefix: str = ""
    dtype: type[np.floating[Any]] = np.float64
    nodes: list[tuple[str, list[str], list[str], dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def constant(self, values: Any) -> Value:
        """A constant: a number, an array or a tensor."""
        found = np.asarray(values)
        name = f"{self.prefix}c{len(self.constants)}"
        self.constants[name] = found.astype(self.dtype) if found.dtype.kind == "f" else found
        return Value(self, name)

    def __call__(self, operator: str, *inputs: Any, **attributes: Any) -> Value:
        """The first result of an operator; inputs that are no values of the graph become constants."""
        return self.several(operator, 1, *inputs, **attributes)[0]

    def several(self, operator: str, count: int, *inputs: Any, **attributes: Any) -> list[Value]:
        """The results of an operator that has several."""
        named = [i.name if isinstance(i, Value) else self.constant(i).name for i in inputs]
        base = f"{self.prefix}v{len(self.nodes)}_{len(self.constants)}"
        outputs = [f"{base}_{k}" for k in range(count)]
        self.nodes.append((operator, named, outputs, attributes))
        return [Value(self, name) for name in outputs]

    def along(self, operator: str, x: Value, axis: int, keep: bool = True) -> Value:
        """What an operator makes of all entries along an axis, which is kept with one entry, or removed."""
        return self(operator, x, np.array([axis]), keepdims=int(keep))

    def cast(self, x: Value, kind: type[np.generic]) -> Value:
        """The same as numbers of another type."""
        return self("Cast", x, to=NUMBERS[kind])

    def held(self, x: Value, low: Any, high: Any) -> Value:
        """X between two numbers, or arrays of them."""
        return self("Min", self("Max", x, low), high)

    def rename(self, value: Value, wanted: str) -> None:
        """Give the result of a node its output name."""
        self.nodes.append(("Identity", [value.name], [wanted], {}))


@dataclass(frozen=True, eq=False)
class Value:
    """An input, a constant or the result of a node; arithmetic with it adds nodes."""

    graph: Graph
    name: str

    def __add__(self, other: Any) -> Value:
        return self.graph("Add", self, other)

    def __sub__(self, other: Any) -> Value:
        return self.graph("Sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return self.graph("Sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return self.graph("Mul", self, other)

    def __truediv__(self, other: Any) -> Value:
        return self.graph("Div", self, other)

    def __matmul__(self, other: Any) -> Value:
        return self.graph("MatMul", self, other)

    def __neg__(self) -> Value:
        return self.graph("Neg", self)

    def __ge__(self, other: Any) -> Value:
        return self.graph("GreaterOrEqual", self, other)

    def __gt__(self, other: Any) -> Value:
        return self.graph("Greater", self, other)
