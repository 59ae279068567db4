"""Tensors that are mostly zeros, in files: one bit for each number, and those numbers that are not zero.

Members of a selected model are padded to one shape, their layers are diagonal and factors are triangular. A bit for
each number bounds what a file can ask for: 64 times what it holds itself.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

PLACES = ".places"
"""What the name of the bits ends in; the numbers have the name of the tensor."""

LEAST = 1024
"""Numbers of a tensor from which on it may be packed."""

SHARE = 0.75
"""A tensor is packed where that takes at most this share of its bytes."""

INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""Types as which numbers of any type are compared bit for bit, by their bytes: -0.0 is not zero."""

DIMENSIONS = 32
"""Most dimensions of a packed tensor."""


def pack(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, list[int]]]:
    """Contiguous tensors as they are stored, and the shapes of those that are packed."""
    stored: dict[str, Tensor] = {}
    shapes: dict[str, list[int]] = {}
    for name, tensor in tensors.items():
        stored[name] = tensor
        if tensor.numel() < LEAST or tensor.dim() > DIMENSIONS:
            continue
        flat = tensor.reshape(-1)
        kept = flat.view(INTEGERS[flat.element_size()]) != 0
        if int(kept.sum()) + len(flat) / (8 * flat.element_size()) <= SHARE * len(flat):
            stored[name], shapes[name] = flat[kept], list(tensor.shape)
            stored[name + PLACES] = torch.from_numpy(np.packbits(kept.numpy()))
    return stored, shapes


def unpack(stored: Mapping[str, Tensor], shapes: object) -> dict[str, Tensor]:
    """The tensors that `pack` was given; anything that it did not write is refused before memory is taken for it."""
    if not isinstance(shapes, dict):
        raise ValueError(f"the shapes of its packed tensors are {reprlib.repr(shapes)}")
    found = dict(stored)
    for name, shape in shapes.items():
        if name not in found or name + PLACES not in found:
            raise ValueError(f"there is no packed tensor {reprlib.repr(name)}")
        try:
            found[name] = spread(found[name], found.pop(name + PLACES), shape)
        except ValueError as error:
            raise ValueError(f"the packed tensor {reprlib.repr(name)} {error}") from error
    return found


def spread(values: Tensor, places: Tensor, shape: object) -> Tensor:
    """A tensor of zeros but for the values (n,), which stand where the bits of the places are set."""
    if not isinstance(shape, list) or len(shape) > DIMENSIONS or not all(type(n) is int and n > 0 for n in shape):
        raise ValueError(f"has shape {reprlib.repr(shape)}")
    size = math.prod(shape)
    if values.dim() != 1 or places.dim() != 1 or places.dtype != torch.uint8 or len(places) != -(-size // 8):
        raise ValueError(f"does not have a bit for each number of {reprlib.repr(shape)}")
    bits = np.unpackbits(places.numpy()).view(np.bool_)
    if np.count_nonzero(bits) != len(values) or bits[size:].any():
        raise ValueError(f"has {len(values)} numbers for {np.count_nonzero(bits)} places")
    whole = torch.zeros(size, dtype=values.dtype)
    whole[torch.from_numpy(bits[:size])] = values
    return whole.reshape(shape)
