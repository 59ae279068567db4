"""Which rows are held out: some at random, whole groups, the latest, or those of another file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyladder.automatic.training_table import TrainingTable
    from polyladder.tables.table_file import TableFile

HELD_OUT = 0.15
"""The share of the rows that is held out to compare models."""


def split_rows(
    table: TrainingTable, seed: int, group: str | None = None, time: str | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Row numbers to fit and to hold out.

    Args:
        table: with the columns that split it aside.
        seed: of random choices.
        group: column whose equal values stay together.
        time: column by whose order the latest rows are held out.
    """
    if group is not None:
        found = group_split(table, group, seed)
    elif time is not None:
        found = time_split(table, time)
    else:
        return random_split(table, seed)
    if table.task == "classification":
        refuse_lost_classes(table, found[0], group or time or "")
    return found


def random_split(table: TrainingTable, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """At random, classes in equal shares."""
    from sklearn.model_selection import train_test_split

    n, classes = len(table.target), table.target if table.task == "classification" else None
    held = max(2, round(HELD_OUT * n), 0 if classes is None else len(np.unique(classes)))
    train, test = train_test_split(np.arange(n), test_size=held, random_state=seed, stratify=classes)
    return np.sort(train), np.sort(test)


def group_split(table: TrainingTable, name: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Whole groups at random, until they are about the share of rows to hold out; rows without a group are fitted."""
    groups = table.aside[name].cast(str).fill_null("").to_numpy()
    names, counts = np.unique(groups[groups != ""], return_counts=True)
    if len(names) < 2:
        raise ValueError(f"--group must name a column with at least 2 different values; {name!r} has {len(names)}.")
    order = np.random.default_rng(seed).permutation(len(names))
    taken = max(1, int(np.searchsorted(np.cumsum(counts[order]), HELD_OUT * len(groups), side="right")))
    held = np.isin(groups, names[order[: min(taken, len(names) - 1)]])
    return np.flatnonzero(~held), np.flatnonzero(held)


def time_split(table: TrainingTable, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The latest rows; what happened at one time stays together."""
    from polyladder.tables.columns import convert, guess_kind

    column = table.aside[name]
    kind = guess_kind(column, "thousands")
    if kind.kind not in ("date", "number"):
        raise ValueError(f"--time must name a column of dates or numbers; {name!r} holds {kind.kind} cells.")
    when = convert(column, kind, "thousands").to_numpy()
    if np.isnan(when).any():
        raise ValueError(f"--time must name a column without gaps; {name!r} has {int(np.isnan(when).sum()):,} of them.")
    ends = np.sort(when)
    border = ends[-max(2, round(HELD_OUT * len(ends)))]
    held = when >= border
    if held.all():
        raise ValueError(f"--time must name a column that changes; {name!r} does not.")
    return np.flatnonzero(~held), np.flatnonzero(held)


def refuse_lost_classes(table: TrainingTable, train: NDArray[Any], name: str) -> None:
    """Refuse a split after which a class has no rows to be fitted to."""
    lost = sorted(set(table.target.tolist()) - set(table.target[train].tolist()), key=str)
    if lost:
        raise ValueError(f"Every class must be among the rows that are fitted; split by {name!r}, {lost[0]!r} is not.")


def rows_of_file(table: TrainingTable, file: TableFile) -> tuple[Any, NDArray[Any], list[str]]:
    """Rows of another file as columns and target of a training table, and what was left out, as sentences."""
    from polyladder.tables.file_parts import rows_with_target
    from polyladder.tables.number_style import counted
    from polyladder.tables.totals import without_totals

    needed = [*(kind.name for kind in table.kinds), table.name]
    lacking = [name for name in needed if name not in file.names]
    if lacking:
        raise ValueError(f"{file.label} must have the columns of {table.source}; it lacks {lacking[0]!r}.")
    notes: list[str] = []
    frame = without_totals(file.whole(), file.comma, notes)
    labels = np.unique(table.target) if table.task == "classification" else None
    rows, target = rows_with_target(frame, table.kinds, table.target_kind, labels, file.comma, say=notes.append)
    if lost := len(frame) - len(rows):
        notes.append(f"{counted(lost, 'row')} of {file.label} without a known target: left out.")
    if len(rows) < 2:
        raise ValueError(f"{file.label} must hold at least 2 rows with a target; got {len(rows)}.")
    return rows, target.astype(table.target.dtype), notes
