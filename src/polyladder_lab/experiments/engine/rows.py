"""What a stored row must hold to be counted. Any other row is refused with the reason."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from polyladder_lab.experiments.engine.scores import unpacked

Row = dict[str, Any]


def parsed(line: bytes) -> Row:
    """The row of a line of the store.

    Raises:
        ValueError: the line is not a row; the message is the reason, to be read after "the line".
    """
    try:
        row = json.loads(line.decode("utf-8"), parse_constant=refused)
    except UnicodeDecodeError as error:
        raise ValueError(f"must be UTF-8; got byte {line[error.start]:#04x}: character {error.start + 1}") from error
    except RecursionError as error:
        raise ValueError("must be a flat object; got brackets nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"must be JSON; got {error.msg}: character {error.pos + 1}") from error
    if not isinstance(row, dict):
        raise ValueError(f"must be a JSON object; got {type(row).__name__}")
    check(row)
    return row


def refused(name: str) -> float:
    """NaN and infinities are not JSON; a row that has one is refused."""
    raise ValueError(f"must hold finite numbers; got {name}")


def check(row: Row) -> None:
    """Refuse a row that lacks a field, or has one of the wrong type."""
    if not isinstance(row.get("key"), str):
        raise ValueError("must have a text 'key'")
    if ("value" in row) == ("folds" in row):
        raise ValueError("must have either 'value' or 'folds'")
    for name, (holds, wanted) in FIELDS.items():
        if name in row and not holds(row[name]):
            raise ValueError(f"must have {wanted} in '{name}'")
    if "rows" in row and row.get("value") is not None and not 0 <= row["value"] <= 1:
        raise ValueError("must have a share of its 'rows' in 'value'")
    if "wrong" in row:
        check_wrong_rows(row)
    if "distributions" in row and "model" not in row:
        raise ValueError("must have a text 'model' beside 'distributions'")


def check_wrong_rows(row: Row) -> None:
    """Which rows were wrong must be as long as there are rows."""
    if "rows" not in row:
        raise ValueError("must have 'rows' beside 'wrong'")
    try:
        unpacked(row["wrong"], row["rows"])
    except ValueError as error:
        raise ValueError(f"must have packed bits in 'wrong'; got {error}") from error


def number(value: Any) -> bool:
    """A finite number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # An integer may be too large for a float.
    return abs(value) < 2**1023 and math.isfinite(value)


def score(value: Any) -> bool:
    """A number, or None where a model blew up."""
    return value is None or number(value)


def text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def count(value: Any) -> bool:
    """A whole number from 1 on, and no more than an array can have."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31


def listed(value: Any, holds: Callable[[Any], bool]) -> bool:
    """A list of at least one entry, each of which holds."""
    return isinstance(value, list) and bool(value) and all(holds(entry) for entry in value)


def numbers(value: Any) -> bool:
    """A list of numbers."""
    return listed(value, number)


def unit(value: Any) -> bool:
    """A unit of Figure 1: its inputs and as many responses."""
    return (
        isinstance(value, dict)
        and number(value.get("unit"))
        and numbers(value.get("u"))
        and numbers(value.get("h"))
        and len(value["u"]) == len(value["h"])
    )


def distribution(value: Any) -> bool:
    """A distribution of Figure 2."""
    names = ("input", "variance", "ks", "skewness", "kurtosis", "outside")
    return (
        isinstance(value, dict)
        and all(number(value.get(name)) for name in names)
        and numbers(value.get("histogram"))
        and min(value["outside"], *value["histogram"]) >= 0 < sum(value["histogram"])
    )


def depth(value: Any) -> bool:
    """A ladder that grew: its layers and errors."""
    return isinstance(value, dict) and all(number(value.get(name)) for name in ("layers", "train", "test", "changed"))


def bounds(value: Any) -> bool:
    """Bounds of outputs and gradients, and what was found below them."""
    names = (f"{of}_{kind}" for of in ("output", "gradient") for kind in ("found", "paper", "local"))
    return isinstance(value, dict) and all(number(value.get(name)) and value[name] > 0 for name in names)


def norms(value: Any) -> bool:
    """Norms of weight matrices by their names, each positive."""
    names = ("W", "V", "trained_W", "readout")
    return isinstance(value, dict) and all(numbers(value.get(name)) and min(value[name]) > 0 for name in names)


FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "value": (score, "a finite number or null"),
    "folds": (lambda value: listed(value, score), "a list of finite numbers or nulls"),
    "rows": (count, "a number of rows"),
    "wrong": (text, "a text"),
    "model": (text, "a text"),
    "column": (text, "a text"),
    "commit": (text, "a text"),
    "undefined": (text, "a text"),
    "seconds": (number, "a finite number"),
    "layers": (lambda value: listed(value, lambda layer: listed(layer, unit)), "units with their inputs and responses"),
    "distributions": (lambda value: listed(value, distribution), "distributions with their distances and histograms"),
    "depths": (lambda value: listed(value, depth), "depths with their errors"),
    "bounds": (bounds, "bounds and what was found"),
    "norms": (norms, "positive norms of weight matrices"),
}
"""What the fields that are read must hold, and how to say so. Others are kept as they are."""
