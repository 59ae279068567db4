"""The best row of a table's columns, with a proof, in their own units."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.robustness.ascent import Climb
from polyladder.robustness.branch import Maximum, Stop, branch
from polyladder.robustness.feasible import Feasible
from polyladder.robustness.optimize import SPREAD, check_search
from polyladder.robustness.table_model import TableModel, read_estimator
from polyladder.robustness.table_search import TableSearch
from polyladder.tables.table import Table
from polyladder.training.threads import small_on_one_thread

STARTS = 64
"""Rows that are looked at before the search, at least: training rows first, then random ones."""

CLIMBS = 24
"""Rows from which it climbs."""

TOGETHER = 2**12
"""Units of a layer, of all rows that climb at once. Of a wide ladder few do, the best first: so these are done when the
time runs out."""

SHARE = 0.4
"""Of the time that climbing may take; the rest is for the proof."""


@dataclass(frozen=True, eq=False)
class TableOptimum:
    """The best row and the proof.

    Attributes:
        row: the best row found, by column; None stands for a missing cell.
        value: what the model predicts there.
        bound: no row between the bounds has a better prediction than this.
        boxes: how many boxes were bounded.
        seconds: taken.
        meaning: what the value is: "prediction", or of classes "log-odds of ..." or "score of ...".
        held: whether the value is the end of the range that predictions are held to: the polynomial goes beyond it.
    """

    row: dict[str, Any]
    value: float
    bound: float
    boxes: int
    seconds: float
    meaning: str = "prediction"
    held: bool = False

    @property
    def gap(self) -> float:
        """By how much a better prediction may exist."""
        return abs(self.bound - self.value)


@small_on_one_thread
def optimize_table(
    estimator: Any,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    fixed: Mapping[str, Any] | None = None,
    *,
    maximize: bool = False,
    output: int = 0,
    tolerance: float = 0.01,
    seconds: float = 60.0,
) -> TableOptimum:
    """The row with the lowest or highest prediction between bounds, every combination of free categories included.

    The search starts from training rows that the model keeps, those with the best predictions among them, and climbs by
    exact steps along lines, on which the model is a polynomial, or one on each piece between the knots of its ramps. So
    no row of the training table is better than what is found. Then boxes are halved until no better row can exist, or
    the time is up.

    Args:
        estimator: fitted, with one polynomial behind it. Of classes, the score or log-odds is optimized.
        bounds: for columns of numbers, their lower and upper ends. Others span their training range. Where the model
            clips its inputs, bounds far beyond that range change nothing.
        fixed: numbers and categories that stay.
        maximize: whether the highest prediction is sought.
        output: of a model with several.
        tolerance: the search ends when no prediction can be better by more than this part of the best one, or by this
            part of a hundredth of the spread of predictions.
        seconds: after which it ends anyway, with the bound that is proven by then.

    Returns:
        The best row, its prediction, and a bound. Columns that held whole numbers in training do so here. A number may
        be missing where training has seen it missing, unless the column has bounds or is fixed.
    """
    began = time.monotonic()
    model = read_estimator(estimator)
    m = model.polynomial.out_features
    if isinstance(output, bool) or not isinstance(output, int) or not 0 <= output < m:
        raise ValueError(f"output must be from 0 to {m - 1}; got {output!r}.")
    check_search(tolerance, seconds)
    say_what_is_not_known(model)
    search = TableSearch.between(model, bounds or {}, fixed or {})
    sign = 1 if maximize else -1
    goal = Goal(model, output, sign)
    starts = search.starts(STARTS)
    values = goal.values(starts)
    spread = float(np.ptp(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0
    best = goal.better(starts, climbed(search, goal, starts, values, began + SHARE * seconds))
    stop = Stop(
        max(0.0, seconds - (time.monotonic() - began)),
        tolerance,
        torch.tensor([tolerance * SPREAD * spread], dtype=torch.float64),
        ceiling=goal.ceiling,
    )
    proof = proven(search, goal, best, stop)
    best = goal.better(best, search.rows(proof.x, best))
    value = float(goal.values(best)[0])
    # A prediction is rounded, and the bound is that of the exact polynomial.
    bound = max(value, float(proof.bound[0]))
    return TableOptimum(
        model.records(best)[0],
        sign * value,
        sign * bound,
        proof.boxes,
        time.monotonic() - began,
        model.meaning(output),
        value >= goal.ceiling,
    )


@dataclass(frozen=True, eq=False)
class Goal:
    """What is to be large: an output of a model, or its negative.

    Attributes:
        model: whose.
        output: which.
        sign: 1 or -1.
    """

    model: TableModel
    output: int
    sign: int

    @property
    def weights(self) -> Tensor:
        """Of the outputs. Shape (1, m)."""
        found = torch.zeros(1, self.model.polynomial.out_features, dtype=torch.float64)
        found[0, self.output] = self.sign
        return found

    @property
    def ceiling(self) -> float:
        """What no prediction exceeds, whatever the polynomial says."""
        limits = self.model.limits
        return float("inf") if limits is None else float(self.sign * limits[self.sign > 0][self.output])

    def values(self, table: Table) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Of rows, as the model predicts them. Shape (n,)."""
        values = self.sign * self.model.outputs(table)[:, self.output].numpy()
        return np.asarray(np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf))

    def better(self, one: Table, other: Table) -> Table:
        """The best row of two tables."""
        first, second = (table.take(np.array([self.values(table).argmax()])) for table in (one, other))
        return second if self.values(second)[0] > self.values(first)[0] else first


def climbed(
    search: TableSearch, goal: Goal, starts: Table, values: np.ndarray[Any, np.dtype[np.float64]], until: float
) -> Table:
    """The best row that climbing from the best of some rows comes to."""
    order = np.argsort(-values, kind="stable")[:CLIMBS]
    best = starts.take(order[:1])
    together = max(4, TOGETHER // max((1, *goal.model.polynomial.hidden)))
    for i in range(0, len(order), together):
        if time.monotonic() > until or goal.values(best)[0] >= goal.ceiling:
            break
        x = search.inputs(starts.take(order[i : i + together]))
        feasible = Feasible(search.around(x), search.space.rules)
        climb = Climb(goal.model.surface, feasible, goal.weights.expand(len(x), -1), x, until)
        climb.run(50)
        best = goal.better(best, search.rows(climb.x, best))
    return best


def proven(search: TableSearch, goal: Goal, best: Table, stop: Stop) -> Maximum:
    """A bound on all predictions between the bounds, and the best row that was met on the way."""
    x = search.inputs(best)
    if goal.values(best)[0] >= goal.ceiling:
        ceiling = torch.tensor([goal.ceiling], dtype=torch.float64)
        return Maximum(x, ceiling, ceiling, 0, 0.0)
    space = None if search.space.is_free else search.space
    return branch(goal.model.polynomial, search.region, goal.weights, x, stop, space)


def say_what_is_not_known(model: TableModel) -> None:
    """Warn where a file of an earlier version lacks what the search would need."""
    lacks = []
    if not len(model.landmarks().numbers):
        lacks.append("keeps no training rows, so the search starts from random ones")
    if model.features.integral_ is None:
        lacks.append("does not tell which columns hold whole numbers, so these may come out as fractions")
    if lacks:
        warnings.warn(f"The model {'; it '.join(lacks)}. Fit it again to mend that.", UserWarning, stacklevel=3)
