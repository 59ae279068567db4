"""What is to be fitted: measurements, each with a key, in groups that share a program."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from polyladder_lab.datasets.catalog import find_entry
from polyladder_lab.experiments.engine.declare import ONE_ROUND, Declaration, Model, Options, Round, TableColumn
from polyladder_lab.experiments.engine.rows import Row
from polyladder_lab.experiments.runners.synthetic import DRAWN, ROWS

PER_MODEL = ("l2", "dropout", "learning_rate")
"""Options in which networks of one program may differ."""


@dataclass(frozen=True)
class Measurement:
    """One setting of one model on one split: compared on held-out training rows, or chosen and fitted to all of them.

    Attributes:
        table: name of the declaration.
        column: label.
        model: name.
        data: name of the data set.
        runner: what fits it.
        metric: what is measured.
        splits: as declared.
        split: number of the split, counted from 0.
        selection: as declared while settings are compared; None for the last fit.
        setting: what the grid chose.
        options: everything that the runner is told, the setting included.
        declared_seed: of the declaration.
    """

    table: str
    column: str
    model: str
    data: str
    runner: str
    metric: str
    splits: Options
    split: int
    selection: Options | None
    setting: Options
    options: Options
    declared_seed: int

    @cached_property
    def key(self) -> str:
        """A hash of everything that decides the result, except the version of the code."""
        # Only fields: the cached key itself must not be part of it.
        return digest(vars(self))[:16]

    @property
    def seed(self) -> int:
        """The model's seed: as declared, or derived from the key, so that it does not depend on what else is run."""
        return int(self.options.get("random_state", int(self.key[:7], 16)))

    @property
    def fits(self) -> int:
        """How many models the measurement fits."""
        return 1 if self.selection is None else int(self.selection.get("folds", 1))

    @property
    def shape(self) -> str:
        """What measurements must agree on to share a program."""
        own = {k: v for k, v in self.options.items() if self.runner != "network" or k not in PER_MODEL}
        return digest([self.runner, self.column, self.model, self.selection, own])

    @property
    def cost(self) -> float:
        """Seconds on one core, roughly: the time left is shown in proportion to it."""
        own = self.splits["kind"] in ("smooth", "masks")  # their size is known only once they are read
        rows = ROWS if own or self.data in DRAWN else find_entry(self.data).rows
        if self.runner == "estimator":
            return 2e-3 * rows * self.fits
        inputs = 2 if self.data in DRAWN else find_entry(self.data).features
        widths = self.options.get("hidden") or [self.options.get("width", 100)] * self.options.get("layers", 2)
        weights = sum(k * (q + inputs) for q, k in zip([inputs, *widths], widths, strict=False))
        passes = rows * self.options["epochs"]
        # A step of a small network takes as long as launching its operations, however few its rows.
        return float(passes * self.fits * (3e-6 + 2e-10 * weights) + passes / self.options["batch_size"] * 2e-3)


Group = tuple[Measurement, ...]
Item = TypeVar("Item")


def digest(value: Any) -> str:
    """A hash of the value's canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def measurement(
    d: Declaration,
    column: TableColumn,
    model: Model,
    setting: Options,
    split: int,
    selection: Options | None,
    rung: Round = ONE_ROUND[0],
) -> Measurement:
    """One measurement of a declaration; the rung matters while settings are compared."""
    options = {**d.options(model, column), **setting}
    if selection is not None:
        options |= model.inside(column.label).while_selecting | rung.options
        options = {name: value for name, value in options.items() if value != ""}
    return Measurement(
        d.name, column.label, model.name, column.data, model.runner, d.metric, d.splits, split, selection, setting,
        options, d.seed,
    )  # fmt: skip


def selection_groups(d: Declaration, column: TableColumn, done: Mapping[str, Row], rung: int = 0) -> Iterator[Group]:
    """The groups that a round of comparing settings still has to run, as far as its settings are known.

    The groups do not depend on what is already done: dropout's draws are shared within a program, and an interrupted
    run must end in the same table.
    """
    for model in d.models:
        for splits in parts(d.splits_of(model, column), d.splits_compared_at_once):
            left = [(split, left_settings(d, column, model, split, done, rung)) for split in splits]
            known = [(split, some) for split, some in left if some is not None and len(some) > column.rungs[rung].keep]
            for first in range(0, max((len(settings) for _, settings in known), default=0), d.settings_at_once):
                measurements = [
                    measurement(d, column, model, setting, split, d.selection, column.rungs[rung])
                    for split, settings in known
                    for setting in settings[first : first + d.settings_at_once]
                ]
                yield from missing(by_shape(measurements), done)


def final_groups(d: Declaration, column: TableColumn, done: Mapping[str, Row]) -> Iterator[Group]:
    """The groups of last fits that are still to run, with the settings that were chosen; a search has none."""
    for model in d.models if d.compare != "settings" else ():
        for splits in parts(d.splits_of(model, column), d.splits_at_once):
            chosen = [(split, choice(d, column, model, split, done)) for split in splits]
            measurements = [
                measurement(d, column, model, setting, split, None) for split, setting in chosen if setting is not None
            ]
            yield from missing(by_shape(measurements), done)


def parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """Consecutive parts of a sequence. More items at the end leave the parts before them as they are."""
    return (items[first : first + size] for first in range(0, len(items), size))


def by_shape(measurements: list[Measurement]) -> Iterator[Group]:
    """Measurements of equal shape together."""
    shapes: dict[str, list[Measurement]] = {}
    for each in measurements:
        shapes.setdefault(each.shape, []).append(each)
    yield from (tuple(group) for group in shapes.values())


def missing(groups: Iterator[Group], done: Mapping[str, Row]) -> Iterator[Group]:
    """The groups of which something is not done."""
    return (group for group in groups if any(each.key not in done for each in group))


def choice(d: Declaration, column: TableColumn, model: Model, split: int, done: Mapping[str, Row]) -> Options | None:
    """The setting with the lowest mean error on held-out rows; None while some were not compared yet."""
    left = left_settings(d, column, model, split, done, len(column.rungs))
    return None if left is None else left[0]


def left_settings(
    d: Declaration, column: TableColumn, model: Model, split: int, done: Mapping[str, Row], rung: int
) -> list[Options] | None:
    """The settings that earlier rounds have left, in the declared order; None while one of these rounds is not over."""
    settings = d.settings(model, column)
    for each in column.rungs[:rung]:
        if len(settings) <= each.keep:
            continue
        scores = []
        for setting in settings:
            row = done.get(measurement(d, column, model, setting, split, d.selection, each).key)
            if row is None or "folds" not in row:
                return None
            scores.append(mean_score(row["folds"]))
        best = sorted(range(len(scores)), key=scores.__getitem__)[: each.keep]
        settings = [settings[i] for i in sorted(best)]
    return settings


def mean_score(folds: list[float | None]) -> float:
    """Mean over folds; a model that ended without a finite error counts as infinitely bad."""
    values = [math.inf if value is None else value for value in folds]
    return sum(values) / len(values)
