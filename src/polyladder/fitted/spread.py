"""How far new observations lie from the predictions of a model: a scale for each row, the shape of errors, widths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from polyladder.fitted.plan import Feature, Plan, plan_of
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.units import MeanOfParts, mean_of
from polyladder.predictive.conformal import Calibrated
from polyladder.predictive.student import StudentPredictive
from polyladder.tables.table import Table

MOST_GROWTH = 3.0
"""Beyond the training ranges a scale grows by at most the exponential of this number."""


@dataclass(frozen=True, eq=False)
class GroupWidths:
    """Widths of intervals for each value of a column of texts.

    Attributes:
        column: position of the column in the table.
        values: texts that had rows enough, with the half widths of their intervals in scales.
    """

    column: int
    values: Mapping[str, Calibrated]


@dataclass(frozen=True, eq=False)
class Spread:
    """Errors are Student variables of the scale exp(clip(log_scale(z)) + growth of what lies beyond).

    Attributes:
        log_scale: of each output in units of the target, over the inputs of the model. A single ladder.
        low: least value of the first part. Shape (m,).
        high: its greatest value. Shape (m,).
        beyond: further inputs, which are zero inside the training ranges.
        growth: what each of these adds to the log scale. Shape (beyond, m).
        degrees: of freedom of the errors; infinity is the normal distribution. Shape (m,).
        widths: half widths of intervals in scales, as errors at rows left out had them.
        rows: how many rows these were.
        groups: widths for each value of a column, where these were asked for.
    """

    log_scale: LadderPolynomial
    low: Tensor
    high: Tensor
    beyond: tuple[Feature, ...]
    growth: Tensor
    degrees: Tensor
    widths: Calibrated
    rows: int
    groups: GroupWidths | None = None

    @cached_property
    def plan(self) -> Plan:
        """How the further inputs are worked out."""
        return plan_of(self.beyond)

    @cached_property
    def evaluate_log_scale(self) -> MeanOfParts:
        """The log scale at inputs (n, d), each direction of its squares read once. Shape (n, m)."""
        return mean_of(self.log_scale.map(lambda t: t.unsqueeze(0)))

    def scale(self, z: Tensor, table: Table) -> Tensor:
        """The scale of errors at rows, given also as inputs z (n, d) of the model. Shape (n, m)."""
        inside = self.evaluate_log_scale(z).clamp(self.low, self.high)
        if not self.beyond:
            return inside.exp()
        outside = torch.from_numpy(np.ascontiguousarray(self.plan(table))) @ self.growth
        return (inside + outside.clamp_max(MOST_GROWTH)).exp()

    def predictive(self, center: Tensor, scale: Tensor, table: Table, flat: bool) -> StudentPredictive:
        """The distribution of a new observation at each row.

        Args:
            center: predictions. Shape (n, m).
            scale: of errors. Shape (n, m).
            table: the rows.
            flat: whether predictions have shape (n,).
        """
        return StudentPredictive(center, scale, self.degrees, flat, self.widths_of(table))

    def widths_of(self, table: Table) -> Calibrated:
        """Half widths in scales: for all rows alike (k, m), or for each row of its group (k, n, m)."""
        if self.groups is None:
            return self.widths
        known, general = self.groups.values, self.widths.widths
        labels = table.categories[self.groups.column]
        each = {label: known[label].widths if label in known else general for label in set(labels)}
        return Calibrated(self.widths.levels, torch.stack([each[label] for label in labels], 1))

    def widened(self, factor: Tensor) -> Spread:
        """The same with the scales of each output multiplied by a factor (m,)."""
        p, add = self.log_scale, factor.log()
        moved = LadderPolynomial(p.W, p.b, p.V, p.c, p.readout, p.offset + add)
        return replace(self, log_scale=moved, low=self.low + add, high=self.high + add)
