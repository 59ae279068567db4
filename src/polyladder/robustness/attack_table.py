"""The worst rows near those of a table, in the units of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.robustness.attack import Goal, objectives, proven, strongest
from polyladder.robustness.certificate import check_budget
from polyladder.robustness.feasible import Feasible, Rules
from polyladder.robustness.region import box
from polyladder.robustness.space import Space
from polyladder.robustness.table_boxes import TableBoxes
from polyladder.robustness.table_model import TableModel, read_estimator
from polyladder.tables.table import Table
from polyladder.training.threads import small_on_one_thread

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


@small_on_one_thread
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
    check_budget(budget)
    boxes = TableBoxes.around(model, X, radius)
    for name in frozen:
        boxes.steps[model.place(name, "frozen")] = 0.0
    boxes = TableBoxes.stepped(model, boxes.rows, boxes.steps)
    target = model.classes(y) if model.labels is not None else torch.tensor(np.array(y, dtype=np.float64))
    rules = table_rules(model, boxes, integer, changing)
    x = torch.from_numpy(model.features.plain_table(boxes.rows))
    # Ramps follow their columns, so a search moves the columns alone.
    low, high = (end[:, : x.shape[1]] for end in (boxes.region.lower, boxes.region.upper))
    feasible = Feasible(box(torch.minimum(low, x), torch.maximum(high, x)), rules)
    weights, shift = objectives(model.polynomial, target, len(x), goal)
    found, _ = strongest(model.surface, feasible, weights, shift, x, restarts)
    bound = None
    if certificate:
        # Other rules are left out: a row may be given that does not keep to them, and is then part of the proof.
        space = Space(model.surface, Rules())
        bound = proven(model.polynomial, feasible, weights, shift, found, budget, None if space.is_free else space)
    rows = worst_rows(model, boxes, found, integer)

    def value(outputs: Tensor) -> Tensor:
        return (torch.einsum("nom,nm->no", weights, outputs) + shift).amax(1)

    if bound is not None and model.limits is not None:
        # A guarded prediction cannot be farther from y than the end of its range.
        bound = torch.minimum(bound, torch.stack([value(end.expand(len(x), -1)) for end in model.limits]).amax(0))
    reached, clean = model.outputs(rows), value(model.outputs(boxes.rows))
    threshold = torch.zeros_like(clean) if model.labels is not None else clean
    if within is not None and model.labels is None:
        threshold = torch.full_like(clean, within)
    worst = value(reached)
    return TableAttack(model.records(rows), reached, worst, worst > threshold, bound)


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
        levels[order.index(place)] = torch.from_numpy(model.scaled(place, np.arange(low, high + 1)))
    unknown = [name for name in changing if name not in model.groups]
    if unknown:
        raise ValueError(f"changing must name columns of categories; got {unknown[0]!r}.")
    return Rules(one_hot=[model.groups[name] for name in changing], levels=levels)


def worst_rows(model: TableModel, boxes: TableBoxes, x: Tensor, integer: Sequence[str]) -> Table:
    """The rows that inputs without ramps stand for, in their own units."""
    numbers = model.original(x.numpy(), boxes.lower, boxes.upper)
    places = [model.place(name, "integer") for name in integer]
    whole = np.round(numbers[:, places])
    # A row that was given with a fraction stays where it is.
    numbers[:, places] = np.where(np.abs(whole - numbers[:, places]) < 1e-6, whole, numbers[:, places])
    return Table(numbers, model.chosen(x, boxes.rows), boxes.rows.positions, boxes.rows.names)
