"""One file for one ladder or estimator: safetensors with a JSON header. Loading runs no code from the file."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial

FORMAT = "polyladder"
VERSION = 1

READERS = {
    "LadderPolynomial": "polyladder.polynomial.store",
    "GaussianWeights": "polyladder.analysis.weights_store",
    "estimator": "polyladder.estimators.store",
}
"""Which module's ``read`` assembles what a file holds. By name, as this room must not import a later one."""


def save(polynomial: LadderPolynomial, path: str | PathLike[str], feature_names: Sequence[str] | None = None) -> None:
    """Write a ladder to ``path``: beside it first, then renamed, so that no half-written file is ever left there.

    Args:
        polynomial: any ``batch_shape``.
        path: where to; an existing file is replaced.
        feature_names: names of the d inputs, kept in the header.
    """
    header: dict[str, Any] = {
        "kind": "LadderPolynomial",
        "batch_shape": list(polynomial.batch_shape),
        "in_features": polynomial.in_features,
        "hidden": list(polynomial.hidden),
        "out_features": polynomial.out_features,
    }
    if feature_names is not None:
        names = [str(name) for name in feature_names]
        if len(names) != polynomial.in_features:
            raise ValueError(f"feature_names must have {polynomial.in_features} entries; got {len(names)}.")
        header["feature_names"] = names
    write_tensors(polynomial.tensors(), header, path)


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
    if kind not in READERS:
        raise ValueError(f"{path} must hold a LadderPolynomial or an estimator; got kind {kind!r}. Upgrade polyladder.")
    return import_module(READERS[kind]).read(tensors, header, path)


def feature_names(path: str | PathLike[str]) -> list[str] | None:
    """The input names kept in a stored ladder, if any."""
    names = read_tensors(path)[1].get("feature_names")
    return None if names is None else [str(name) for name in names]


def read(tensors: Mapping[str, Tensor], header: Mapping[str, Any], path: object) -> LadderPolynomial:
    """Assemble a ladder from named tensors, holding it to the shapes that the header promises."""
    try:
        promised = tuple(header[key] for key in ("batch_shape", "in_features", "hidden", "out_features"))
        depth = len(header["hidden"])
        per_layer = {name: tuple(tensors[f"{name}.{l}"] for l in range(depth)) for name in "WbVc"}
        polynomial = LadderPolynomial(**per_layer, readout=tensors["readout"], offset=tensors["offset"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: its weights do not form a ladder ({error}).") from error
    p = polynomial
    held = (list(p.batch_shape), p.in_features, list(p.hidden), p.out_features)
    if promised != held or len(tensors) != 4 * depth + 2:
        raise ValueError(f"{path} is damaged: its header promises {promised} and its weights are {held}.")
    return polynomial


def write_tensors(tensors: Mapping[str, Tensor], header: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write named tensors under a JSON header, atomically."""
    from safetensors.torch import save as to_bytes

    plain = {name: t.detach().cpu().clone(memory_format=torch.contiguous_format) for name, t in tensors.items()}
    text = json.dumps(dict(header))
    metadata = {"format": FORMAT, "version": str(VERSION), "header": text, "sha256": digest(plain, text)}
    write_atomically(to_bytes(plain, metadata=metadata), path)


def digest(tensors: Mapping[str, Tensor], header: str = "") -> str:
    """The sha256 of names, values and header, so that a flipped bit is noticed."""
    sha = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        sha.update(name.encode())
        sha.update(tensors[name].contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return sha.hexdigest()


def write_atomically(content: bytes, path: str | PathLike[str]) -> None:
    """Write bytes beside ``path``, then rename."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` when the block ends without an error."""
    target = Path(path)
    try:
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(f"{target} cannot be written: {error.strerror}. Choose another folder.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes the file private; give it the permissions that an ordinary open would have.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, target)
    except OSError as error:
        if error.strerror is None:  # not the system's, so it says already what is wrong
            raise
        raise OSError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        Path(beside).unlink(missing_ok=True)


def read_tensors(path: str | PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read back what `write_tensors` wrote: the tensors and the header."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise FileNotFoundError(f"{path} must be a file that polyladder wrote; there is none.")
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise ValueError(f"{path} was not written by polyladder: its header does not say so.")
            if metadata.get("version") != str(VERSION):
                raise ValueError(
                    f"{path} has format version {metadata.get('version')}; this polyladder reads version {VERSION}. "
                    "Upgrade polyladder."
                )
            header = json.loads(metadata["header"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, KeyError, json.JSONDecodeError, RecursionError, OSError) as error:
        raise ValueError(f"{path} cannot be read as a polyladder file: it is damaged or foreign ({error}).") from error
    if not isinstance(header, dict):
        raise ValueError(f"{path} is damaged: its header is not a JSON object.")
    # The first files had a checksum of their weights alone.
    if metadata.get("sha256") not in (digest(tensors, metadata["header"]), digest(tensors)):
        raise ValueError(f"{path} is damaged: its content does not match its checksum.")
    return tensors, header
