"""One file for one fitted estimator: arrays and weights as tensors, the rest as JSON. Loading runs no code from it.

An estimator is written as what `vars` shows of it, parameters and learned attributes alike, so that a new one needs
nothing here. Values may be numbers, text, lists, tuples, dictionaries, arrays, tensors, dataclasses, named tuples and
modules of this library, and the scikit-learn transformers named in `TRANSFORMERS`, by their own attributes. Anything
else is refused when saving.
"""

from __future__ import annotations

import math
import platform
import re
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from polyladder.models.batched import BatchedModule
from polyladder.polynomial.store import write_tensors

TRANSFORMERS = {
    "LabelEncoder": "sklearn.preprocessing",
    "OneHotEncoder": "sklearn.preprocessing",
    "PowerTransformer": "sklearn.preprocessing",
    "QuantileTransformer": "sklearn.preprocessing",
    "SimpleImputer": "sklearn.impute",
    "StandardScaler": "sklearn.preprocessing",
}
"""The scikit-learn classes that may stand in a file, and where they are imported from."""

OURS = re.compile(r"polyladder\.(data|polynomial|models|analysis|training|estimators)(\.\w+)+")
"""Names of the classes of this library that may stand in a file."""

TAG = "~"
"""The key that says what a JSON object stands for."""


def save(estimator: Any, path: str | PathLike[str]) -> None:
    """Write a fitted estimator with its preprocessing to ``path``, atomically.

    Args:
        estimator: any fitted estimator of this library.
        path: where to; an existing file is replaced.
    """
    check_is_fitted(estimator)
    writer = Writer()
    state = writer.node(estimator, type(estimator).__name__)
    header = {"kind": "estimator", "class": type(estimator).__name__, "versions": versions(), "estimator": state}
    write_tensors(writer.tensors, header, path)


def read(tensors: Mapping[str, Tensor], header: Mapping[str, Any], path: object) -> Any:
    """Assemble an estimator from the content of its file; `polyladder.load` calls this."""
    written = header.get("versions")
    written = written if isinstance(written, dict) else {}
    try:
        reader = Reader(tensors)
        estimator = reader.value(header["estimator"])
        if not isinstance(estimator, BaseEstimator):
            raise ValueError(f"it holds a {type(estimator).__name__}, not an estimator")
        unused = set(tensors) - reader.used
        if unused:
            raise ValueError(f"nothing refers to {sorted(unused)[0]!r}")
    except UnknownClassError as error:
        raise ValueError(
            f"{path} needs {error}, which polyladder {version('polyladder')} does not have; it was written by "
            f"polyladder {written.get('polyladder', 'of unknown version')}. Upgrade polyladder."
        ) from error
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, OverflowError) as error:
        raise ValueError(f"{path} is damaged: it does not form an estimator ({error}).") from error
    here, there = versions()["scikit-learn"], str(written.get("scikit-learn"))
    # Attributes of transformers may change between minor releases of scikit-learn, not within one.
    if here.split(".")[:2] != there.split(".")[:2]:
        warnings.warn(
            f"{path} was written with scikit-learn {there} and is read with {here}; "
            "check a prediction, and fit again if it differs.",
            UserWarning,
            stacklevel=3,
        )
    return estimator


