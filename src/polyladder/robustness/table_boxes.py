"""Boxes around the rows of an estimator's table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.certificate import Certificate, check_region, single
from polyladder.robustness.region import Norm, Region
from polyladder.robustness.table_model import Array, TableModel, read_estimator
from polyladder.tables.table import Table


@dataclass(frozen=True, eq=False)
class TableBoxes:
    """One box for each row, in the columns' own units and as the polynomial sees it.

    Attributes:
        model: whose table it is.
        rows: in the middle.
        steps: how far each numeric column may move. Shape (numeric columns,).
        lower: the lowest numbers.
        upper: the highest numbers.
        region: the boxes of the polynomial's inputs.
    """

    model: TableModel
    rows: Table
    steps: Array
    lower: Table
    upper: Table
    region: Region

    @classmethod
    def around(cls, model: TableModel, rows: Any, radius: Any, norm: Norm = "inf") -> TableBoxes:
        """The boxes of a radius: a part of each column's training range, or steps by name."""
        if norm != "inf":
            raise ValueError(f"norm must be 'inf' for an estimator, whose columns have their own units; got {norm!r}.")
        if not isinstance(radius, Mapping | int | float):
            raise TypeError(f"radius must be a number or a mapping from columns for an estimator; got {radius!r}.")
        return cls.stepped(model, model.model.read(rows), model.reach(radius))

    @classmethod
    def stepped(cls, model: TableModel, table: Table, steps: Array, share: Array | None = None) -> TableBoxes:
        """The boxes of given steps, or of a share of them for each row."""
        lower, upper = model.moved(table, steps, share)
        return cls(model, table, steps, lower, upper, model.region(lower, upper))

    def scaled(self, share: Tensor) -> TableBoxes:
        """The same rows with a part of the steps, one for each row. Shape (n,)."""
        return TableBoxes.stepped(self.model, self.rows, self.steps, share.numpy())

    def held(self, found: Certificate) -> Certificate:
        """What predictions can be, which the model may hold to a range."""
        held = Certificate(*(self.model.held(t) for t in vars(found).values()))
        if not self.model.further and self.model.surface.is_smooth:
            return held
        # A ramp or phase follows its column; the region lets it move by itself, to points that no row has.
        lowest, highest = self.reached()
        return replace(held, lowest=lowest, highest=highest)

    def reached(self) -> tuple[Tensor, Tensor]:
        """The smallest and largest predictions at some rows of the boxes. Shapes (n, m).

        They are the rows with one column moved, and the corners to which these point.
        """
        moving = np.flatnonzero(self.steps > 0)
        numbers = np.repeat(self.rows.numbers[None], 2 * len(moving) + 1, 0)
        for i, k in enumerate(moving):
            numbers[2 * i, :, k], numbers[2 * i + 1, :, k] = self.lower.numbers[:, k], self.upper.numbers[:, k]
        seen = self.outputs_at(numbers)
        rising = (seen[1:-1:2] >= seen[:-1:2]).numpy()
        corners = []
        for j in range(seen.shape[-1]):
            for up in (rising[..., j], ~rising[..., j]):
                corner = self.rows.numbers.copy()
                corner[:, moving] = np.where(up.T, self.upper.numbers[:, moving], self.lower.numbers[:, moving])
                corners.append(corner)
        seen = torch.cat([seen, self.outputs_at(np.stack(corners))])
        return seen.amin(0), seen.amax(0)

    def outputs_at(self, numbers: Array) -> Tensor:
        """Predictions at other numbers of the rows, (s, n, columns). Shape (s, n, m)."""
        return torch.stack([self.model.outputs(replace(self.rows, numbers=each)) for each in numbers])


def regions_of(
    model: LadderPolynomial | Any, rows: Any, radius: Any, norm: Norm
) -> tuple[LadderPolynomial, Region, TableBoxes | None]:
    """The regions around rows of a single ladder, or of an estimator, whose boxes come with them."""
    if not isinstance(model, LadderPolynomial):
        boxes = TableBoxes.around(read_estimator(model), rows, radius, norm)
        return boxes.model.polynomial, boxes.region, boxes
    polynomial = single(model)
    return polynomial, check_region(polynomial, rows, radius, norm), None
