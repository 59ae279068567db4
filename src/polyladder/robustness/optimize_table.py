"""The best row of a table's columns, with a proof, in their own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from polyladder.robustness.optimize import largest
from polyladder.robustness.table_model import TableModel, read_estimator


@dataclass(frozen=True, eq=False)
class TableOptimum:
    """The best row and the proof.

    Attributes:
        row: the best row found, by column.
        value: what the model predicts there.
        bound: no row between the bounds has a better prediction than this.
        boxes: how many boxes were bounded.
        seconds: taken.
    """

    row: dict[str, Any]
    value: float
    bound: float
    boxes: int
    seconds: float

    @property
    def gap(self) -> float:
        """By how much a better prediction may exist."""
        return abs(self.bound - self.value)


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

    Args:
        estimator: fitted, with one polynomial behind it. Of classes, the score or log-odds is optimized.
        bounds: for columns of numbers, their lower and upper ends. Others span their training range. Where the model
            clips its inputs, bounds beyond that range change nothing.
        fixed: numbers and categories that stay.
        maximize: whether the highest prediction is sought.
        output: of a model with several.
        tolerance: the search ends when no prediction can be better by more than this part of the best one, or by this
            part of a hundredth of the spread of predictions.
        seconds: after which it ends anyway, with the bound that is proven by then.

    Returns:
        The best row, its prediction, and a bound.
    """
    model = read_estimator(estimator)
    m = model.polynomial.out_features
    if isinstance(output, bool) or not isinstance(output, int) or not 0 <= output < m:
        raise ValueError(f"output must be from 0 to {m - 1}; got {output!r}.")
    fixed = dict(fixed or {})
    low, high = ends(model, bounds or {}, fixed)
    choices = list(model.combinations(fixed))
    lower, upper = (model.table_of(np.repeat(end[None], len(choices), 0), choices) for end in (low, high))
    region = model.region(lower, upper)
    sign = 1 if maximize else -1
    found = largest(model.polynomial, region, output, tolerance, seconds, sign)
    at = int(found.value.argmax())
    part = [at]
    numbers = model.original(found.x[part].numpy(), lower.take(np.array(part)), upper.take(np.array(part)))
    row = model.table_of(numbers, [choices[at]])
    value = float(model.outputs(row)[0, output])
    bound = torch.zeros(1, m, dtype=torch.float64)
    bound[0, output] = sign * found.bound.max()
    proven = float(model.held(bound)[0, output])
    return TableOptimum(model.records(row)[0], value, proven, found.boxes, found.seconds)


def ends(
    model: TableModel, bounds: Mapping[str, tuple[float, float]], fixed: Mapping[str, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The lowest and highest numbers of each numeric column."""
    low, high = model.features.low_.copy(), model.features.high_.copy()
    for name, pair in bounds.items():
        place = model.place(name, "bounds")
        first, last = (float(end) for end in pair)
        if not (np.isfinite(first) and np.isfinite(last) and first <= last):
            raise ValueError(
                f"The bounds of {name!r} must be two finite numbers that rise; got {first:g} and {last:g}."
            )
        low[place], high[place] = first, last
    for name, value in fixed.items():
        if name in model.groups:
            continue
        place = model.place(name, "fixed")
        low[place] = high[place] = float(value)
    return low, high
