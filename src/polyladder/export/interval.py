"""A model with its spread among the outputs of its ladders, so that every language can write intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch.nn.functional import pad

from polyladder.fitted.answers import Banded, Draws, Guard, Numbers
from polyladder.fitted.model import FittedModel
from polyladder.fitted.spread import MOST_GROWTH, Spread
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.members import as_members, placed, times, with_outputs
from polyladder.polynomial.widen import widen
from polyladder.predictive.student import StudentPredictive


def with_interval(model: FittedModel, percentage: float) -> FittedModel:
    """The same model, which also gives the ends of intervals and the scale of errors: only exports read it.

    It has the inputs of the spread behind its own, and three outputs in place of each: the number, the log scale, and
    what this grows by beyond the training ranges. The ladders of the numbers stay as they are; one more has the rest.

    Args:
        model: of numbers, with a spread that is the same for all groups of rows.
        percentage: of new observations that intervals are made to hold, at least 1 and less than 100.
    """
    if not 1 <= percentage < 100:
        raise ValueError(
            f"interval must be a percentage from 1 to below 100; got {percentage:g}. Take 90 for nine out of ten."
        )
    spread, guard = known_spread(model)
    own, m = model.ladders.in_features, model.ladders.out_features
    first, inputs = np.arange(own), own + len(spread.beyond)
    located = [placed(times(ladder, 1 / len(model.ladders)), first, inputs) for ladder in model.ladders]
    scaled = [
        with_outputs(placed(spread.log_scale, first, inputs), m, 3 * m),
        with_outputs(growing(spread, inputs), 2 * m, 3 * m),
    ]
    answer = Banded(
        guard,
        (tuple(spread.low.tolist()), tuple(spread.high.tolist())),
        MOST_GROWTH,
        half_widths(spread, percentage / 100),
        tuple(spread.degrees.tolist()),
        percentage,
    )
    ladders = as_members([*(with_outputs(ladder, 0, 3 * m) for ladder in located), times(widen(scaled), 2)])
    return replace(model, steps=(*model.steps, *spread.beyond), ladders=ladders, answer=answer, mean=None)


def known_spread(model: FittedModel) -> tuple[Spread, Guard | None]:
    """The spread of a model, and the guard of its numbers; refused where there is none that an export can hold."""
    answer = model.answer
    if isinstance(answer, Draws):
        raise ValueError(
            "interval must be left out for a posterior: its exports always give the standard deviation of each number."
        )
    if not isinstance(answer, Numbers):
        raise ValueError("interval must be left out for a model of classes: its exports give their probabilities.")
    if answer.spread is None:
        raise ValueError(
            f"interval must be left out: the {model.kind} knows no errors at rows that it did not see. "
            "Fit an LPNNRegressor with order='auto', or call its calibrate(X, y) with such rows."
        )
    if answer.spread.groups is not None:
        name = model.columns[answer.spread.groups.column].name
        raise ValueError(
            f"interval must be left out: the model has intervals of its own for each value of {name!r}, which only "
            "predict_interval gives. Fit without calibrate_by, or call calibrate(X, y)."
        )
    return answer.spread, answer.guard


def half_widths(spread: Spread, level: float) -> tuple[float, ...]:
    """Half of the widths of intervals, in scales: those that `StudentPredictive` gives at a center of 0, scale 1."""
    zero = torch.zeros(1, len(spread.degrees), dtype=torch.float64)
    _, high = StudentPredictive(zero, zero + 1, spread.degrees, False, spread.widths).ends(level)
    return tuple(high[0].tolist())


def growing(spread: Spread, inputs: int) -> LadderPolynomial:
    """What the log scale grows by, of the last of so many inputs: one layer whose gates are 1."""
    W = pad(spread.growth.mT, (inputs - len(spread.growth), 0))
    one, zero = torch.eye(len(W), dtype=torch.float64), torch.zeros(len(W), dtype=torch.float64)
    return LadderPolynomial((W,), (zero,), (torch.zeros_like(W),), (zero + 1,), one, zero)
