"""What a search on held-out training rows found: the mean error of every setting, and the one that a table uses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from polyladder_lab.experiments.engine.declare import Declaration, Model, Options, TableColumn
from polyladder_lab.experiments.engine.plan import mean_score, measurement
from polyladder_lab.experiments.engine.rows import Row


@dataclass(frozen=True)
class Tried:
    """A setting that was compared with others.

    Attributes:
        setting: what the grid gave.
        errors: mean held-out error of each split that was measured, by the split's number.
    """

    setting: Options
    errors: Mapping[int, float]

    @property
    def mean(self) -> float:
        """Over splits; infinite while there is none."""
        return sum(self.errors.values()) / len(self.errors) if self.errors else math.inf


def tried(d: Declaration, column: TableColumn, model: Model, rows: Mapping[str, Row]) -> tuple[Tried, ...]:
    """Every setting of a model in a column, in the declared order."""
    found = []
    for setting in d.settings(model, column):
        keys = {s: measurement(d, column, model, setting, s, d.selection).key for s in d.splits_of(model, column)}
        own = {split: rows[key] for split, key in keys.items() if key in rows and "folds" in rows[key]}
        found.append(Tried(setting, {split: mean_score(row["folds"]) for split, row in own.items()}))
    return tuple(found)


def best(settings: tuple[Tried, ...]) -> Tried:
    """The setting with the lowest mean error; the first of equals."""
    return min(settings, key=lambda each: each.mean)
