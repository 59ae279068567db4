"""A fitted estimator as this room reads it: boxes in the units of its columns as boxes of its polynomial, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from polyladder.fitted.steps import Fill
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.region import Region, box
from polyladder.robustness.surface import Pieces, Smooth, Surface
from polyladder.tables.features import Features
from polyladder.tables.table import Table

Array = np.ndarray[Any, np.dtype[np.float64]]

ROOM = 1e-12
"""By how much a scaled end is widened: scaling is monotone but for its rounding."""


@runtime_checkable
class FittedTable(Protocol):
    """An estimator of a dense table with one polynomial behind it."""

    polynomial_: LadderPolynomial
    features_: Features
    target_: Any

    def read_table(self, X: Any) -> Table:
        """Check rows and take them apart."""

    def table_outputs(self, table: Table) -> Tensor:
        """Outputs at rows that were read. Shape (n, m)."""


@dataclass(frozen=True, eq=False)
class TableModel:
    """What is read of an estimator.

    Attributes:
        estimator: the estimator.
        features: what stands in front of its polynomial.
        polynomial: float64.
        limits: the range that its predictions are held to, or None. Shapes (m,).
        labels: its classes, or None.
    """

    estimator: Any
    features: Features
    polynomial: LadderPolynomial
    limits: tuple[Tensor, Tensor] | None
    labels: np.ndarray[Any, Any] | None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the table's columns."""
        return tuple(self.features.names_in_)

    @property
    def numeric(self) -> dict[str, int]:
        """The columns of numbers that vary, and their places among all numeric columns."""
        positions = [i for i in range(len(self.names)) if i not in self.features.categorical_]
        read = {positions[k] for k in self.features.varying_} | {i for i, _ in self.features.further_steps()}
        return {self.names[i]: k for k, i in enumerate(positions) if i in read}

    @property
    def groups(self) -> dict[str, list[int]]:
        """The inputs of each column of categories."""
        if self.features.encoder_ is None:
            return {}
        at = len(self.features.kept_) + len(self.features.flagged_)
        found = {}
        for i, known in zip(self.features.encoded_, self.features.encoder_.categories_, strict=True):
            found[self.names[i]] = list(range(at, at + len(known)))
            at += len(known)
        return found

    def categories(self, name: str) -> list[str | None]:
        """What a column of categories may hold."""
        assert self.features.encoder_ is not None
        place = [self.names[i] for i in self.features.encoded_].index(name)
        return list(self.features.encoder_.categories_[place])

    @property
    def any_categories(self) -> dict[str, str | None]:
        """One known category for each column of them."""
        return {name: self.categories(name)[0] for name in self.groups}

    @cached_property
    def surface(self) -> Surface:
        """The polynomial as a function of its inputs without ramps, each of which is a column's own."""
        self.refuse_further()
        ramps = self.features.ramps_
        return Smooth(self.polynomial) if ramps is None else Pieces.of(self.polynomial, ramps)

    def refuse_further(self) -> None:
        """Refuse to search a model whose inputs need not rise with their columns."""
        for i, _ in self.features.further_steps():
            raise ValueError(
                f"A search must have inputs that rise with their columns; those of {self.names[i]!r} do not. "
                "Use certify, or fit with the column as a plain number."
            )

    def landmarks(self) -> Table:
        """The training rows that the estimator keeps; none in files of earlier versions."""
        kept = vars(self.estimator).get("landmarks_")
        empty = self.table_of(np.empty((0, len(self.features.low_))), [])
        return empty if kept is None else kept.table(empty)

    def scaled(self, place: int, values: Array) -> Array:
        """Numbers of one column that varies, as the polynomial reads them. Shape (n,)."""
        self.refuse_further()
        numbers = np.repeat(self.features.low_[None], len(values), 0)
        numbers[:, place] = values
        plain = self.features.plain_table(self.table_of(numbers, [self.any_categories] * len(values)))
        return np.ascontiguousarray(plain[:, self.features.varying_.tolist().index(place)])

    def reach(self, radius: float | Mapping[str, float]) -> Array:
        """How far each numeric column may move, in its own unit. Shape (numeric columns,)."""
        steps = np.zeros(len(self.features.low_))
        if not isinstance(radius, Mapping):
            least, greatest = self.features.training_range()
            span, varying = greatest - least, list(self.numeric.values())
            steps[varying] = check_step("radius", radius) * span[varying]
            return steps
        for name, step in radius.items():
            steps[self.place(name, "radius")] = check_step(f"The radius of {name!r}", step)
        return steps

    def place(self, name: str, what: str) -> int:
        """The place of a column of numbers that varies."""
        if name not in self.numeric:
            known = ", ".join(map(repr, list(self.numeric)[:8]))
            raise ValueError(f"{what} must name columns of numbers that vary, such as {known}; got {name!r}.")
        return self.numeric[name]

    def region(self, lower: Table, upper: Table) -> Region:
        """The boxes between two tables, as the polynomial sees them."""
        ends = [torch.from_numpy(self.features.transform_table(t)) for t in (lower, upper)]
        low, high = torch.minimum(*ends), torch.maximum(*ends)
        self.span_further(low, high, lower, upper)
        moving = high > low
        room = ROOM * (1 + torch.maximum(low.abs(), high.abs()))
        return box(torch.where(moving, low - room, low), torch.where(moving, high + room, high))

    def span_further(self, low: Tensor, high: Tensor, lower: Table, upper: Table) -> None:
        """Widen the ends (n, d) of inputs that need not rise with their columns to all that they take in between."""
        if not self.features.further_steps():
            return
        model = self.estimator.model_
        for k, feature in enumerate(model.steps):
            column = model.columns[feature.column]
            if column.kind == "category" or column.main is not None or k == column.flag:
                continue
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
        count = len(self.features.varying_)
        if count:
            shaped = self.features.scaler_.inverse_transform(z[:, :count])
            if self.features.shaper_ is not None:
                shaped = self.features.shaper_.inverse_transform(shaped)
            found = numbers.copy()
            found[:, self.features.varying_] = np.where(np.isfinite(shaped), shaped, numbers[:, self.features.varying_])
            numbers = np.where(moving, found, numbers)
        return np.asarray(np.clip(numbers, lower.numbers, upper.numbers))

    def chosen(self, z: Tensor, table: Table) -> dict[int, np.ndarray[Any, Any]]:
        """The categories that inputs stand for, where a group holds one. Each has shape (n,)."""
        found = dict(table.categories)
        for name, group in self.groups.items():
            held = z[:, group]
            names = np.array(self.categories(name), dtype=object)[held.argmax(1).numpy()]
            at = self.names.index(name)
            found[at] = np.where(held.sum(1).numpy() > 0, names, table.categories[at])
        return found

    def table_of(self, numbers: Array, categories: Sequence[Mapping[str, str | None]]) -> Table:
        """Rows of numbers and categories, with what never varies at its place."""
        positions = tuple(i for i in range(len(self.names)) if i not in self.features.categorical_)
        columns = {
            i: np.array([row.get(self.names[i]) for row in categories], dtype=object)
            for i in self.features.categorical_
        }
        return Table(numbers, columns, positions, self.names)

    def outputs(self, table: Table) -> Tensor:
        """What the estimator predicts for rows of the table, of classes before the link. Shape (n, m)."""
        return self.held(self.estimator.table_outputs(table))

    def held(self, values: Tensor) -> Tensor:
        """Values within the range of predictions."""
        return values if self.limits is None else torch.clamp(values, *self.limits)

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
        numbers = dict(zip(table.positions, table.numbers.T, strict=True))
        return [
            {
                name: table.categories[i][row] if i in table.categories else number_or_none(numbers[i][row])
                for i, name in enumerate(self.names)
            }
            for row in range(len(table.numbers))
        ]


