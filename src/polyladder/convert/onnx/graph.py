"""A graph under construction: nodes and constants in the order in which they are added. Needs no onnx."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPSET = 19
"""The operator set of models of numbers."""

TEXT_OPSET = 20
"""The operator set of models with texts: the oldest one that can match a text with a pattern."""

DOUBLE = 11
"""ONNX's number for float64."""


@dataclass
class Graph:
    """Nodes as (operator, inputs, outputs, attributes) and constants by name; every name begins with ``prefix``."""

    prefix: str = ""
    nodes: list[tuple[str, list[str], list[str], dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def name(self) -> str:
        """A fresh name."""
        return f"{self.prefix}v{len(self.nodes)}_{len(self.constants)}"

    def constant(self, values: Any) -> str:
        """A constant of the values' own type."""
        name = f"{self.prefix}c{len(self.constants)}"
        self.constants[name] = np.asarray(values)
        return name

    def __call__(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """The result of an operator; inputs are names, or values that become constants."""
        return self.several(operator, 1, *inputs, **attributes)[0]

    def several(self, operator: str, count: int, *inputs: Any, **attributes: Any) -> list[str]:
        """The results of an operator that has several."""
        named = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        base = self.name()
        outputs = [f"{base}_{k}" for k in range(count)]
        self.nodes.append((operator, named, outputs, attributes))
        return outputs

    def rename(self, name: str, wanted: str) -> None:
        """Give the result of a node its output name."""
        self.nodes.append(("Identity", [name], [wanted], {}))
