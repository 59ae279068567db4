"""A fitted model by its columns: boxes in their units as boxes of its polynomial, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.fitted.column import Column
from polyladder.fitted.model import AnyModel, FittedModel, fitted_model
from polyladder.fitted.plan import Plan, plan_of
from polyladder.fitted.steps import Fill
from polyladder.fitted.steps.step import undone
from polyladder.fitted.values import main_steps, ramps_of, scaled
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.certificate import check_number
from polyladder.robustness.region import Region, box
from polyladder.robustness.space import Gap
from polyladder.robustness.surface import Surface
from polyladder.tables.table import Table

Array = np.ndarray[Any, np.dtype[np.float64]]

STEP = "a finite number that is not negative"
"""What a radius of a column must be."""

ROOM = 1e-12
"""By how much a scaled end is widened: scaling is monotone but for its rounding."""


@dataclass(frozen=True, eq=False)
class TableModel:
    """A model whose predictions are one polynomial of its inputs, by the columns of its table.

    Attributes:
        model: the fitted model.
        columns: its columns of numbers.
    """

    model: FittedModel
    columns: tuple[Column, ...]

    @property
    def polynomial(self) -> LadderPolynomial:
        """The mean of its ladders."""
        return self.model.polynomial

    @property
    def labels(self) -> np.ndarray[Any, Any] | None:
        """Its classes, or None."""
        return None if self.model.labels is None else np.array(self.model.labels)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the table's columns."""
        return tuple(column.name for column in self.model.columns)

    @cached_property
    def numeric(self) -> dict[str, int]:
        """The columns of numbers that vary, and their places among all numeric columns."""
        return {column.name: k for k, column in enumerate(self.columns) if column.role == "numeric"}

    @cached_property
    def further(self) -> tuple[Column, ...]:
        """Columns of numbers that are read through functions which need not rise, such as phases."""
        return tuple(column for column in self.columns if column.role == "numeric" and column.main is None)

    @cached_property
    def texts(self) -> dict[str, Column]:
        """The columns of categories that are read."""
        return {c.name: c for c in self.model.columns if c.kind == "category" and c.inputs}

    @property
    def groups(self) -> dict[str, list[int]]:
        """The inputs of each column of categories."""
        return {name: list(column.inputs) for name, column in self.texts.items()}

    @cached_property
    def surface(self) -> Surface:
        """The polynomial as a function of its inputs without ramps, each of which is a column's own."""
        self.refuse_further()
        return Surface.of(self.polynomial, ramps_of(self.model))

    @cached_property
    def plain(self) -> Plan:
        """How the inputs without ramps, which stand behind them, are worked out."""
        own = {k for column in self.columns for k in (column.main, column.flag) if k is not None}
        own |= {k for column in self.texts.values() for k in column.inputs}
        return plan_of([self.model.steps[k] for k in sorted(own)])

    @cached_property
    def order(self) -> list[int]:
        """The places of the numeric columns that vary, in the order of the inputs that they are."""
        mains = {column.main: place for place, column in enumerate(self.columns) if column.main is not None}
        return [mains[k] for k in sorted(mains)]

    @property
    def integral(self) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
        """Which numeric columns held whole numbers in training; None in files of earlier versions."""
        known = [column.whole for column in self.columns]
        return None if any(whole is None for whole in known) else np.array(known, dtype=np.bool_)

    @property
    def training_range(self) -> tuple[Array, Array]:
        """The least and greatest numbers of training. Shapes (numeric columns,)."""
        return np.array([column.low for column in self.columns]), np.array([column.high for column in self.columns])

    @cached_property
    def gaps(self) -> dict[int, Gap]:
        """For each numeric column that training has seen missing, what its inputs are then."""
        found = {}
        for place, column in enumerate(self.columns):
            if column.flag is not None:
                assert column.fill is not None
                varies = column.main is not None
                filled = float(self.scaled(place, np.array([column.fill]))[0]) if varies else column.fill
                found[place] = Gap(column.flag, self.order.index(place) if varies else None, filled)
        return found

    def inputs(self, table: Table) -> Tensor:
        """The inputs of rows, without ramps. Shape (n, d)."""
        return torch.from_numpy(np.ascontiguousarray(self.plain(table)))

    def refuse_further(self) -> None:
        """Refuse to search a model whose inputs need not rise with their columns."""
        for column in self.further:
            raise ValueError(
                f"A search must have inputs that rise with their columns; those of {column.name!r} do not. "
                "Use certify, or fit with the column as a plain number."
            )

    def landmarks(self) -> Table:
        """The training rows that the model keeps; none in files of earlier versions."""
        empty = self.table_of(np.empty((0, len(self.columns))), [])
        return empty if self.model.landmarks is None else self.model.landmarks.table(empty)

    def scaled(self, place: int, values: Array) -> Array:
        """Numbers of one column that varies, as the polynomial reads them. Shape (n,)."""
        self.refuse_further()
        return scaled(self.model, self.columns[place], values)

    def reach(self, radius: float | Mapping[str, float]) -> Array:
        """How far each numeric column may move, in its own unit. Shape (numeric columns,)."""
        steps = np.zeros(len(self.columns))
        if not isinstance(radius, Mapping):
            least, greatest = self.training_range
            span, varying = greatest - least, list(self.numeric.values())
            steps[varying] = check_number("radius", radius, STEP) * span[varying]
            return steps
        for name, step in radius.items():
            steps[self.place(name, "radius")] = check_number(f"The radius of {name!r}", step, STEP)
        return steps

    def place(self, name: str, what: str) -> int:
        """The place of a column of numbers that varies."""
        if name not in self.numeric:
            known = ", ".join(map(repr, list(self.numeric)[:8]))
            raise ValueError(f"{what} must name columns of numbers that vary, such as {known}; got {name!r}.")
        return self.numeric[name]

    def region(self, lower: Table, upper: Table) -> Region:
        """The boxes between two tables, as the polynomial sees them."""
        ends = [torch.from_numpy(self.model.table_inputs(t)) for t in (lower, upper)]
        low, high = torch.minimum(*ends), torch.maximum(*ends)
        self.span_further(low, high, lower, upper)
        moving = high > low
        room = ROOM * (1 + torch.maximum(low.abs(), high.abs()))
        return box(torch.where(moving, low - room, low), torch.where(moving, high + room, high))

    def span_further(self, low: Tensor, high: Tensor, lower: Table, upper: Table) -> None:
        """Widen the ends (n, d) of inputs that need not rise with their columns to all that they take in between."""
        for k in (k for column in self.further for k in column.inputs if k != column.flag):
            feature = self.model.steps[k]
            place = lower.positions.index(feature.column)
            for row, ends in enumerate(zip(lower.numbers[:, place], upper.numbers[:, place], strict=True)):
                if np.isnan(ends).any():
                    continue  # What is missing does not move.
                least, most = map(float, ends)
                for step in feature.steps:
                    least, most = (least, most) if isinstance(step, Fill) else step.span(least, most)
                low[row, k], high[row, k] = min(float(low[row, k]), least), max(float(high[row, k]), most)

    def moved(self, table: Table, steps: Array, share: Array | None = None) -> tuple[Table, Table]:
        """The ends of the boxes around rows. ``share`` of the steps for each row, shape (n,)."""
        by = steps if share is None else share[:, None] * steps
        return replace(table, numbers=table.numbers - by), replace(table, numbers=table.numbers + by)

    def original(self, z: Array, lower: Table, upper: Table) -> Array:
        """The numbers that scaled inputs stand for, between two tables. Shape (n, numeric columns)."""
        numbers = (lower.numbers + upper.numbers) / 2
        moving = upper.numbers > lower.numbers
        for at, place in enumerate(self.order):
            found = undone(main_steps(self.model, self.columns[place]), z[:, at])
            usable = moving[:, place] & np.isfinite(found)
            numbers[:, place] = np.where(usable, found, numbers[:, place])
        return np.asarray(np.clip(numbers, lower.numbers, upper.numbers))

    def chosen(self, z: Tensor, table: Table) -> dict[int, np.ndarray[Any, Any]]:
        """The categories that inputs stand for, where a group holds one. Each has shape (n,)."""
        found = dict(table.categories)
        for name, group in self.groups.items():
            held = z[:, group]
            names = np.array(self.texts[name].categories, dtype=object)[held.argmax(1).numpy()]
            at = self.names.index(name)
            found[at] = np.where(held.sum(1).numpy() > 0, names, table.categories[at])
        return found

    def table_of(self, numbers: Array, categories: Sequence[Mapping[str, str | None]]) -> Table:
        """Rows of numbers and categories, with what never varies at its place."""
        kinds = [column.kind for column in self.model.columns]
        positions = tuple(i for i, kind in enumerate(kinds) if kind == "number")
        columns = {
            i: np.array([row.get(self.names[i]) for row in categories], dtype=object)
            for i, kind in enumerate(kinds)
            if kind == "category"
        }
        return Table(numbers, columns, positions, self.names)

    def outputs(self, table: Table) -> Tensor:
        """What is predicted for rows of the table, of classes before the link. Shape (n, m)."""
        return self.held(self.model.table_outputs(table)[0])

    def held(self, values: Tensor) -> Tensor:
        """Values clipped to the range that predictions are held to, if there is one."""
        return values if self.model.guard is None else torch.clamp(values, *self.model.guard)

    def meaning(self, output: int) -> str:
        """What an output is."""
        if self.labels is None:
            return "prediction"
        if self.polynomial.out_features == 1:
            return f"log-odds of {str(self.labels[1])!r}"
        return f"score of {str(self.labels[output])!r}"

    def classes(self, y: Any) -> Tensor:
        """Labels as class numbers. Shape (n,)."""
        if self.labels is None:
            raise ValueError("The model must predict classes; it predicts numbers. Give within, a tolerance.")
        values = np.asarray(y)
        unknown = sorted(set(values.tolist()) - set(self.labels.tolist()), key=str)
        if unknown:
            raise ValueError(f"y must hold classes of the model; got {unknown[0]!r}.")
        return torch.from_numpy(np.searchsorted(self.labels, values))

    def records(self, table: Table) -> list[dict[str, Any]]:
        """Rows as dictionaries, in the order of the table's columns."""
        numbers = zip(table.positions, table.numbers.T, strict=True)
        cells = {i: [None if np.isnan(value) else float(value) for value in column] for i, column in numbers}
        columns = [cells[i] if i in cells else table.categories[i] for i in range(len(self.names))]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True)]


def read_estimator(model: AnyModel) -> TableModel:
    """A fitted model by the columns of its table; refused where its predictions are not one polynomial."""
    found = fitted_model(model)
    if found.answer.by_member:
        raise TypeError(
            "model must be a LadderPolynomial or a fitted estimator with one polynomial; "
            f"got a {found.kind}. Use LPNNRegressor or LPNNClassifier."
        )
    return TableModel(found, tuple(column for column in found.columns if column.kind == "number"))
