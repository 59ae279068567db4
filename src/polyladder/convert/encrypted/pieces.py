"""Columns, features and answers of a recipe as JSON, and back; as a recipe may come from anyone, all is checked."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polyladder.convert.encrypted.parameters import FEWEST, LIMITS, MOST, Parameters
from polyladder.convert.exported.ranges import Array
from polyladder.fitted.answers import Classes, Numbers
from polyladder.fitted.column import Column
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import STEPS, IsCategory, IsMissing, Quantile
from polyladder.tables.columns import column_kind


def columns_json(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Columns as JSON."""
    return [
        {"name": c.name, "kind": c.kind, "categories": list(c.categories), "written": c.reading.json()} for c in columns
    ]


def columns_from(content: Any) -> tuple[Column, ...]:
    """Columns from their JSON."""
    for column in content:
        require(column["kind"] in ("number", "category"), "a column must hold numbers or texts")
        require(isinstance(column["name"], str), "a column must have a name")
    return tuple(
        Column(c["name"], c["kind"], tuple(c["categories"]), cells=column_kind(c["name"], c["written"]))
        for c in content
    )


def features_json(features: Sequence[Feature]) -> list[dict[str, Any]]:
    """Features as JSON."""
    return [{"column": f.column, "steps": [{"kind": type(s).__name__, **vars(s)} for s in f.steps]} for f in features]


def features_from(content: Any, columns: Sequence[Column]) -> tuple[Feature, ...]:
    """Features from their JSON: steps for text must read text columns, and steps for numbers must read numbers."""
    found = []
    for feature in content:
        at = feature["column"]
        require(type(at) is int and 0 <= at < len(columns), "a feature must have a column")
        steps = tuple(step_from(step) for step in feature["steps"])
        texts = columns[at].kind == "category"
        require(all(isinstance(s, IsCategory) == texts for s in steps), "a step must suit its column")
        require(len(steps) == 1 if texts else IsMissing() not in steps[:-1], "an indicator must come last")
        found.append(Feature(at, steps))
    return tuple(found)


def step_from(content: Mapping[str, Any]) -> Any:
    """A step from its JSON."""
    kind = STEPS[content["kind"]]
    values = {field.name: content[field.name] for field in dataclasses.fields(kind)}
    if kind is IsCategory:
        require(values["category"] is None or isinstance(values["category"], str), "a category must be a text")
        return IsCategory(values["category"])
    if kind is Quantile:
        values = {name: tuple(map(number, side)) for name, side in values.items()}
        count = len(values["knots"])
        require(count > 1 and all(len(side) == count for side in values.values()), "quantiles must have two knots")
        return Quantile(**values)
    return kind(**{name: number(value) for name, value in values.items()})


def answer_json(answer: Numbers | Classes) -> dict[str, Any]:
    """The way from outputs to answers, as JSON."""
    if isinstance(answer, Classes):
        return {"kind": "Classes", "labels": list(answer.labels), "link": answer.link}
    return {"kind": "Numbers", "guard": answer.guard}


def answer_from(content: Mapping[str, Any], outputs: int) -> Numbers | Classes:
    """The way from outputs to answers, from its JSON."""
    if content["kind"] == "Classes":
        labels = tuple(content["labels"])
        require(len(labels) == 2 if outputs == 1 else len(labels) == outputs, "every class must have an output")
        require(content["link"] in ("softmax", "one-versus-rest"), "a link must be known")
        return Classes(labels, content["link"])
    guard = content["guard"]
    if guard is None:
        return Numbers(None)
    low, high = (tuple(map(number, side)) for side in guard)
    require(len(low) == len(high) == outputs, "every output must have a guard")
    return Numbers((low, high))


def numbers_from(content: Any, least: float = -math.inf) -> Array:
    """Numbers above a least one. Shape (n,)."""
    found = np.array([number(value) for value in content], dtype=np.float64)
    require(len(found) > 0 and bool((found > least).all()), "numbers must lie in their range")
    return found


def parameters_from(content: Mapping[str, Any]) -> Parameters:
    """Parameters that keep 128 bits of security; others could also ask for any amount of memory."""
    found = Parameters(**content)
    require(all(type(value) is int for value in content.values()), "parameters must be whole numbers")
    require(found.degree in LIMITS and FEWEST <= found.bits <= MOST and found.levels >= 1, "parameters must be known")
    require(found.total_bits <= LIMITS[found.degree], "parameters must be secure")
    return found


def number(value: Any) -> float:
    """A finite number."""
    require(type(value) in (int, float) and math.isfinite(value), "a number must be finite")
    return float(value)


def require(met: bool, what: str) -> None:
    """Raise ValueError unless the condition holds."""
    if not met:
        raise ValueError(what)
