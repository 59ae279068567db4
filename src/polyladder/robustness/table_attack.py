"""The worst rows near those of a table, in the units of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.robustness.feasible import Feasible, Rules
from polyladder.robustness.region import box
from polyladder.robustness.space import Space
from polyladder.robustness.table_boxes import TableBoxes
from polyladder.robustness.table_model import TableModel
from polyladder.robustness.worst import Attack, Goal, aim_at, proven, strongest
from polyladder.tables.table import Table

LEVELS = 512
"""Whole numbers of a column that are tried one by one, at most."""


@dataclass(frozen=True)
class Columns:
    """What columns must keep to, by their names.

    Attributes:
        frozen: those that never change.
        integer: those of whole numbers.
        changing: those of categories that may change.
    """

    frozen: Sequence[str]
    integer: Sequence[str]
    changing: Sequence[str]


def attack_rows(
    boxes: TableBoxes,
    y: Any,
    columns: Columns,
    goal: Goal | None,
    within: float | None,
    restarts: int,
    rounds: int,
    certificate: bool,
    max_seconds: float | None,
    seed: int,
) -> Attack:
    """The worst rows of boxes around rows; arguments as for `polyladder.attack`."""
    model = boxes.model
    for name in columns.frozen:
        boxes.steps[model.place(name, "frozen")] = 0.0
    boxes = TableBoxes.stepped(model, boxes.rows, boxes.steps)
    target = model.classes(y) if model.labels is not None else torch.tensor(np.array(y, dtype=np.float64))
    x = model.inputs(boxes.rows)
    # Ramps follow their columns, so a search moves the columns alone.
    low, high = (end[:, : x.shape[1]] for end in (boxes.region.lower, boxes.region.upper))
    feasible = Feasible(box(torch.minimum(low, x), torch.maximum(high, x)), table_rules(model, boxes, columns))
    aim = aim_at(model.polynomial, target, len(x), goal)
    found, evaluations = strongest(model.surface, feasible, aim, x, restarts, rounds, seed)
    bound = None
    if certificate:
        # Other rules are left out: a row may be given that does not keep to them, and is then part of the proof.
        bound = proven(model.polynomial, feasible, aim, found, max_seconds, Space(model.surface))
        if model.model.guard is not None:
            # A guarded prediction cannot be farther from y than the end of its range.
            bound = torch.minimum(
                bound, torch.stack([aim.value(end.expand(len(x), -1)) for end in model.model.guard]).amax(0)
            )
    rows = worst_rows(model, boxes, found, columns.integer)
    outputs = model.outputs(rows)
    value, clean = aim.value(outputs), aim.value(model.outputs(boxes.rows))
    success = aim.success(value, clean, within)
    return Attack(model.inputs(rows), outputs, value, success, bound, evaluations, model.records(rows))


def table_rules(model: TableModel, boxes: TableBoxes, columns: Columns) -> Rules:
    """Whole numbers and categories as rules for the polynomial's inputs."""
    levels = {}
    for name in columns.integer:
        place = model.place(name, "integer")
        low, high = np.ceil(boxes.lower.numbers[:, place].min()), np.floor(boxes.upper.numbers[:, place].max())
        if high - low > LEVELS:
            raise ValueError(
                f"Column {name!r} must have at most {LEVELS} whole numbers in reach; got {high - low:.0f}."
            )
        levels[model.order.index(place)] = torch.from_numpy(model.scaled(place, np.arange(low, high + 1)))
    unknown = [name for name in columns.changing if name not in model.groups]
    if unknown:
        raise ValueError(f"changing must name columns of categories; got {unknown[0]!r}.")
    return Rules(one_hot=[model.groups[name] for name in columns.changing], levels=levels)


def worst_rows(model: TableModel, boxes: TableBoxes, x: Tensor, integer: Sequence[str]) -> Table:
    """The rows that inputs without ramps stand for, in their own units."""
    numbers = model.original(x.numpy(), boxes.lower, boxes.upper)
    places = [model.place(name, "integer") for name in integer]
    whole = np.round(numbers[:, places])
    # A row that was given with a fraction stays where it is.
    numbers[:, places] = np.where(np.abs(whole - numbers[:, places]) < 1e-6, whole, numbers[:, places])
    return Table(numbers, model.chosen(x, boxes.rows), boxes.rows.positions, boxes.rows.names)
