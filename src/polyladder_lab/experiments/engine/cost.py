"""How long the missing measurements will take: a rough count of the work, at the pace of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping

from polyladder_lab.experiments.engine.declare import Declaration, Model, TableColumn
from polyladder_lab.experiments.engine.plan import choice, left_settings, measurement
from polyladder_lab.experiments.engine.rows import Row


def cost_left(d: Declaration, done: Mapping[str, Row]) -> float:
    """Seconds on one core of all that is missing; columns whose data may not be available are left out."""
    paces = {model.name: pace(d, model, done) for model in d.models}
    columns = [column for column in d.columns if not column.unavailable]
    return sum(paces[name] * work for column in columns for name, work in expected_work(d, column, done).items())


def pace(d: Declaration, model: Model, done: Mapping[str, Row]) -> float:
    """What the stored fits of a model took, divided by what `Measurement.cost` counts for them; 1 if none is stored."""
    spent = counted = 0.0
    for column in d.columns:
        for split in d.splits_of(model, column):
            for setting in d.settings(model, column):
                own = [measurement(d, column, model, setting, split, d.selection, rung) for rung in column.rungs]
                for each in (*own, measurement(d, column, model, setting, split, None)):
                    if seconds := done.get(each.key, {}).get("seconds"):
                        spent += seconds
                        counted += each.cost
    return spent / counted if counted else 1.0


def expected_work(d: Declaration, column: TableColumn, done: Mapping[str, Row]) -> dict[str, float]:
    """What `Measurement.cost` counts for all that is left of a column, by model.

    Last fits are counted too, though their settings may not be known yet.
    """
    left = {model.name: 0.0 for model in d.models}
    for model in d.models:
        for split in d.splits_of(model, column):
            left[model.name] += comparison_work(d, column, model, split, done)
    for model in d.models if d.compare != "settings" else ():
        settings = d.settings(model, column)
        for split in d.splits_of(model, column):
            chosen = choice(d, column, model, split, done)
            each = measurement(d, column, model, settings[0] if chosen is None else chosen, split, None)
            left[model.name] += 0.0 if chosen is not None and each.key in done else each.cost
    return left


def comparison_work(d: Declaration, column: TableColumn, model: Model, split: int, done: Mapping[str, Row]) -> float:
    """What `Measurement.cost` counts for the comparisons that are left; any settings stand for those not known yet."""
    settings = d.settings(model, column)
    work, count = 0.0, len(settings)
    for number, rung in enumerate(column.rungs):
        if count <= rung.keep:
            continue
        known = left_settings(d, column, model, split, done, number)
        for setting in settings[:count] if known is None else known:
            each = measurement(d, column, model, setting, split, d.selection, rung)
            work += 0.0 if known is not None and each.key in done else each.cost
        count = min(count, rung.keep)
    return work
