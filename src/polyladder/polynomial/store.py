"""One file for one ladder or estimator: safetensors with a JSON header. Loading runs no code from the file.

A file may come from anyone, and anyone can compute a checksum: the header is compared with the tensors, and a mismatch
is refused with one sentence.
"""

from __future__ import annotations

import hashlib
import json
import os
import reprlib
import stat
from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any

import torch
from torch import Tensor

from polyladder.files.replace_file import write_atomically
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.packed import pack, unpack

FORMAT = "polyladder"

PLAIN, PACKED = "1", "2"
"""Versions of the format: tensors as they are; and some of them packed, with their shapes in the header."""

READERS = {
    "LadderPolynomial": "polyladder.polynomial.store",
    "GaussianWeights": "polyladder.analysis.weights_store",
    "estimator": "polyladder.estimators.store",
}
"""The module whose ``read`` assembles each kind of file. By name, because this package must not import a later one."""

DTYPES = frozenset(
    f"torch.{kind}{bits}"
    for kind, sizes in {"float": (64, 32, 16), "bfloat": (16,), "int": (64, 32, 16, 8), "uint": (64, 32, 16, 8)}.items()
    for bits in sizes
) | {"torch.bool"}
"""What the numbers in a file may be, by name."""


def save(polynomial: LadderPolynomial, path: str | PathLike[str], feature_names: Sequence[str] | None = None) -> None:
    """Write a ladder to ``path``; an interrupted write leaves no half-written file there.

    Args:
        polynomial: any ``batch_shape``.
        path: where to; an existing file is replaced.
        feature_names: names of the d inputs, kept in the header.
    """
    header = {"kind": "LadderPolynomial", **describe(polynomial, feature_names)}
    write_tensors(polynomial.tensors(), header, path)


def describe(polynomial: LadderPolynomial, feature_names: Sequence[str] | None) -> dict[str, Any]:
    """What a header says of a ladder: its shape, and the names of its inputs if there are some."""
    p = polynomial
    shape = {
        "batch_shape": list(p.batch_shape),
        "in_features": p.in_features,
        "hidden": list(p.hidden),
        "out_features": p.out_features,
    }
    if feature_names is None:
        return shape
    names = [str(name) for name in feature_names]
    if len(names) != p.in_features:
        raise ValueError(f"feature_names must have {p.in_features} entries; got {len(names)}.")
    return {**shape, "feature_names": names}


def load(path: str | PathLike[str]) -> Any:
    """Read what ``save`` of a `LadderPolynomial` or of an estimator wrote.

    A file that is damaged or foreign is refused with its reason. Nothing in it is executed.

    Args:
        path: the file.

    Returns:
        The ladder, or the fitted estimator with its preprocessing.
    """
    tensors, header = read_tensors(path)
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        got = reprlib.repr(kind)
        raise ValueError(f"{path} must hold a LadderPolynomial or an estimator; got kind {got}. Upgrade polyladder.")
    return import_module(READERS[kind]).read(tensors, header, path)


def feature_names(path: str | PathLike[str]) -> list[str] | None:
    """The input names kept in a stored ladder, if any."""
    return names_in(read_tensors(path)[1], path)


def names_in(header: Mapping[str, Any], path: object) -> list[str] | None:
    """The input names in a header, if any; anything but a list of text is refused."""
    names = header.get("feature_names")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError(f"{path} is damaged: feature_names must be a list of text; got {reprlib.repr(names)}.")
    return names


