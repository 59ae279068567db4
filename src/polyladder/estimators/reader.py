"""JSON and named tensors back as the values of a fitted estimator, when anyone may have written them.

Three rules: only registered classes are made, and no code runs but their constructors; nothing takes much more memory
than it took in the file; and no value comes back that `polyladder.estimators.writer` could not have written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from inspect import getattr_static, signature
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.first_files import as_now
from polyladder.estimators.registry import find_class
from polyladder.estimators.writer import DEPTH, TAG, is_cell, is_key, is_record
from polyladder.models.batched import BatchedModule

PLAIN_DTYPE = re.compile(r"[<>|=]?[biuf]\d{1,2}|\|O")
"""Types of numbers, and that of objects. A longer text could ask numpy for elements of any size."""

TEXT_BYTES = 2**26
"""Memory for all arrays of text in a file: numpy gives each element the room of the longest."""

PLACES = frozenset({"seed", "dtype", "device"})
"""Arguments of modules that no file may give: on another device than "meta" a constructor would take memory."""


class ValueReader:
    """Turns the JSON back into values."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors = tensors
        self.used: dict[str, Tensor] = {}
        self.text_bytes = 0

    def value(self, node: Any, depth: int = 0) -> Any:
        """The value that a JSON node stands for."""
        if depth > DEPTH:
            raise ValueError("it is nested too deep")
        if isinstance(node, list):
            return [self.value(v, depth + 1) for v in node]
        if not isinstance(node, dict):
            return node
        match node[TAG]:
            case "float" | "dtype" | "scalar type":
                return plain_value(node)
            case "scalar":
                return self.scalar(node)
            case "tuple":
                return tuple(self.items(node, depth))
            case "dict":
                return {checked_key(k): self.value(v, depth + 1) for k, v in node["items"]}
            case "random state":
                # Of the first files. Whatever it holds is left alone but for its tensors, which have to be named.
                with suppress(Exception):
                    self.value(node["state"], depth + 1)
                return None
            case "tensor":
                return self.tensor(node)
            case "array":
                return self.tensor(node).numpy()
            case "text":
                return self.text(node, depth)
            case "module":
                return self.module(node, depth)
            case "object":
                return self.instance(node, depth)
            case _:
                raise ValueError(f"unknown kind of value {str(node[TAG])[:40]!r}")

    def items(self, node: dict[str, Any], depth: int) -> list[Any]:
        """The values of a node that holds several."""
        if not isinstance(node["items"], list):
            raise ValueError(f"the items of a {node[TAG]} are no list")
        return [self.value(v, depth + 1) for v in node["items"]]

    def scalar(self, node: dict[str, Any]) -> np.generic:
        """One number, or one text, of numpy."""
        value = self.value(node["value"])
        if isinstance(value, str):
            return np.str_(value)
        if not isinstance(value, (bool, int, float)) or node["dtype"] == "|O":
            raise ValueError(f"a scalar must be a number or text; got {type(value).__name__}")
        return plain_dtype(node["dtype"]).type(value)

    def text(self, node: dict[str, Any], depth: int) -> np.ndarray[Any, Any]:
        """An array of text or of plain Python values. The length of its elements is theirs, not what the file says."""
        items, shape, kind = self.items(node, depth), node["shape"], str(node["dtype"])[1:2]
        if not all(map(is_cell, items)):
            raise ValueError("an array of text holds other things")
        sizes = isinstance(shape, list) and len(shape) <= 32 and all(type(n) is int and n >= 0 for n in shape)
        if not sizes or math.prod(shape) != len(items) or max(shape, default=0) > max(len(items), 2**16):
            raise ValueError(f"an array of {len(items)} items has shape {str(shape)[:40]}")
        if kind == "U":
            if not all(isinstance(v, str) for v in items):
                raise ValueError("an array of text holds other things")
            width = max(map(len, items), default=0)
            self.text_bytes += 4 * width * len(items)
            if self.text_bytes > TEXT_BYTES:
                raise ValueError(f"its arrays of text need more than {TEXT_BYTES >> 20} MiB")
            return np.array(items, dtype=f"<U{max(1, width)}").reshape(shape)
        if kind != "O":
            raise ValueError(f"an array of text has type {str(node['dtype'])[:40]!r}")
        flat = np.empty(len(items), dtype=object)
        flat[:] = items
        return flat.reshape(shape)

    def tensor(self, node: dict[str, Any]) -> Tensor:
        """A stored tensor, its dimensions in memory as they were. Values that were one array are one again."""
        name = node["name"]
        if name not in self.used:
            # A copy, because products of weights at odd addresses may be summed in another order.
            self.used[name] = self.tensors[name].clone()
        stored = self.used[name]
        order = node.get("order", list(range(stored.dim())))
        if [type(i) for i in order] != [int] * stored.dim() or sorted(order) != list(range(stored.dim())):
            raise ValueError(f"{name!r} has no dimensions {str(order)[:40]}")
        return stored.permute([order.index(i) for i in range(len(order))])

    def module(self, node: dict[str, Any], depth: int) -> BatchedModule:
        """A trained module, ready to predict."""
        kind, made, state = find_class(node["class"]), self.value(node["made"], depth + 1), node["state"]
        if not issubclass(kind, BatchedModule):
            raise ValueError(f"{kind.__name__} is no module")
        if not set(made) <= set(signature(kind).parameters) - PLACES:
            raise ValueError(f"{kind.__name__} is not made from {str(sorted(made))[:40]}")
        # Every layer has weights of its own: a module of more layers than there are would be built in vain.
        if any(len(v) > len(self.tensors) for v in made.values() if isinstance(v, (tuple, list))):
            raise ValueError(f"{kind.__name__} has more layers than weights")
        with torch.device("meta"):
            module: BatchedModule = kind(**made)
        module.load_state_dict({name: self.value(t, depth + 1) for name, t in state.items()}, assign=True)
        return module.eval().requires_grad_(False)

    def instance(self, node: dict[str, Any], depth: int) -> Any:
        """A record through its constructor, which checks; any other object by its attributes."""
        kind = find_class(node["class"])
        if issubclass(kind, BatchedModule):
            raise ValueError(f"{kind.__name__} is a module")
        state = as_now(node["class"], {name: self.value(v, depth + 1) for name, v in node["state"].items()})
        if is_record(kind) or issubclass(kind, tuple):
            return kind(**state)
        for name in state:
            check_attribute(kind, name)
        # The constructors of estimators only store: a parameter that is newer than the file has its default.
        instance = kind()
        vars(instance).update(state)
        return instance


def checked_key(value: Any) -> Any:
    """A key of a dictionary, refused unless it could have been written."""
    if not is_key(value):
        raise ValueError("a key is neither text nor a small integer")
    return value


def plain_value(node: dict[str, Any]) -> Any:
    """A number that JSON has no word for, or a type of numbers."""
    if node[TAG] == "float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[node["value"]]
    found = plain_dtype(node["name"])
    return found if node[TAG] == "dtype" else found.type


def plain_dtype(name: Any) -> np.dtype[Any]:
    """A type of numbers by its name."""
    if not isinstance(name, str) or not PLAIN_DTYPE.fullmatch(name):
        raise ValueError(f"unknown type of numbers {str(name)[:40]!r}")
    return np.dtype(name)


def check_attribute(kind: type, name: str) -> None:
    """Refuse names that are none, that are Python's own, or that would hide a method or property of the class."""
    hidden = getattr_static(kind, name, None)
    if not name.isidentifier() or name.startswith("__") or hasattr(type(hidden), "__get__"):
        raise ValueError(f"{kind.__name__} has no attribute {name[:40]!r}")
