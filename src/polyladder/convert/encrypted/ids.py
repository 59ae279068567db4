"""Ids computed from content: files that belong together carry the same id, wherever they were made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from polyladder.convert.encrypted.pieces import answer_json, columns_json, features_json
from polyladder.convert.exported.ranges import Array
from polyladder.fitted.answers import Classes, Numbers
from polyladder.fitted.model import FittedModel

DIGITS = 7
"""Digits of computed numbers that enter an id. Another processor may round the last ones differently, and a difference
beyond the seventh digit changes an answer by at most a ten-millionth of its size."""


def model_id(model: FittedModel, answer: Numbers | Classes) -> str:
    """The name of a model: of its weights, its preprocessing and its answers, as they are stored."""
    text = [columns_json(model.columns), features_json(model.steps), answer_json(answer)]
    sha = hashlib.sha256(json.dumps(text).encode())
    for name, tensor in sorted(model.ladders.tensors().items()):
        sha.update(f"{name} {tuple(tensor.shape)}".encode())
        sha.update(tensor.contiguous().numpy().tobytes())
    return sha.hexdigest()[:32]


def recipe_id(content: Mapping[str, Any], numbers: Mapping[str, Array]) -> str:
    """The name of a recipe: of all that it says.

    Args:
        content: as JSON, the name of the model included.
        numbers: that were computed from it, by name.
    """
    written = {name: [f"{v:.{DIGITS - 1}e}" for v in values.tolist()] for name, values in numbers.items()}
    return hashlib.sha256(json.dumps({**content, **written}, sort_keys=True).encode()).hexdigest()[:32]
