"""The spread of a fitted model, learned from its errors at rows that were left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.fitted.spread import GroupWidths, Spread
from polyladder.fitted.steps import Affine, Blank, Clip, Fill
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.predictive.conformal import Calibrated, conformal_widths, grouped_widths
from polyladder.tables.table import Table
from polyladder.training.errors.log_scale import typical_size
from polyladder.training.errors.quadratic import QuadraticScale, quadratic_scale
from polyladder.training.errors.shape import shape_of
from polyladder.training.kernels.relevance import Array

LEVELS = tuple(i / 100 for i in range(1, 100))
"""Probabilities whose intervals are calibrated."""

EXACT = 1e-9
"""Least scale of errors, as a share of the target's spread: a model is not believed to be more exact than that."""

NARROWEST = 1e-4
"""Least scale of errors anywhere, as a share of the typical one."""

FAR = 1.0
"""The scale grows until a number lies this many ranges beyond its training range."""

SWAY_ROWS, SWAY_COLUMNS = (10, 100), 200
"""Rows, at least and at most, whose columns are moved one by one to see how much the model depends on them; 4,000
predictions in all. In wider tables the scale does not grow beyond the training ranges."""

LEAST_SHRINK = 0.5
"""The kept model is not believed to have less than this part of the errors that were found on rows left out."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Errors of a model, or of models like it, at rows that it did not see.

    Attributes:
        table: the rows.
        errors: what targets lie above predictions, in units of the target. Shape (n, m).
        weight: of the rows. Shape (n,).
        shrink: by what the errors of the kept model are multiplied, where these are of smaller models.
    """

    table: Table
    errors: Array
    weight: Array
    shrink: float = 1.0


def learn_spread(model: FittedModel, left: LeftOut, scale: Array, by: int | None, seed: int) -> Spread:
    """The scale and the shape of a model's errors, and calibrated widths.

    Args:
        model: fitted.
        left: its errors at rows left out; at least two rows of a weight above 0.
        scale: of each output of the target. Shape (m,).
        by: position of the column of texts whose values are calibrated one by one; None for none.
        seed: of folds and landmarks.
    """
    used = np.flatnonzero(left.weight > 0)
    table, weight = left.table.take(used), left.weight[used] * (len(used) / left.weight.sum())
    errors = left.shrink * left.errors[used]
    z = np.ascontiguousarray(model.table_inputs(table))
    found = [one_output(z, errors[:, o], weight, EXACT * scale[o], seed) for o in range(errors.shape[1])]
    scores = torch.from_numpy(np.stack([each.scores for each in found], 1))
    widths = conformal_widths(scores, LEVELS)
    beyond, growth = grown(model, table, np.array([each.typical for each in found]), seed)
    low, high, degrees = (
        torch.tensor([vars(each)[name] for each in found], dtype=torch.float64) for name in ("low", "high", "degrees")
    )
    return Spread(
        side_by_side([each.quadratic for each in found]),
        low,
        high,
        beyond,
        growth,
        degrees,
        widths,
        len(used),
        None if by is None else group_widths(scores, table, by, widths),
    )


@dataclass(frozen=True, eq=False)
class OneOutput:
    """The errors of one output.

    Attributes:
        quadratic: their log scale.
        low: its least value.
        high: its greatest.
        degrees: of freedom.
        scores: errors divided by scales of fits without them, without a sign. Shape (n,).
        typical: scale of an error.
    """

    quadratic: QuadraticScale
    low: float
    high: float
    degrees: float
    scores: Array
    typical: float


def one_output(z: Array, errors: Array, weight: Array, least: float, seed: int) -> OneOutput:
    """Scale and shape of errors (n,) at inputs z (n, d), no scale smaller than the least."""
    size = typical_size(errors, weight)
    if size <= least:
        flat = QuadraticScale(np.zeros((0, z.shape[1])), np.zeros(0), np.zeros(z.shape[1]), float(np.log(least)))
        return OneOutput(flat, flat.offset, flat.offset, np.inf, np.abs(errors) / least, least)
    found = quadratic_scale(z, errors, weight, seed)
    shape = shape_of(errors, found.left_out, weight)
    floor = max(np.log(least), np.log(NARROWEST * size))
    log_scale = np.maximum(shape(found.left_out), floor)
    return OneOutput(
        found.scale.times(shape.stretch, shape.shift - shape.stretch * shape.center),
        float(log_scale.min()),
        float(log_scale.max()),
        shape.degrees,
        np.abs(errors) * np.exp(-log_scale),
        size,
    )