def read_estimator(estimator: Any) -> TableModel:
    """Read a fitted estimator; of a grid search its best one."""
    if isinstance(estimator, BaseEstimator):
        estimator = vars(estimator).get("best_estimator_", estimator)
    if not isinstance(estimator, FittedTable) or "posterior_" in vars(estimator):
        raise TypeError(
            f"p must be a LadderPolynomial or a fitted estimator with one polynomial; got {type(estimator).__name__}. "
            "Use LPNNRegressor or LPNNClassifier."
        )
    if not isinstance(estimator.features_, Features):
        raise ValueError("The model must have been fitted to a dense table; got one of sparse rows.")
    target, parameters = estimator.target_, vars(estimator)
    numbers = target.loss == "squared"
    return TableModel(
        estimator,
        estimator.features_,
        estimator.polynomial_.to("cpu", torch.float64).map(Tensor.detach),
        target.guard_range if numbers and parameters.get("guard") else None,
        None if numbers else target.labels,
    )


def number_or_none(value: float) -> float | None:
    """A number, or None where it is missing."""
    return None if np.isnan(value) else float(value)


def check_step(name: str, step: Any) -> float:
    """A number that is finite and not negative."""
    if isinstance(step, bool) or not isinstance(step, int | float) or not 0 <= step < float("inf"):
        raise ValueError(f"{name} must be a finite number that is not negative; got {step!r}.")
    return float(step)