def read(tensors: Mapping[str, Tensor], header: Mapping[str, Any], path: object) -> LadderPolynomial:
    """Assemble a ladder from named tensors, holding it to the shapes that the header promises."""
    names = names_in(header, path)
    try:
        depth = len(header["hidden"])
        per_layer = {name: tuple(tensors[f"{name}.{l}"] for l in range(depth)) for name in "WbVc"}
        polynomial = LadderPolynomial(**per_layer, readout=tensors["readout"], offset=tensors["offset"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: its weights do not form a ladder ({error}).") from error
    held = describe(polynomial, None)
    if not all(is_exactly(header.get(key), value) for key, value in held.items()) or len(tensors) != 4 * depth + 2:
        said = reprlib.repr(tuple(header.get(key) for key in held))
        raise ValueError(f"{path} is damaged: its header promises {said} and its weights are {tuple(held.values())}.")
    if names is not None and len(names) != polynomial.in_features:
        raise ValueError(f"{path} is damaged: it names {len(names)} of its {polynomial.in_features} inputs.")
    return polynomial


def is_exactly(value: object, expected: int | list[int]) -> bool:
    """Whether two values and their types are equal: neither 3.0 nor true is accepted as a number of units."""
    if isinstance(expected, list) and isinstance(value, list):
        return len(value) == len(expected) and all(map(is_exactly, value, expected))
    return type(value) is type(expected) and value == expected


def write_tensors(tensors: Mapping[str, Tensor], header: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write named tensors under a JSON header, atomically; those that are mostly zeros take little room."""
    from safetensors.torch import save as to_bytes

    plain = {name: t.detach().cpu().clone(memory_format=torch.contiguous_format) for name, t in tensors.items()}
    stored, shapes = pack(plain)
    text = json.dumps({**header, "packed": shapes} if shapes else dict(header))
    version = PACKED if shapes else PLAIN
    metadata = {"format": FORMAT, "version": version, "header": text, "sha256": digest(stored, text)}
    write_atomically(to_bytes(stored, metadata=metadata), path)


def digest(tensors: Mapping[str, Tensor], header: str = "") -> str:
    """The sha256 of names, values and header, so that a flipped bit is noticed."""
    sha = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        sha.update(name.encode())
        sha.update(tensors[name].contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return sha.hexdigest()


def read_tensors(path: str | PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read back what `write_tensors` wrote: the tensors and the header."""
    size = size_of(path)
    metadata, tensors = open_tensors(path)
    if metadata.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by polyladder: its header does not say so.")
    if metadata.get("version") not in (PLAIN, PACKED):
        raise ValueError(
            f"{path} has format version {str(metadata.get('version'))[:20]}; this polyladder reads versions {PLAIN} "
            f"and {PACKED}. Upgrade polyladder."
        )
    for name, t in tensors.items():
        # A tensor without numbers takes no room in the file, however large it claims to be.
        if str(t.dtype) not in DTYPES or max(t.shape, default=0) > size:
            got = f"{t.dtype} of shape {reprlib.repr(tuple(t.shape))}"
            raise ValueError(f"{path} is damaged: {reprlib.repr(name)} must hold numbers; got {got}.")
    try:
        header = json.loads(metadata["header"])
    # Not every error of the parser is one of decoding: numbers may be too long, and lists too deep.
    except (KeyError, ValueError, RecursionError) as error:
        raise ValueError(foreign(path, error)) from error
    if not isinstance(header, dict):
        raise ValueError(f"{path} is damaged: its header is not a JSON object.")
    # The first files had a checksum of their weights alone.
    if metadata.get("sha256") not in (digest(tensors, metadata["header"]), digest(tensors)):
        raise ValueError(f"{path} is damaged: its content does not match its checksum.")
    try:
        return unpack(tensors, header.pop("packed", {})), header
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}.") from error


def foreign(path: object, error: Exception) -> str:
    """The error for a file that cannot be parsed, cut short: the parser may quote all of its header."""
    return f"{path} cannot be read as a polyladder file: it is damaged or foreign ({str(error)[:200]})."


def size_of(path: str | PathLike[str]) -> int:
    """The bytes of a file that can be read; anything else is refused before it is opened, as a pipe would wait."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} must be a file that polyladder wrote; it is a folder, a device or a pipe.")
        with open(path, "rb"):
            return found.st_size
    except (FileNotFoundError, ValueError) as error:  # the latter for names that no file can have
        raise FileNotFoundError(f"{path} must be a file that polyladder wrote; there is none.") from error
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(f"{path} cannot be read: {error.strerror}.") from error


def open_tensors(path: str | PathLike[str]) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors of a safetensors file. The tensors stay in the file until they are used."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="pt") as file:
            names = file.keys()
            return file.metadata() or {}, {name: file.get_tensor(name) for name in names}
    # Shapes beyond 64 bits are a TypeError of torch, types that it does not know an AttributeError.
    except (SafetensorError, OSError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(foreign(path, error)) from error
