"""One file for a Gaussian posterior: the means and the variances of a ladder's weights."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from torch import Tensor

from polyladder.analysis.moments import GaussianWeights
from polyladder.polynomial import store

PARTS = ("mean", "variance")


def save(weights: GaussianWeights, path: str | PathLike[str], feature_names: Sequence[str] | None = None) -> None:
    """Write Gaussian weights to ``path``, atomically; `polyladder.load` reads them back, bit for bit.

    Args:
        weights: any ``batch_shape``.
        path: where to; an existing file is replaced.
        feature_names: names of the d inputs, kept in the header.
    """
    header = {"kind": "GaussianWeights", **store.describe(weights.mean, feature_names)}
    tensors = {f"{part}.{name}": t for part in PARTS for name, t in vars(weights)[part].tensors().items()}
    store.write_tensors(tensors, header, path)


def read(tensors: Mapping[str, Tensor], header: Mapping[str, Any], path: object) -> GaussianWeights:
    """Assemble Gaussian weights from named tensors, holding both ladders to the shapes that the header promises."""
    parts: dict[str, dict[str, Tensor]] = {part: {} for part in PARTS}
    for name, t in tensors.items():
        part, _, rest = name.partition(".")
        if part not in parts:
            raise ValueError(f"{path} is damaged: {reprlib.repr(name)} is neither a mean nor a variance.")
        parts[part][rest] = t
    mean, variance = (store.read(parts[part], header, path) for part in PARTS)
    try:
        return GaussianWeights(mean, variance)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
