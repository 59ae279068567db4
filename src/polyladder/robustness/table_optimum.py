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
from polyladder.robustness.optimum import Optimum, Search
from polyladder.robustness.table_model import TableModel
from polyladder.robustness.table_search import TableSearch
from polyladder.tables.table import Table

STARTS = 64
"""Rows that are looked at before the search, at least: training rows first, then random ones."""

CLIMBS = 24
"""The best of these rows, from which exact ascent starts: at most this many."""

TOGETHER = 2**12
"""Units of the widest layer, summed over the rows that climb together. With a wide ladder few rows climb at a time, the
best ones first, so that these are finished when the time runs out."""


def best_row(
    model: TableModel,
    lower: Mapping[str, float],
    upper: Mapping[str, float],
    fixed: Mapping[str, Any],
    sought: Search,
) -> Optimum:
    """The row between ends with the best prediction, every combination of free categories included.

    The search climbs by exact steps along lines, on which the model is a polynomial, or one on each piece between the
    knots of its ramps. Then boxes are halved until no better row can exist, or the time is up.
    """
    say_what_is_not_known(model)
    search = TableSearch.between(model, lower, upper, fixed)
    goal = PredictionGoal(model, sought)
    starts = search.starts(STARTS)
    values = goal.values(starts)
    spread = float(np.ptp(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0
    best = goal.better(starts, climbed(search, goal, starts, values, sought.climbing_ends))
    proof = proven(search, goal, best, sought.stop(spread, goal.ceiling))
    best = goal.better(best, search.rows(proof.x, best))
    value = float(goal.values(best)[0])
    # A prediction is rounded, and the bound is that of the exact polynomial.
    bound = max(value, float(proof.bound[0]))
    return Optimum(
        model.inputs(best)[0],
        sought.sign * value,
        sought.sign * bound,
        proof.boxes,
        sought.seconds,
        model.records(best)[0],
        model.meaning(sought.output),
        value >= goal.ceiling,
    )


@dataclass(frozen=True, eq=False)
class PredictionGoal:
    """What is to be large: an output of a model, or its negative.

    Attributes:
        model: whose.
        sought: which output, and which way.
    """

    model: TableModel
    sought: Search

    @property
    def weights(self) -> Tensor:
        """Of the outputs. Shape (1, m)."""
        return self.sought.weights(self.model.polynomial.out_features)

    @property
    def ceiling(self) -> float:
        """What no prediction exceeds, whatever the polynomial says."""
        limits, sign = self.model.model.guard, self.sought.sign
        return float("inf") if limits is None else float(sign * limits[sign > 0][self.sought.output])

    def values(self, table: Table) -> np.ndarray[Any, np.dtype[np.float64]]:
        """What is to be large, for rows as the model predicts them. Shape (n,)."""
        values = self.sought.sign * self.model.outputs(table)[:, self.sought.output].numpy()
        return np.asarray(np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf))

    def better(self, one: Table, other: Table) -> Table:
        """The best row of two tables."""
        first, second = (table.take(np.array([self.values(table).argmax()])) for table in (one, other))
        return second if self.values(second)[0] > self.values(first)[0] else first


def climbed(
    search: TableSearch,
    goal: PredictionGoal,
    starts: Table,
    values: np.ndarray[Any, np.dtype[np.float64]],
    until: float,
) -> Table:
    """The best row that climbing from the best of some rows comes to."""
    order = np.argsort(-values, kind="stable")[:CLIMBS]
    best = starts.take(order[:1])
    together = max(4, TOGETHER // max((1, *goal.model.polynomial.hidden)))
    for i in range(0, len(order), together):
        if time.monotonic() > until or goal.values(best)[0] >= goal.ceiling:
            break
        x = goal.model.inputs(starts.take(order[i : i + together]))
        feasible = Feasible(search.around(x), search.space.rules)
        climb = Climb(goal.model.surface, feasible, goal.weights.expand(len(x), -1), x, until)
        climb.run(50)
        best = goal.better(best, search.rows(climb.x, best))
    return best


def proven(search: TableSearch, goal: PredictionGoal, best: Table, stop: Stop) -> Maximum:
    """A bound on all predictions between the bounds, and the best row that was met on the way."""
    x = goal.model.inputs(best)
    if goal.values(best)[0] >= goal.ceiling:
        ceiling = torch.tensor([goal.ceiling], dtype=torch.float64)
        return Maximum(x, ceiling, ceiling, 0)
    return branch(goal.model.polynomial, search.region, goal.weights, x, stop, search.space)


def say_what_is_not_known(model: TableModel) -> None:
    """Warn where a file of an earlier version lacks what the search would need."""
    lacks = []
    if not len(model.landmarks().numbers):
        lacks.append("keeps no training rows, so the search starts from random ones")
    if model.integral is None:
        lacks.append("does not tell which columns hold whole numbers, so these may come out as fractions")
    if lacks:
        warnings.warn(f"The model {'; it '.join(lacks)}. Fit it again to mend that.", UserWarning, stacklevel=7)
