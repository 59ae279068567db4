"""From a table in a file to columns and a target that can be fitted, with a sentence about each decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from polyladder.automatic.leakage import leakage_notes
from polyladder.tables.table import Table, find_categories, read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyladder.automatic.options import TableOptions
    from polyladder.tables.columns import ColumnKind
    from polyladder.tables.schema import Rule
    from polyladder.tables.table_file import TableFile
    from polyladder.tables.understand import Understood

Task = Literal["regression", "classification"]

FEWEST_ROWS = 10
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
        target_kind: what the target was taken for.
        understood: every column but the target, those that are left out included.
        aside: columns that split the rows, as they were read.
    """

    columns: Any
    target: NDArray[Any]
    kinds: tuple[ColumnKind, ...]
    task: Task
    name: str
    source: str
    guess: str
    notes: tuple[str, ...]
    target_kind: ColumnKind
    understood: tuple[Understood, ...]
    aside: Mapping[str, Any]

    @cached_property
    def read(self) -> Table:
        """The columns as an estimator reads them, once for all who look at all rows."""
        return read_table(self.columns, find_categories(self.columns))

    @property
    def lines(self) -> list[str]:
        """What a user is told of the table, line by line: what has a line of its own is not said again."""
        from polyladder.tables.understand import column_lines

        lines = column_lines(self.understood)
        told = {c.sentence for c in self.understood} if len(lines) >= len(self.understood) else set()
        return [self.guess, *lines, *(note for note in self.notes if note not in told)]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is to be said of the table."""
        return (self.guess, *self.notes)


def training_table(file: TableFile, target: str, options: TableOptions, aside: Sequence[str] = ()) -> TrainingTable:
    """Decide what every column of a table is.

    Args:
        file: the open table.
        target: name of the column to predict.
        options: what is known of the task and of columns.
        aside: columns that split the rows and are no features.
    """
    from polyladder.tables.schema import Rule, read_schema
    from polyladder.tables.totals import without_totals
    from polyladder.tables.understand import all_rules, understand

    schema = {} if options.schema is None else read_schema(options.schema)
    drop, keep = options.drop, options.keep
    named = {"target": [target], "drop": drop, "category": options.category, "keep": keep, "schema": schema}
    for option, names in (*named.items(), ("aside", aside)):
        for name in names:
            file.check_column(option, name)
    rules = all_rules(schema, drop, options.category, keep)
    frame, notes = file.whole(least=1), list(file.notes)
    frame = without_totals(frame, file.comma, notes)
    frame, given, values = with_target(frame, target, file, rules, notes)
    chosen, y, guess = settle_task(target, values, given.kind == "number", options.task)
    if chosen == "classification":
        frame, y = without_rare_classes(frame, y, notes)
    features = [n for n in frame.columns if n != target and (n not in aside or n in keep)]
    found = understand(frame, file.comma, features, rules, {target: given})
    if not any(c.used for c in found):
        # A curve over a counter may be all that there is to fit.
        counters = {c.kind.name: Rule("keep") for c in found if "count" in c.reason}
        found = understand(frame, file.comma, features, counters | rules, {target: given})
    used = [c for c in found if c.used]
    if not used:
        raise ValueError(f"{file.label} must hold a column besides {target!r} that says something; there is none.")
    notes += [c.sentence for c in found if c.reason and c.kind.name not in drop]
    notes += [c.note for c in found if c.note]
    kept = frame.select([c.kind.name for c in used]).with_columns([c.values for c in used])
    notes += leakage_notes(kept, y, chosen, target)
    return TrainingTable(
        kept,
        y,
        tuple(c.kind for c in used),
        chosen,
        target,
        file.label,
        guess,
        tuple(notes),
        given,
        found,
        {name: frame[name] for name in aside},
    )


def with_target(
    frame: Any, target: str, file: TableFile, rules: Mapping[str, Rule], notes: list[str]
) -> tuple[Any, ColumnKind, Any]:
    """The rows that have a target, what that is (numbers or classes), and their targets."""
    from polyladder.tables.understand import cells_of, kind_among

    if target in rules and rules[target].kind in ("drop", "keep"):
        rules = {name: rule for name, rule in rules.items() if name != target}
    given, note = kind_among(frame, target, file.comma, rules)
    if given.kind in ("empty", "date"):
        found = "nothing" if given.kind == "empty" else "dates"
        raise ValueError(f"Target {target!r} must hold numbers or classes; got {found}. Choose another column.")
    given, values, note = cells_of(frame[target], given, file.comma, rules.get(target), note)
    if note:
        notes.append(note)
    lacking = values.null_count()
    if lacking:
        notes.append(f"{lacking:,} {'row has' if lacking == 1 else 'rows have'} no {target}: left out.")
        frame, values = frame.filter(values.is_not_null()), values.drop_nulls()
    if len(frame) < FEWEST_ROWS:
        raise ValueError(f"{file.label} must hold at least {FEWEST_ROWS} rows with a target; got {len(frame)}.")
    return frame, given, values


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
    ends = range_words(values) if task == "regression" else ""
    words = f"{name} holds {different:,} different {'whole ' if whole else ''}numbers{ends}: {task}"
    few = different <= min(MOST_CLASSES, 20)
    hint = "; set the task to classification if they are classes" if task == "regression" and few and whole else ""
    if task == "classification":
        if different > MOST_CLASSES:
            raise ValueError(f"Target {name!r} must hold at most {MOST_CLASSES} classes; got {different:,} numbers.")
        y = values.to_numpy()
        return task, y.astype("int64") if whole else y, f"{words}."
    return task, values.to_numpy(), f"{words}{hint}."


def range_words(values: Any) -> str:
    """The ends of a column of numbers in plain digits, which cannot be misread: 1.589 or 1589, never 1,589."""
    from polyladder.tables.number_style import PLAIN, write_number

    return f" from {write_number(values.min(), PLAIN)} to {write_number(values.max(), PLAIN)}"


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
