"""Tasks and the large arrays that they share, apart from each other: engines send such an array once to each worker."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

T = TypeVar("T")

LARGE = 50_000
"""Arrays of at least this many bytes are sent apart from their tasks."""


@dataclass(frozen=True, eq=False)
class Packed:
    """A task, pickled without its large arrays.

    Attributes:
        task: bytes.
        arrays: that were left out; tasks that share an array hold the same object.
    """

    task: bytes
    arrays: tuple[NDArray[Any], ...]


class ArraysOut(pickle.Pickler):
    """Writes the number of a large array in its place."""

    def __init__(self, file: io.BytesIO, known: dict[tuple[object, ...], NDArray[Any]]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.known = known
        self.keys: dict[tuple[object, ...], int] = {}

    def persistent_id(self, obj: Any) -> tuple[str, int] | None:
        """The number of a large array; None for anything else."""
        plain = is_large_tensor(obj)
        if not plain and not (type(obj) is np.ndarray and obj.nbytes >= LARGE and not obj.dtype.hasobject):
            return None
        array = obj.numpy() if plain else obj
        # Two tensors may be one piece of memory, such as a column taken twice.
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        self.known.setdefault(key, array)
        return ("tensor" if plain else "array"), self.keys.setdefault(key, len(self.keys))


class ArraysIn(pickle.Unpickler):
    """Puts the arrays back into their places."""

    def __init__(self, file: io.BytesIO, arrays: Sequence[NDArray[Any]]) -> None:
        super().__init__(file)
        self.arrays = arrays

    def persistent_load(self, pid: tuple[str, int]) -> Any:
        """The array that a number stands for."""
        kind, position = pid
        array = self.arrays[position]
        if kind == "array":
            return array
        # Engines give several tasks the same read-only memory, which torch does not support.
        return torch.from_numpy(array if array.flags.writeable else array.copy())


def is_large_tensor(value: object) -> bool:
    """Whether this is a large tensor of plain numbers in memory."""
    if type(value) is not Tensor:
        return False
    plain = value.layout == torch.strided and value.device.type == "cpu" and not value.requires_grad
    return plain and value.nbytes >= LARGE


def pack(tasks: Sequence[Callable[[], object]]) -> list[Packed]:
    """Tasks as bytes, with the large arrays that they read apart; workers import the tasks' functions by name."""
    known: dict[tuple[object, ...], NDArray[Any]] = {}
    found = []
    for task in tasks:
        file = io.BytesIO()
        pickler = ArraysOut(file, known)
        pickler.dump(task)
        found.append(Packed(file.getvalue(), tuple(known[key] for key in pickler.keys)))
    return found


def unpack(task: bytes, arrays: Sequence[NDArray[Any]]) -> Callable[[], Any]:
    """The task that was packed."""
    found: Callable[[], Any] = ArraysIn(io.BytesIO(task), arrays).load()
    return found
