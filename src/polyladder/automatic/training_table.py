"""From a table in a file to columns and a target that can be fitted, with a sentence about each decision."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyladder.tables.columns import ColumnKind
    from polyladder.tables.table_file import TableFile

Task = Literal["regression", "classification"]

FEWEST_ROWS = 10
MOST_CATEGORIES = 500
"""Text columns with more different values than this, or than half the rows, are names rather than categories."""

MOST_CLASSES = 100
FEWEST_OF_A_CLASS = 3


@dataclass(frozen=True)
class TrainingTable:
    """Rows to fit.

    Attributes:
        columns: a polars frame of numbers (float64) and text.
        target: numbers or classes. Shape (n,).
        kinds: what each column is.
        task: what the target is for.
        name: of the target.
        source: where the rows came from.
        guess: how the task was decided, as a sentence.
        notes: what was left out and why, as sentences.
    """

    columns: Any
    target: NDArray[Any]
    kinds: tuple[ColumnKind, ...]
    task: Task
    name: str
    source: str
    guess: str
    notes: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is to be said of the table."""
        return (self.guess, *self.notes)


def training_table(
    file: TableFile, target: str, task: Task | None, drop: Sequence[str], category: Sequence[str]
) -> TrainingTable:
    """Decide what every column of a table is.

    Args:
        file: the open table.
        target: name of the column to predict.
        task: None to have it guessed.
        drop: columns to leave out.
        category: columns of categories, whatever they look like.
    """
    from polyladder.tables.columns import ColumnKind, convert, guess_kind

    for option, name in (("target", target), *(("drop", n) for n in drop), *(("category", n) for n in category)):
        check_column(file, option, name)
    frame, notes = file.whole(), list(file.notes)
    if not len(frame):
        raise ValueError(f"{file.label} must hold rows under its header; there are none.")
    given = ColumnKind(target, "category") if target in category else guess_kind(frame[target], file.comma)
    if given.kind in ("empty", "date"):
        found = "nothing" if given.kind == "empty" else "dates"
        raise ValueError(f"Target {target!r} must hold numbers or classes; got {found}. Choose another column.")
    values = convert(frame[target], given, file.comma)
    lacking = values.null_count()
    if lacking:
        notes.append(f"{lacking:,} {'row has' if lacking == 1 else 'rows have'} no {target}: left out.")
        frame, values = frame.filter(values.is_not_null()), values.drop_nulls()
    if len(frame) < FEWEST_ROWS:
        raise ValueError(f"{file.label} must hold at least {FEWEST_ROWS} rows with a target; got {len(frame)}.")
    chosen, y, guess = settle_task(target, values, given.kind == "number", task)
    if chosen == "classification":
        frame, y = without_rare_classes(frame, y, notes)

    kinds = []
    columns = []
    for name in (n for n in frame.columns if n != target and n not in drop):
        kind = ColumnKind(name, "category") if name in category else guess_kind(frame[name], file.comma)
        reason = useless(frame[name], kind, forced=name in category)
        if reason:
            notes.append(f"Column {name!r} {reason}: left out.")
        else:
            kinds.append(kind)
            columns.append(convert(frame[name], kind, file.comma))
    if not columns:
        raise ValueError(f"{file.label} must hold a column besides {target!r} that says something; there is none.")
    kept = frame.select([kind.name for kind in kinds]).with_columns(columns)
    return TrainingTable(kept, y, tuple(kinds), chosen, target, file.label, guess, tuple(notes))


def check_column(file: TableFile, option: str, name: str) -> None:
    """Refuse the name of a column that is not there, and say which are."""
    if name in file.names:
        return
    near = difflib.get_close_matches(name, file.names, 1)
    listed = ", ".join(file.names[:12]) + (", ..." if len(file.names) > 12 else "")
    advice = f"Did you mean {near[0]!r}?" if near else f"Its columns are {listed}."
    raise ValueError(f"{option} must name a column of {file.label}; got {name!r}. {advice}")


def settle_task(name: str, values: Any, numeric: bool, task: Task | None) -> tuple[Task, NDArray[Any], str]:
    """The task, the target as an array, and how it was decided."""
    different = values.n_unique()
    if different < 2:
        raise ValueError(f"Target {name!r} must hold different values; every row has {values[0]!r}.")
    if not numeric:
        if task == "regression":
            raise ValueError(f"Target {name!r} must hold numbers for regression; got {values[0]!r}.")
        if different > min(MOST_CLASSES, max(20, len(values) // 5)):
            raise ValueError(f"Target {name!r} must hold numbers or a few classes; got {different:,} different texts.")
        return "classification", values.to_numpy().astype(object), f"{name} holds {different} classes: classification."
    whole = bool((values == values.round(0)).all())
    if task is None:
        task = "classification" if different == 2 else "regression"
    words = f"{name} holds {different:,} different {'whole ' if whole else ''}numbers: {task}"
    few = different <= min(MOST_CLASSES, 20)
    hint = "; set the task to classification if they are classes" if task == "regression" and few and whole else ""
    if task == "classification":
        if different > MOST_CLASSES:
            raise ValueError(f"Target {name!r} must hold at most {MOST_CLASSES} classes; got {different:,} numbers.")
        y = values.to_numpy()
        return task, y.astype("int64") if whole else y, f"{words}."
    return task, values.to_numpy(), f"{words}{hint}."


def without_rare_classes(frame: Any, y: NDArray[Any], notes: list[str]) -> tuple[Any, NDArray[Any]]:
    """Leave out classes that are too rare to be both fitted and tested."""
    import numpy as np

    classes, counts = np.unique(y, return_counts=True)
    rare = classes[counts < FEWEST_OF_A_CLASS]
    if not len(rare):
        return frame, y
    if len(classes) - len(rare) < 2:
        raise ValueError(f"Two classes must have at least {FEWEST_OF_A_CLASS} rows each; not enough have.")
    keep = ~np.isin(y, rare)
    names = ", ".join(map(str, rare[:5].tolist())) + (", ..." if len(rare) > 5 else "")
    notes.append(f"Classes with fewer than {FEWEST_OF_A_CLASS} rows are left out: {names}.")
    return frame.filter(keep), y[keep]


def useless(column: Any, kind: ColumnKind, forced: bool) -> str:
    """Why a column cannot help, if it cannot."""
    if kind.kind == "empty":
        return "is empty"
    present = column.drop_nulls()
    different = present.n_unique()
    if different == 1 and len(present) == len(column):
        return "never changes"
    if kind.kind == "category" and not forced and different > min(MOST_CATEGORIES, max(20, len(column) // 2)):
        return f"holds {different:,} different texts, more like names than categories"
    if kind.name.startswith("column ") and kind.kind == "number" and counts_rows(column):
        return "has no name and counts the rows"
    return ""


def counts_rows(column: Any) -> bool:
    """Whether a column is 0, 1, 2, ... or another row number."""
    import polars as pl

    numbers = column.cast(pl.Float64, strict=False)
    return len(numbers) > 1 and bool((numbers.diff().drop_nulls() == 1).all()) and not numbers.null_count()