def side_by_side(quadratics: list[QuadraticScale]) -> LadderPolynomial:
    """One ladder with an output for each quadratic."""
    parts = [each.ladder() for each in quadratics]
    W, b, V, c = ((torch.cat([vars(p)[name][0] for p in parts]),) for name in ("W", "b", "V", "c"))
    units = [len(p.b[0]) for p in parts]
    readout = torch.zeros(len(parts), sum(units), dtype=torch.float64)
    for o, (p, end) in enumerate(zip(parts, np.cumsum(units).tolist(), strict=True)):
        readout[o, end - units[o] : end] = p.readout[0]
    return LadderPolynomial(W, b, V, c, readout, torch.cat([p.offset for p in parts]))


def group_widths(scores: Tensor, table: Table, by: int, general: Calibrated) -> GroupWidths:
    """Widths of the rows of each value of a column; above the levels that its rows allow, the larger of both."""
    own = grouped_widths(scores, np.array([str(v) for v in table.categories[by]]), general.levels.tolist())
    values = {}
    for label, found in own.items():
        k = len(found.levels)
        above = general.widths[k:].maximum(found.widths[-1:])
        values[str(label)] = Calibrated(general.levels, torch.cat([found.widths, above]))
    return GroupWidths(by, values)


def grown(model: FittedModel, table: Table, typical: Array, seed: int) -> tuple[tuple[Feature, ...], Tensor]:
    """Inputs that say how far a number lies beyond its training range, and what they add to the log scale.

    One range beyond it, a scale s becomes s + a, where a is what the prediction changes by over a range: the function
    may go on as it does inside, or not.

    Args:
        model: fitted.
        table: some of its rows.
        typical: scale of each output. Shape (m,).
        seed: of what is moved.
    """
    columns = [(i, c) for i, c in enumerate(model.columns) if c.role == "numeric" and c.main is not None]
    columns = [(i, column) for i, column in columns if column.high > column.low]
    none = torch.zeros(0, len(typical), dtype=torch.float64)
    if not columns or len(columns) > SWAY_COLUMNS:
        return (), none
    sway = swayed(model, table, [i for i, _ in columns], seed)
    features, growth = [], []
    for (i, column), each in zip(columns, sway, strict=True):
        added = np.log1p(each / typical)
        for feature, sign in zip(outside(model, i, column), (1.0, -1.0), strict=True):
            features.append(feature)
            growth.append(sign * added)
    return tuple(features), torch.from_numpy(np.stack(growth))


def outside(model: FittedModel, place: int, column: Column) -> tuple[Feature, Feature]:
    """How many ranges a number lies above its training range, and how many below it, as a number below zero."""
    assert column.main is not None
    steps = model.steps[column.main].steps
    before = tuple(step for step in steps[:2] if isinstance(step, Blank | Fill))
    width = column.high - column.low
    above = (Clip(column.high, column.high + FAR * width), Affine(column.high, width))
    below = (Clip(column.low - FAR * width, column.low), Affine(column.low, width))
    return Feature(place, (*before, *above)), Feature(place, (*before, *below))


def swayed(model: FittedModel, table: Table, columns: list[int], seed: int) -> Array:
    """About how much predictions change while one column goes through its range. Shape (columns, m).

    Each column's numbers are exchanged between rows. Of evenly spread numbers two are 1 / sqrt(6) of the range apart,
    in the root mean square.
    """
    rng = np.random.default_rng(seed)
    least, most = SWAY_ROWS
    some = table.take(rng.permutation(len(table))[: max(least, min(most, 4_000 // len(columns)))])
    place = {position: k for k, position in enumerate(some.positions)}
    predict = as_predicted(model)
    before, found = predict(some), []
    for i in columns:
        numbers = some.numbers.copy()
        numbers[:, place[i]] = np.roll(numbers[:, place[i]], 1)
        found.append(np.sqrt(6 * np.mean((predict(replace(some, numbers=numbers)) - before) ** 2, 0)))
    return np.stack(found)


def allowed_for(spread: Spread, table: Table, z: Tensor, difference: Tensor) -> Spread:
    """The spread of a model that predicts something else, by differences (n, m) that nothing else is known of.

    Args:
        spread: of the model as it was.
        table: rows at which both predict.
        z: the same as inputs (n, d).
        difference: of their predictions, in units of the target.
    """
    share = difference.square().mean(0) / spread.scale(z, table).square().mean(0)
    return spread.widened((1 + share).sqrt())


def column_of(table: Table, by: str | int) -> int:
    """The position of a column of texts that is known by its name or its position."""
    found = list(table.names).index(by) if by in table.names else by
    if found not in table.categories:
        texts = [table.names[i] for i in table.categories]
        listed = ", ".join(map(repr, texts[:10])) or "none"
        raise ValueError(f"calibrate_by must be a column of texts; got {by!r}. Columns of texts are: {listed}.")
    return int(found)


def as_predicted(model: FittedModel) -> Callable[[Table], Array]:
    """Predictions of a table as an array of shape (n, m)."""

    def predict(table: Table) -> Array:
        found = model.answer.predict(model.table_outputs(table))
        return np.asarray(found.reshape(len(table), -1), dtype=np.float64)

    return predict
