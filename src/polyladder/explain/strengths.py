"""Which columns matter, and which of them act together: exact derivatives, gathered by column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyladder.analysis.hessian import hessian
from polyladder.analysis.jacobian import jacobian
from polyladder.explain.baseline import training_mean
from polyladder.fitted.model import FittedModel, HasModel, fitted_model
from polyladder.fitted.values import inputs_along, ramps_of
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.trim import trim

POINTS = 256
"""Rows, evenly spread, over which columns and pairs are ranked."""

DRAWS = 32
"""Draws of a posterior, evenly spread, whose mean is looked at."""

PAIR_INPUTS = 64
"""Pairs are looked for among this many inputs, the strongest: each costs a pass through the ladder."""

PAIRS = 20
"""Pairs that are listed."""

STRAIGHT = 0.01
"""A fit is called practically linear if no slope changes by more than this share of the strongest feature's."""

ROUNDING = 1e-9
"""Pairs that change a slope by no more than this share of the strongest column's do not act together."""

CHUNK = 2**24
"""Derivatives held at once: 128 MiB in float64."""


@dataclass(frozen=True)
class Strengths:
    """Change of the prediction per standard deviation of a column, and how much two columns change each other's.

    Attributes:
        over: what the means are taken over, in words.
        columns: name and strength of each column that the model reads, strongest first.
        pairs: names and strength of pairs that act together at all, strongest first.
        bend: the largest change of a slope, of a column by itself or by another, per standard deviations of both. What
            a number adds through its ramps or phases, along which slopes change, counts as such a change.
        positions: in the table, of each of the columns.
        pair_positions: in the table, of each of the pairs.
    """

    over: str
    columns: tuple[tuple[str, float], ...]
    pairs: tuple[tuple[str, str, float], ...]
    bend: float
    positions: tuple[int, ...]
    pair_positions: tuple[tuple[int, int], ...]

    @property
    def note(self) -> str:
        """A sentence where there is something to be said before any bar is drawn; else empty."""
        if self.columns and self.bend < STRAIGHT * self.columns[0][1]:
            return f"Practically linear: no slope changes by more than {STRAIGHT:.0%} of the strongest column's effect."
        return ""

    def json(self) -> dict[str, Any]:
        """For a card."""
        return {
            "over": self.over,
            "columns": [list(each) for each in self.columns],
            "pairs": [list(each) for each in self.pairs],
            "bend": self.bend,
            "positions": list(self.positions),
            "pair_positions": [list(each) for each in self.pair_positions],
        }


def named_strengths(
    names: Sequence[str],
    over: str,
    columns: Iterable[tuple[int, float]],
    pairs: Iterable[tuple[int, int, float]],
    bend: float,
) -> Strengths:
    """Strengths of columns by their positions, strongest first, with their names.

    Pairs whose strength is no more than rounding beside that of the strongest column are none.
    """
    ranked = tuple((int(i), float(value)) for i, value in columns)
    least = ROUNDING * max((value for _, value in ranked), default=0.0)
    kept = tuple((int(i), int(j), float(value)) for i, j, value in pairs if value > least)
    return Strengths(
        over,
        tuple((names[i], value) for i, value in ranked),
        tuple((names[i], names[j], value) for i, j, value in kept),
        float(bend),
        tuple(i for i, _ in ranked),
        tuple((i, j) for i, j, _ in kept),
    )


def strengths(model: FittedModel, z: Tensor | None = None) -> Strengths:
    """Strengths over transformed rows; without rows those on the model's card, or over the middle of its ranges.

    The root mean square over the rows of the derivative of the mean of all ladders, times the standard deviation of the
    input. Several inputs of one column (categories) add up in quadrature, as do several outputs. The spread of a
    posterior's draws does not count: it says how sure a strength is, not how large.

    Args:
        model: the model.
        z: transformed rows. Shape (n, d).
    """
    if z is None or len(z) < 2:
        kept = stored(model.card, [column.name for column in model.columns])
        return (
            kept if kept is not None else computed(model, *central_points(model), "points in the middle of the ranges")
        )
    points = z[torch.from_numpy(spread_rows(len(z)))]
    return computed(model, points, points.std(0, correction=0), "rows")


def spread_rows(count: int) -> NDArray[np.int64]:
    """Numbers of the rows, evenly spread among so many, over which strengths are found."""
    return np.asarray(torch.linspace(0, count - 1, min(count, POINTS)).round().long().numpy())


def stored(card: Mapping[str, Any], names: Sequence[str]) -> Strengths | None:
    """What a card says of columns of these names, if it does."""
    found = card.get("strengths")
    if not isinstance(found, Mapping) or "columns" not in found:
        return None
    columns, pairs = found["columns"], found["pairs"]
    if "positions" in found:
        columns = [(i, value) for i, (_, value) in zip(found["positions"], columns, strict=True)]
        pairs = [(i, j, value) for (i, j), (_, _, value) in zip(found["pair_positions"], pairs, strict=True)]
    # Cards of before hold positions in the place of names.
    return named_strengths(names, str(found["over"]), columns, pairs, found["bend"])


