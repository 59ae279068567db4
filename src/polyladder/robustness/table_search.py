"""Where the best row of a table is sought: ranges, whole numbers, categories and missing cells as inputs, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.robustness.feasible import Rules
from polyladder.robustness.region import Region, box
from polyladder.robustness.space import Space
from polyladder.robustness.table_model import ROOM, Array, TableModel
from polyladder.tables.table import Table

LEVELS = 4096
"""A column with up to this many whole numbers is searched and proven number by number. One with more is treated as
continuous, and rounded at the end."""


@dataclass(frozen=True, eq=False)
class TableSearch:
    """The rows between bounds.

    Attributes:
        model: whose rows.
        low: the least number of each numeric column. Shape (numeric columns,).
        high: the greatest. Shape (numeric columns,).
        whole: which numeric columns are held to whole numbers. Shape (numeric columns,).
        fixed: categories that stay, by column.
        space: how inputs without ramps are tied to each other.
        region: one box of those inputs.
    """

    model: TableModel
    low: Array
    high: Array
    whole: np.ndarray[Any, np.dtype[np.bool_]]
    fixed: Mapping[str, str | None]
    space: Space
    region: Region

    @classmethod
    def between(
        cls, model: TableModel, lower: Mapping[str, float], upper: Mapping[str, float], fixed: Mapping[str, Any]
    ) -> TableSearch:
        """The rows whose columns lie in their training ranges, or between given ends, some of them fixed."""
        low, high = ends(model, lower, upper, fixed)
        categories = {name: fixed[name] for name in model.groups if name in fixed}
        for name, value in categories.items():
            known = list(model.texts[name].categories)
            if value not in known:
                raise ValueError(f"fixed must give {name!r} one of {known[:8]}; got {value!r}.")
        integral = model.integral
        whole = np.zeros(len(low), dtype=bool) if integral is None else integral & (high > low)
        low, high = np.where(whole, np.ceil(low), low), np.where(whole, np.floor(high), high)
        for name, place in model.numeric.items():
            if low[place] > high[place]:
                first, last = lower.get(name, low[place]), upper.get(name, high[place])
                raise ValueError(f"The bounds of {name!r} must hold a whole number; got {first:g} and {last:g}.")
        given = {model.numeric[name] for name in (*lower, *upper, *fixed) if name in model.numeric}
        gaps = tuple(gap for place, gap in model.gaps.items() if place not in given)
        levels = {}
        for i, place in enumerate(model.order):
            if whole[place] and high[place] - low[place] < LEVELS:
                levels[i] = torch.from_numpy(model.scaled(place, np.arange(low[place], high[place] + 1)))
        free = [group for name, group in model.groups.items() if name not in categories]
        rules = Rules(one_hot=free, levels=levels)
        space = Space(model.surface, rules, gaps)
        return cls(model, low, high, whole, categories, space, plain_box(model, low, high, categories, space))

    def starts(self, count: int) -> Table:
        """Training rows that the model keeps, moved between the bounds, and random rows: ``count`` at least."""
        kept = self.model.landmarks()
        rng = np.random.default_rng(0)
        more = max(count - len(kept.numbers), count // 2)
        numbers = rng.uniform(self.low, self.high, (more, len(self.low)))
        known = {self.model.names.index(name): list(each.categories) for name, each in self.model.texts.items()}
        categories = {}
        for i, column in kept.categories.items():
            drawn = rng.choice(np.array(known.get(i, [*column[:1], None][:1]), dtype=object), more)
            categories[i] = np.concatenate([column, drawn])
        return self.held(replace(kept, numbers=np.concatenate([kept.numbers, numbers]), categories=categories))

    def held(self, table: Table) -> Table:
        """Rows moved between the bounds: whole numbers whole, what is fixed as it is."""
        numbers = table.numbers.copy()
        allowed = np.zeros(len(self.low), dtype=bool)
        allowed[[place for place, gap in self.model.gaps.items() if gap in self.space.gaps]] = True
        fills = [column.fill for column in self.model.columns]
        if all(fill is not None for fill in fills):
            numbers = np.where(np.isnan(numbers) & ~allowed, np.array(fills, dtype=np.float64), numbers)
        numbers = np.where(self.whole, np.round(numbers), numbers)
        numbers = np.clip(numbers, self.low, self.high)
        categories = dict(table.categories)
        for name, value in self.fixed.items():
            categories[self.model.names.index(name)] = np.full(len(numbers), value, dtype=object)
        return replace(table, numbers=numbers, categories=categories)

    def around(self, x: Tensor) -> Region:
        """The box for each of some points, (n, d), in which what is missing stays so."""
        lower, upper = (end.expand(len(x), -1).clone() for end in (self.region.lower, self.region.upper))
        for gap in self.space.gaps:
            lower[:, gap.flag] = upper[:, gap.flag] = x[:, gap.flag]
            if gap.column is not None:
                missing = x[:, gap.flag] > 0
                lower[missing, gap.column] = upper[missing, gap.column] = x[missing, gap.column]
        return box(lower, upper)

    def rows(self, x: Tensor, like: Table) -> Table:
        """The rows that inputs (n, d) stand for; ``like`` is any row, for columns that have one value."""
        base = like.take(np.zeros(len(x), dtype=np.intp))
        low, high = (replace(base, numbers=np.repeat(end[None], len(x), 0)) for end in (self.low, self.high))
        numbers = self.model.original(x.numpy(), low, high)
        for place, gap in self.model.gaps.items():
            if gap in self.space.gaps:
                numbers[x[:, gap.flag].numpy() > 0, place] = np.nan
        return self.held(replace(base, numbers=numbers, categories=self.model.chosen(x, base)))


def plain_box(model: TableModel, low: Array, high: Array, fixed: Mapping[str, str | None], space: Space) -> Region:
    """The box of inputs without ramps, as far as rounding can tell; levels and switches are exact."""
    row = {**{name: column.categories[0] for name, column in model.texts.items()}, **fixed}
    both = [model.inputs(model.table_of(end[None], [row])) for end in (low, high)]
    lower, upper = torch.minimum(*both), torch.maximum(*both)
    room = torch.where(upper > lower, ROOM * (1 + torch.maximum(lower.abs(), upper.abs())), 0.0)
    lower, upper = lower - room, upper + room
    for i, levels in space.levels.items():
        lower[0, i], upper[0, i] = levels[0], levels[-1]
    return box(lower, upper)


def ends(
    model: TableModel, lower: Mapping[str, float], upper: Mapping[str, float], fixed: Mapping[str, Any]
) -> tuple[Array, Array]:
    """The lowest and highest numbers of each numeric column: by default those that training saw."""
    low, high = (end.copy() for end in model.training_range)
    for what, given, end in (("lower", lower, low), ("upper", upper, high)):
        for name, value in given.items():
            end[model.place(name, what)] = checked(what, name, value)
    for name in {**lower, **upper}:
        first, last = low[model.numeric[name]], high[model.numeric[name]]
        if first > last:
            raise ValueError(f"The lower end of {name!r} must not exceed the upper; got {first:g} and {last:g}.")
    for name, value in fixed.items():
        if name not in model.groups:
            place = model.place(name, "fixed")
            low[place] = high[place] = checked("fixed", name, value)
    return low, high


def checked(what: str, name: str, value: Any) -> float:
    """A finite number for a column."""
    if not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ValueError(f"{what} must give {name!r} a finite number; got {value!r}.")
    return float(value)
