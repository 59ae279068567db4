"""The worst rows near those of a table, in the units of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.robustness.attack import Attack, Goal, attack, objectives
from polyladder.robustness.feasible import Rules
from polyladder.robustness.table_boxes import TableBoxes
from polyladder.robustness.table_model import TableModel, read_estimator
from polyladder.tables.table import Table

LEVELS = 512
"""Whole numbers of a column that are tried one by one."""


@dataclass(frozen=True, eq=False)
class TableAttack:
    """What was found near each row of a table.

    Attributes:
        rows: the worst rows, as dictionaries by column.
        prediction: the polynomial's outputs there, as the model predicts them. Shape (n, m).
        value: what was made large; see `Attack`. Shape (n,).
        success: see `Attack`. Shape (n,).
        bound: no allowed row has a larger value; None where no certificate was asked for. Shape (n,).
    """

    rows: list[dict[str, Any]]
    prediction: Tensor
    value: Tensor
    success: Tensor
    bound: Tensor | None


def attack_table(
    estimator: Any,
    X: Any,
    y: Any,
    radius: float | Mapping[str, float],
    *,
    goal: Goal | None = None,
    within: float | None = None,
    frozen: Sequence[str] = (),
    integer: Sequence[str] = (),
    changing: Sequence[str] = (),
    restarts: int = 4,
    certificate: bool = True,
    budget: float | None = None,
) -> TableAttack:
    """The rows within a radius of those of a table that are worst for a fitted estimator.

    Args:
        estimator: fitted, with one polynomial behind it.
        X: rows of its table.
        y: their labels, or their numbers.
        radius: a part of each column's training range; or a mapping from names of columns, in their own units.
        goal: "margin" for classes; "up", "down" or "away" for numbers. None: "margin" or "away".
        within: how far from y a number may go before the attack counts as a success.
        frozen: columns that never change.
        integer: columns of whole numbers.
        changing: columns of categories that may change; others stay.
        restarts: starts for each row.
        certificate: whether to prove a bound as well.
        budget: seconds for making that bound tight.

    Returns:
        The worst rows in the columns' own units, and what the model predicts there.
    """
    model = read_estimator(estimator)
    boxes = TableBoxes.around(model, X, radius)
    for name in frozen:
        boxes.steps[model.place(name, "frozen")] = 0.0
    boxes = TableBoxes.stepped(model, boxes.rows, boxes.steps)
    target = model.classes(y) if model.labels is not None else torch.tensor(np.array(y, dtype=np.float64))
    rules = table_rules(model, boxes, integer, changing)
    center = torch.from_numpy(model.features.transform_table(boxes.rows))
    low, high = boxes.region.lower, boxes.region.upper
    # Clipping may put a row at the end of its box: the box is then not centered at it, but holds it.
    middle, radii = (low + high) / 2, (high - low) / 2
    start = middle.clone()
    start[:, rules.discrete] = center[:, rules.discrete]
    radii[:, rules.discrete] = (start - low).maximum(high - start)[:, rules.discrete]
    found = attack(
        model.polynomial,
        start,
        target,
        radii,
        goal=goal,
        within=within,
        rules=rules,
        restarts=restarts,
        certificate=certificate,
        budget=budget,
    )
    return in_own_units(model, boxes, found, target, goal, within)


def table_rules(model: TableModel, boxes: TableBoxes, integer: Sequence[str], changing: Sequence[str]) -> Rules:
    """Whole numbers and categories as rules for the polynomial's inputs."""
    order = [int(place) for place in model.features.varying_]
    levels = {}
    for name in integer:
        place = model.place(name, "integer")
        low, high = np.ceil(boxes.lower.numbers[:, place].min()), np.floor(boxes.upper.numbers[:, place].max())
        if high - low > LEVELS:
            raise ValueError(
                f"Column {name!r} must have at most {LEVELS} whole numbers in reach; got {high - low:.0f}."
            )
        values = np.arange(low, high + 1)
        numbers = np.repeat(model.features.low_[None], len(values), 0)
        numbers[:, place] = values
        categories = {i: column[:1].repeat(len(values)) for i, column in boxes.rows.categories.items()}
        table = Table(numbers, categories, boxes.rows.positions, boxes.rows.names)
        at = order.index(place)
        levels[at] = torch.from_numpy(model.features.transform_table(table)[:, at])
    unknown = [name for name in changing if name not in model.groups]
    if unknown:
        raise ValueError(f"changing must name columns of categories; got {unknown[0]!r}.")
    return Rules(one_hot=[model.groups[name] for name in changing], levels=levels)


def in_own_units(
    model: TableModel, boxes: TableBoxes, found: Attack, target: Tensor, goal: Goal | None, within: float | None
) -> TableAttack:
    """The rows that the inputs stand for, and what the model makes of these very rows."""
    numbers = model.original(found.x.numpy(), boxes.lower, boxes.upper)
    rows = Table(numbers, model.chosen(found.x, boxes.rows), boxes.rows.positions, boxes.rows.names)
    n = len(numbers)
    weights, shift = objectives(model.polynomial, target, n, goal)
    limits = model.limits

    def value(outputs: Tensor) -> Tensor:
        return (torch.einsum("nom,nm->no", weights, outputs) + shift).amax(1)

    reached = model.outputs(rows)
    clean = value(model.outputs(boxes.rows))
    bound = found.bound
    if bound is not None and limits is not None:
        # A guarded prediction cannot be farther from y than the end of its range.
        ends = torch.stack([value(end.expand(n, -1)) for end in limits]).amax(0)
        bound = torch.minimum(bound, ends)
    threshold = clean if within is None else torch.full_like(clean, within)
    if model.labels is not None:
        threshold = torch.zeros_like(clean)
    worst = value(reached)
    return TableAttack(model.records(rows), reached, worst, worst > threshold, bound)