def computed(model: FittedModel, points: Tensor, spread: Tensor, over: str) -> Strengths:
    """Strengths over points (n, d), whose inputs count with the given standard deviations (d,)."""
    parts = summed_parts(model)
    single = mean_slopes(parts, points) * spread.square()
    used = [i for i, column in enumerate(model.columns) if column.inputs]
    by_column = {i: single[list(model.columns[i].inputs)].sum().sqrt().item() for i in used}
    strongest = single.argsort(descending=True, stable=True)[:PAIR_INPUTS].sort().values
    # The second derivatives of the chosen inputs, in both directions. Shape (chosen, chosen).
    changes = mean_bends(parts, points, strongest)
    changes = changes * spread[strongest].square() * spread[strongest].square().unsqueeze(-1)
    numbers = [column for column in model.columns if column.role == "numeric"]
    further = [[k for k in column.inputs if k not in (column.main, column.flag)] for column in numbers]
    bend = max([changes.max().sqrt().item(), *(single[inputs].sum().sqrt().item() for inputs in further)])
    owner = {k: i for i in used for k in model.columns[i].inputs}
    by_pair: dict[tuple[int, int], float] = {}
    for a, first in enumerate(strongest.tolist()):
        for b, second in enumerate(strongest.tolist()):
            i, j = owner[first], owner[second]
            if i < j:
                by_pair[i, j] = by_pair.get((i, j), 0.0) + changes[a, b].item()
    pairs = sorted(by_pair.items(), key=lambda item: -item[1])[:PAIRS]
    return named_strengths(
        [column.name for column in model.columns],
        f"{len(points)} {over}",
        ((i, by_column[i]) for i in sorted(used, key=lambda i: -by_column[i])),
        ((i, j, value**0.5) for (i, j), value in pairs),
        bend,
    )


def summed_parts(model: FittedModel) -> list[LadderPolynomial]:
    """Batches of ladders, the mean over all of which the model predicts; every one counts alike.

    Members of an ensemble are taken one by one, without the units that only fill them up to one shape.
    """
    if not model.answer.by_member:
        return [trim(member).map(lambda t: t.unsqueeze(0)) for member in model.ladders]
    return [model.ladders[torch.linspace(0, len(model.ladders) - 1, min(len(model.ladders), DRAWS)).long()]]


def mean_slopes(parts: list[LadderPolynomial], points: Tensor) -> Tensor:
    """Mean over points (n, d) of the squared derivatives of the parts' mean, summed over outputs. Shape (d,)."""
    total = points.new_zeros(points.shape[1])
    for some in torch.split(points, chunk(parts, points.shape[1])):
        found = torch.stack([jacobian(part, some).mean(0) for part in parts]).mean(0)
        total += found.square().sum((0, 1))
    return total / len(points)


def mean_bends(parts: list[LadderPolynomial], points: Tensor, inputs: Tensor) -> Tensor:
    """The same of the second derivatives with respect to every two of the chosen inputs (c,). Shape (c, c)."""
    total = points.new_zeros(len(inputs), len(inputs))
    for some in torch.split(points, chunk(parts, len(inputs) ** 2)):
        found = torch.stack([hessian(part, some, inputs).mean(0) for part in parts]).mean(0)
        total += found.square().sum((0, 1))
    return total / len(points)


def chunk(parts: list[LadderPolynomial], derivatives: int) -> int:
    """Points whose derivatives are held at once."""
    ladders = max(len(parts), *(len(part) for part in parts))
    return max(1, CHUNK // (ladders * parts[0].out_features * derivatives))


def central_points(model: FittedModel) -> tuple[Tensor, Tensor]:
    """Points where no rows are known, and standard deviations to count their inputs with. Shapes (POINTS, d), (d,).

    Each column by itself, numbers from the middle half of a normal distribution: a polynomial says little of use in
    corners where there are no rows, and independent columns have many corners. The numbers and their ramps count as if
    they had a standard deviation of 1, as rows do; categories and missing numbers come with their shares in training.
    A column that is read through functions of its number comes evenly from its training range.
    """
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.67, 0.67, size=(POINTS, model.ladders.in_features))
    shares = training_mean(model).inputs
    spread = np.ones(len(shares))
    for column in model.columns:
        apart = [] if column.flag is None else [column.flag]
        points[:, apart] = rng.random((POINTS, len(apart))) < shares[apart]
        if column.kind == "category":
            apart = list(column.inputs)
            points[:, apart] = np.eye(len(apart))[rng.choice(len(apart), POINTS, p=shares[apart])]
        spread[apart] = np.sqrt(shares[apart] * (1 - shares[apart]))
        if column.role == "numeric" and column.main is None:
            for k, inputs in inputs_along(model, column, rng.uniform(column.low, column.high, POINTS)).items():
                points[:, k] = inputs
    ramps = ramps_of(model)
    if ramps is not None:
        points[:, -len(ramps.column) :] = ramps(points)
    return torch.tensor(points), torch.tensor(spread)


def importances(model: FittedModel | HasModel) -> NDArray[np.float64]:
    """The strength of each column of a model's table as a share of all together. Shape (columns,)."""
    model = fitted_model(model)
    found = strengths(model)
    shares = np.zeros(len(model.columns))
    shares[list(found.positions)] = [value for _, value in found.columns]
    return shares / (shares.sum() or 1.0)
