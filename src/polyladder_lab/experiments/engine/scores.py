"""How good predictions are, and which rows were wrong."""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Result:
    """What a runner found for one fit.

    Attributes:
        value: the metric on the rows that were measured on; None if it is not finite.
        more: what else is worth keeping, as JSON.
    """

    value: float | None
    more: dict[str, Any] = field(default_factory=dict)


def score(metric: str, prediction: Array, target: Array) -> Result:
    """The metric of predictions: numbers for ``"rmse"``, class codes for ``"error"``, which keeps the wrong rows."""
    if metric == "rmse":
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(np.sqrt(np.mean((prediction - target) ** 2)))
        return Result(value if math.isfinite(value) else None)
    wrong = prediction != target
    return Result(float(wrong.mean()), {"rows": len(wrong), "wrong": packed(wrong)})


def packed(wrong: Array) -> str:
    """Booleans as text: eight per byte, compressed.

    >>> unpacked(packed(np.array([True, False, True])), 3)
    array([ True, False,  True])
    """
    return base64.b64encode(zlib.compress(np.packbits(wrong).tobytes(), 9)).decode()


def unpacked(text: str, count: int) -> Array:
    """The booleans of a text; a text that holds another number of them is refused."""
    size = -(-count // 8)
    try:
        # No more than is wanted is ever decompressed, whatever the text says.
        content = zlib.decompressobj().decompress(base64.b64decode(text), size + 1)
    except zlib.error as error:
        raise ValueError(f"text must be packed by `packed`; got {error}.") from error
    if len(content) != size:
        raise ValueError(f"text must hold {count} booleans; got another number of them.")
    return np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=count).astype(bool)