def versions() -> dict[str, str]:
    """What the file was made with."""
    return {
        "polyladder": version("polyladder"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "scikit-learn": version("scikit-learn"),
    }


class UnknownClassError(Exception):
    """A file names a class that is not known here."""


class Writer:
    """Turns values into JSON, and collects tensors on the way."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        # The values are kept, since the number of an object that is gone may be given to another.
        self.seen: dict[int, tuple[object, dict[str, Any]]] = {}

    def node(self, value: Any, where: str) -> Any:
        """The JSON of a value; ``where`` names it in errors."""
        if value is None or isinstance(value, bool) or type(value) in (int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {TAG: "float", "value": str(value)}
        if isinstance(value, np.generic) and value.dtype.kind in "biufU":
            return {TAG: "scalar", "dtype": value.dtype.str, "value": self.node(value.item(), where)}
        if isinstance(value, (np.ndarray, Tensor)):
            if id(value) not in self.seen:
                self.seen[id(value)] = (value, self.array(value, where))
            return self.seen[id(value)][1]
        if type(value) is list:
            return [self.node(v, f"{where}[{i}]") for i, v in enumerate(value)]
        if type(value) in (tuple, torch.Size):
            return {TAG: "tuple", "items": self.node(list(value), where)}
        if type(value) is dict:
            items = [[self.node(k, where), self.node(v, f"{where}[{k!r}]")] for k, v in value.items()]
            return {TAG: "dict", "items": items}
        if isinstance(value, np.dtype) and value.kind in "biufUO":
            return {TAG: "dtype", "name": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {TAG: "scalar type", "name": np.dtype(value).str}
        if isinstance(value, np.random.RandomState):
            return {TAG: "random state", "state": self.node(value.get_state(), where)}
        return self.instance(value, where)

    def array(self, value: Any, where: str) -> dict[str, Any]:
        """The JSON of an array or tensor: a reference to a stored tensor, or the values themselves if they are text."""
        if isinstance(value, np.ndarray):
            if value.dtype.kind in "UO":
                items = [self.node(v, where) for v in value.ravel().tolist()]
                return {TAG: "text", "dtype": value.dtype.str, "shape": list(value.shape), "items": items}
            try:
                tensor = torch.from_numpy(np.array(value, dtype=value.dtype.newbyteorder("="), order="K"))
            except TypeError as error:
                raise TypeError(f"{where} must hold numbers or text to be saved; got {value.dtype}.") from error
        else:
            tensor = value.detach()
            if tensor.layout != torch.strided:
                raise TypeError(f"{where} must be dense to be saved; got {tensor.layout}.")
        # The order of dimensions in memory decides how a product is summed, so it comes back as it was.
        strides = tensor.stride()
        order = sorted(range(tensor.dim()), key=lambda i: (-strides[i], i))
        name = f"t{len(self.tensors)}"
        self.tensors[name] = tensor.permute(order)
        kind = "array" if isinstance(value, np.ndarray) else "tensor"
        return {TAG: kind, "name": name, **({} if order == sorted(order) else {"order": order})}

    def instance(self, value: Any, where: str) -> dict[str, Any]:
        """The JSON of an object of an allowed class."""
        kind = type(value)
        name = TRANSFORMERS.get(kind.__name__, "") and f"sklearn.{kind.__name__}"
        if not kind.__module__.startswith("sklearn."):
            name = f"{kind.__module__}.{kind.__qualname__}"
        try:
            known = find_class(name) is kind
        except UnknownClassError:
            known = False
        if not known:
            raise TypeError(
                f"{where} must hold numbers, text, arrays, tensors or objects of polyladder to be saved; "
                f"got {kind.__name__}."
            )
        if isinstance(value, BatchedModule):
            state = {n: self.node(t, f"{where}.{n}") for n, t in value.state_dict().items()}
            made = {**value.architecture(), "batch_shape": tuple(value.batch_shape)}
            return {TAG: "module", "class": name, "made": self.node(made, where), "state": state}
        state = {n: self.node(v, f"{where}.{n}") for n, v in content_of(value).items()}
        return {TAG: "object", "class": name, "state": state}


class Reader:
    """Turns the JSON back into values."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors = tensors
        self.used: set[str] = set()

    def value(self, node: Any) -> Any:
        """The value that a JSON node stands for."""
        if isinstance(node, list):
            return [self.value(v) for v in node]
        if not isinstance(node, dict):
            return node
        match node[TAG]:
            case "float":
                return float(node["value"])
            case "scalar":
                return np.dtype(node["dtype"]).type(self.value(node["value"]))
            case "tuple":
                return tuple(self.value(node["items"]))
            case "dict":
                return {self.value(k): self.value(v) for k, v in node["items"]}
            case "dtype":
                return np.dtype(node["name"])
            case "scalar type":
                return np.dtype(node["name"]).type
            case "random state":
                state = np.random.RandomState()
                state.set_state(self.value(node["state"]))
                return state
            case "tensor":
                return self.tensor(node)
            case "array":
                return self.tensor(node).numpy()
            case "text":
                flat = np.empty(len(node["items"]), dtype=node["dtype"])
                flat[:] = self.value(node["items"])
                return flat.reshape(node["shape"])
            case "module":
                return self.module(node)
            case "object":
                return self.instance(node)
            case other:
                raise ValueError(f"unknown kind of value {other!r}")

    def tensor(self, node: dict[str, Any]) -> Tensor:
        """A stored tensor, its dimensions in memory as they were."""
        self.used.add(node["name"])
        stored = self.tensors[node["name"]]
        order = node.get("order", list(range(stored.dim())))
        # A copy, because products of weights at odd addresses may be summed in another order.
        return stored.clone().permute([order.index(i) for i in range(len(order))])

    def module(self, node: dict[str, Any]) -> BatchedModule:
        """A trained module, ready to predict."""
        kind = find_class(node["class"])
        if not issubclass(kind, BatchedModule):
            raise ValueError(f"{node['class']} is no module")
        with torch.device("meta"):
            module = kind(**self.value(node["made"]))
        module.load_state_dict({name: self.value(t) for name, t in node["state"].items()}, assign=True)
        return module.eval().requires_grad_(False)

    def instance(self, node: dict[str, Any]) -> Any:
        """A record through its constructor, which checks; any other object by its attributes, running nothing."""
        kind = find_class(node["class"])
        state = {str(name): self.value(v) for name, v in node["state"].items()}
        if is_record(kind):
            make: Any = kind
            return make(**state)
        instance = object.__new__(kind)
        vars(instance).update(state)
        return instance


def is_record(kind: type) -> bool:
    """Whether a class is a dataclass or a named tuple."""
    return is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def content_of(value: Any) -> dict[str, Any]:
    """The named parts of an object that are to be stored; what it works out from them again is left out."""
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, tuple):
        return dict(value._asdict())  # type: ignore[attr-defined]
    kind = type(value)
    return {n: v for n, v in vars(value).items() if not isinstance(getattr(kind, n, None), cached_property)}


def find_class(name: str) -> Any:
    """The class that a file may name: a transformer of scikit-learn, or one that is defined here."""
    if name.removeprefix("sklearn.") in TRANSFORMERS:
        kind = name.removeprefix("sklearn.")
        return getattr(import_module(TRANSFORMERS[kind]), kind)
    if not OURS.fullmatch(name):
        raise UnknownClassError(name)
    module, _, kind = name.rpartition(".")
    try:
        found = getattr(import_module(module), kind)
    except (ImportError, AttributeError) as error:
        raise UnknownClassError(name) from error
    if not isinstance(found, type) or found.__module__ != module:
        raise UnknownClassError(name)
    return found
