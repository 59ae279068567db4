"""What an estimator learned of a dense table, as the columns and steps of a `FittedModel`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polyladder.estimators.targets import NumberTarget
from polyladder.fitted.answers import Answer, Guard, Numbers
from polyladder.fitted.column import Column, described
from polyladder.fitted.features import Features
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Blank, Clip, IsMissing
from polyladder.fitted.steps.step import applied, undone
from polyladder.tables.columns import ColumnKind, column_kind
from polyladder.tables.dates import DAYS

Note = Mapping[str, Any]


def guard_of(target: NumberTarget, guarded: bool) -> Guard | None:
    """The range that predictions are held to, if they are."""
    if not guarded:
        return None
    low, high = target.guard_range
    return tuple(low.tolist()), tuple(high.tolist())


def span_of(target: NumberTarget) -> Guard:
    """The range of the training targets."""
    return tuple(target.low.tolist()), tuple(target.high.tolist())


def table_model(features: Features, notes: Sequence[Note]) -> tuple[tuple[Column, ...], tuple[Feature, ...]]:
    """The columns of the table that features were fitted to, and the inputs that they make of it.

    Args:
        features: fitted.
        notes: what a card says of each column, in their order, or nothing.
    """
    if len(notes) != len(features.names_in_):
        notes = [{}] * len(features.names_in_)
    cells = [cells_of(features, i, note) for i, note in enumerate(notes)]
    blanks = {i: (Blank(kind.missing),) for i, kind in enumerate(cells) if kind.missing is not None}
    steps = tuple(Feature(f.column, (*blanks.get(f.column, ()), *f.steps)) for f in features.steps)
    inputs: dict[int, list[int]] = {}
    for k, feature in enumerate(steps):
        inputs.setdefault(feature.column, []).append(k)
    numbers = {i: number for number, i in enumerate(i for i in range(len(notes)) if i not in features.categorical_)}
    columns = []
    for i, (note, kind) in enumerate(zip(notes, cells, strict=True)):
        own = Column(
            features.names_in_[i],
            "category" if i in features.categorical_ else "number",
            cells=kind,
            written=note.get("written"),
            inputs=tuple(inputs.get(i, ())),
        )
        found = number_column(features, own, numbers[i], steps) if i in numbers else text_column(features, own, i)
        columns.append(replace(described(found, note), binary=is_binary(described(found, note), steps)))
    return tuple(columns), steps


def knowing_codes(answer: Answer, columns: Sequence[Column]) -> Answer:
    """The answer; in its spread, if it has one, numbers that stand for missing ones count as missing too."""
    if not isinstance(answer, Numbers) or answer.spread is None:
        return answer

    def blanked(feature: Feature) -> Feature:
        code = columns[feature.column].reading.missing
        if code is None or Blank(code) in feature.steps:
            return feature
        return Feature(feature.column, (Blank(code), *feature.steps))

    return replace(answer, spread=replace(answer.spread, beyond=tuple(map(blanked, answer.spread.beyond))))


def cells_of(features: Features, position: int, note: Note) -> ColumnKind:
    """What the cells of a column hold and how they are written."""
    name = features.names_in_[position]
    if "written" in note:
        kind = column_kind(name, note["written"])
    elif position in features.categorical_:
        kind = ColumnKind(name, "category")
    elif position in features.dates_:
        kind = ColumnKind(name, "date")
    elif note.get("unit") == DAYS:
        kind = ColumnKind(name, "date", note.get("date_format"))
    else:
        kind = ColumnKind(name, "number")
    least, median, most = (note.get(end) for end in ("minimum", "median", "maximum"))
    return kind if least is None or median is None or most is None else replace(kind, span=(least, median, most))


def number_column(features: Features, column: Column, number: int, steps: Sequence[Feature]) -> Column:
    """A column of numbers with what training saw of it; ``number`` counts among the columns of numbers."""
    flag = next((k for k in column.inputs if isinstance(steps[k].steps[-1], IsMissing)), None)
    whole = None if features.integral_ is None else bool(features.integral_[number])
    column = replace(column, flag=flag, whole=whole)
    least, greatest = features.training_range()
    if column.role == "constant":
        value = float(features.low_[number])
        return replace(column, low=value, high=value, fill=value, typical=value)
    clips = (step for k in column.inputs for step in steps[k].steps if isinstance(step, Clip))
    low, high = float(least[number]), float(greatest[number])
    column = replace(
        column,
        low=low,
        high=high,
        held=next(((clip.low, clip.high) for clip in clips), None),
        fill=None if features.imputer_ is None else float(features.imputer_.statistics_[number]),
    )
    if number not in features.varying_:
        return replace(column, typical=(low + high) / 2 if column.fill is None else column.fill)
    main = column.inputs[0]
    # The number that becomes the mean, where no card knows the median.
    typical = float(undone(steps[main].steps[:-1], np.asarray(features.scaler_.mean_[main])))
    return replace(column, typical=min(max(typical, low), high), main=main)


def text_column(features: Features, column: Column, position: int) -> Column:
    """A column of texts with the categories that training saw; without inputs it had one text alone."""
    if not column.inputs:
        return column
    assert features.encoder_ is not None
    known = tuple(features.encoder_.categories_[features.encoded_.index(position)].tolist())
    return replace(column, categories=known, typical=known[0])


def is_binary(column: Column, steps: Sequence[Feature]) -> bool:
    """Whether training saw 0 and 1, and nothing else as far as is known."""
    if column.main is None or not np.allclose([column.low, column.high], [0.0, 1.0], rtol=0.0):
        return False
    ends = applied(steps[column.main].steps, np.array([0.0, 1.0]))
    # Of all columns with these ends and this mean, that of nothing else has the largest variance, which is 1 here.
    return not any(column.counts[1:-1]) and bool(-ends[0] * ends[1] <= 1 + 1e-6)
