"""The spread of a model as the page carries it: the log scale as one more ladder, and widths of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from polyladder.fitted.answers import Numbers
from polyladder.fitted.model import FittedModel
from polyladder.fitted.spread import MOST_GROWTH, Spread
from polyladder.fitted.steps import Affine, Blank, Clip, Fill, Step
from polyladder.predictive.conformal import Calibrated
from polyladder.predictive.student import StudentPredictive
from polyladder.report.weights import ladders_json

Json = dict[str, Any]


def spread_json(model: FittedModel, percents: Sequence[int]) -> Json | None:
    """How far new observations lie from predictions; None of models that do not say it.

    Args:
        model: fitted.
        percents: of the intervals, the narrowest first.
    """
    spread = model.answer.spread if isinstance(model.answer, Numbers) else None
    if spread is None:
        return None
    growth = spread.growth.tolist()
    return {
        "percents": list(percents),
        "ladder": ladders_json(spread.log_scale.map(lambda t: t.unsqueeze(0))),
        "low": spread.low.tolist(),
        "high": spread.high.tolist(),
        "beyond": [
            {"column": feature.column, "steps": [step_json(step) for step in feature.steps], "growth": each}
            for feature, each in zip(spread.beyond, growth, strict=True)
        ],
        "most": MOST_GROWTH,
        "widths": widths_json(spread, spread.widths, percents),
        "groups": groups_json(model, spread, percents),
    }


def step_json(step: Step) -> list[Any]:
    """One of the steps that inputs beyond the training ranges take."""
    match step:
        case Blank(code):
            return ["blank", code]
        case Fill(value):
            return ["fill", value]
        case Clip(low, high):
            return ["clip", low, high]
        case Affine(shift, scale):
            return ["affine", shift, scale]
        case _:
            raise TypeError(f"A step of a spread must be one that the page knows; got {type(step).__name__}.")


def widths_json(spread: Spread, widths: Calibrated, percents: Sequence[int]) -> list[list[float]]:
    """Half widths in scales, for each percentage and output."""
    center = torch.zeros_like(spread.degrees)[None]
    said = StudentPredictive(center, torch.ones_like(center), spread.degrees, False, widths)
    return [said.interval(percent / 100)[1][0].tolist() for percent in percents]


def groups_json(model: FittedModel, spread: Spread, percents: Sequence[int]) -> Json | None:
    """Half widths for each category of a column, null for those that have the general ones."""
    if spread.groups is None:
        return None
    known, column = spread.groups.values, spread.groups.column
    # A missing text has the general widths, as one that was seldom has.
    own = [known.get(name) if name is not None else None for name in model.columns[column].categories]
    return {"column": column, "widths": [widths and widths_json(spread, widths, percents) for widths in own]}
