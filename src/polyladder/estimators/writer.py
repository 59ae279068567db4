"""Values of a fitted estimator as JSON and named tensors; `polyladder.estimators.reader` turns them back."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from polyladder.estimators.registry import name_of
from polyladder.models.batched import BatchedModule
from polyladder.polynomial.store import DTYPES

TAG = "~"
"""The key that says what a JSON object stands for."""

DEPTH = 100
"""How deep values may be nested."""

SMALL = 2**60
"""Below this, an integer is its own hash: larger ones may be chosen to collide, which makes a dictionary slow."""


class Writer:
    """Turns values into JSON, and collects tensors on the way."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        # The values are kept, since the number of an object that is gone may be given to another.
        self.seen: dict[int, tuple[object, dict[str, Any]]] = {}

    def node(self, value: Any, where: str, depth: int = 0) -> Any:
        """The JSON of a value; ``where`` names it in errors."""
        if depth > DEPTH:
            raise TypeError(f"{where[:60]}... must be nested at most {DEPTH} deep to be saved.")
        if value is None or isinstance(value, bool) or type(value) in (int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {TAG: "float", "value": str(value)}
        if is_scalar(value):
            return {TAG: "scalar", "dtype": value.dtype.str, "value": self.node(value.item(), where)}
        if isinstance(value, (np.ndarray, Tensor)):
            if id(value) not in self.seen:
                self.seen[id(value)] = (value, self.array(value, where, depth))
            return self.seen[id(value)][1]
        if type(value) is list:
            return [self.node(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(value)]
        if type(value) in (tuple, torch.Size):
            return {TAG: "tuple", "items": self.node(list(value), where, depth + 1)}
        if type(value) is dict:
            for key in value:
                if not is_key(key):
                    raise TypeError(f"{where} must have keys that are text or small integers to be saved; got {key!r}.")
            items = [[k, self.node(v, f"{where}[{k!r}]", depth + 1)] for k, v in value.items()]
            return {TAG: "dict", "items": items}
        if isinstance(value, np.dtype) and value.kind in "biufO":
            return {TAG: "dtype", "name": value.str}
        if isinstance(value, type) and issubclass(value, np.generic) and np.dtype(value).kind in "biufO":
            return {TAG: "scalar type", "name": np.dtype(value).str}
        if isinstance(value, (np.random.RandomState, np.random.Generator)):
            # A fitted model needs no state of a generator, and numpy believes any that it is given.
            return None
        return self.instance(value, where, depth)

    def array(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        """The JSON of an array or tensor: a reference to a stored tensor, or the values themselves if they are text."""
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "UO":
                cells = value.ravel().tolist()
                if not all(map(is_cell, cells)):
                    raise TypeError(f"{where} must hold numbers or text to be saved; got other objects.")
                items = [self.node(v, where, depth + 1) for v in cells]
                return {TAG: "text", "dtype": f"|{value.dtype.kind}", "shape": list(value.shape), "items": items}
            if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
                raise TypeError(f"{where} must hold numbers or text to be saved; got {value.dtype}.")
            tensor = torch.from_numpy(np.array(value, dtype=value.dtype.newbyteorder("="), order="K"))
        else:
            tensor = value.detach()
            if tensor.layout != torch.strided or str(tensor.dtype) not in DTYPES:
                raise TypeError(f"{where} must be dense and real to be saved; got {tensor.layout}, {tensor.dtype}.")
        # The order of dimensions in memory decides how a product is summed, so it comes back as it was.
        strides = tensor.stride()
        order = sorted(range(tensor.dim()), key=lambda i: (-strides[i], i))
        name = f"t{len(self.tensors)}"
        self.tensors[name] = tensor.permute(order)
        kind = "array" if isinstance(value, np.ndarray) else "tensor"
        return {TAG: kind, "name": name, **({} if order == sorted(order) else {"order": order})}

    def instance(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        """The JSON of an object of an allowed class."""
        name = name_of(type(value))
        if name is None:
            raise TypeError(
                f"{where} must hold numbers, text, arrays, tensors or objects of polyladder to be saved; "
                f"got {type(value).__name__}."
            )
        if isinstance(value, BatchedModule):
            state = {n: self.node(t, f"{where}.{n}", depth + 1) for n, t in value.state_dict().items()}
            made = {**value.architecture(), "batch_shape": tuple(value.batch_shape)}
            return {TAG: "module", "class": name, "made": self.node(made, where, depth + 1), "state": state}
        state = {n: self.node(v, f"{where}.{n}", depth + 1) for n, v in content_of(value).items()}
        return {TAG: "object", "class": name, "state": state}


def is_scalar(value: object) -> bool:
    """Whether a value is a text, or a number that Python has too, of numpy: an extended float would stay numpy's."""
    if not isinstance(value, np.generic):
        return False
    return value.dtype.kind == "U" or (value.dtype.kind in "biuf" and value.dtype.itemsize <= 8)


def is_key(value: object) -> bool:
    """Whether a value may be a key of a stored dictionary."""
    return isinstance(value, str) or (type(value) is int and abs(value) < SMALL)


def is_cell(value: object) -> bool:
    """Whether a value may stand in a stored array of text or objects."""
    return value is None or isinstance(value, (bool, float, np.generic)) or is_key(value)


def content_of(value: Any) -> dict[str, Any]:
    """The named parts of an object that are to be stored; what it works out from them again is left out."""
    if is_record(type(value)):
        return {f.name: vars(value)[f.name] for f in fields(value)}
    if isinstance(value, tuple):
        return dict(value._asdict())  # type: ignore[attr-defined]
    kind = type(value)
    return {n: v for n, v in vars(value).items() if not isinstance(getattr(kind, n, None), cached_property)}


def is_record(kind: type) -> bool:
    """Whether a class is a frozen record; an estimator is a dataclass too, but learns further attributes."""
    return is_dataclass(kind) and not issubclass(kind, BaseEstimator)
