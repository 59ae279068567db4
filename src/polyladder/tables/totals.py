"""Rows at the bottom of a table that sum up those above. Their labels and numbers show it, and they are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polyladder.tables.columns import cleaned
from polyladder.tables.number_style import Comma, find_style, read_numbers

LABEL = re.compile(
    r"(grand |sub)?total(s|e|en|t| général| general)?|sum(me|a|s)?|gesamt(summe)?|insgesamt|somme|totaal|итого"
    r"|合計|合计|总计|Σ|averages?|avg\.?|mean|durchschnitt|mittel(wert)?|moyenne|media|promedio",
    re.IGNORECASE,
)
"""What such rows are called."""

MOST_ROWS = 3
"""Rows at the bottom that are inspected."""

FEWEST_ROWS = 3
"""Rows that must be above them, at least."""

NEAR = 1e-3
"""Relative error that a sum or a mean may have: cells are rounded."""


@dataclass(frozen=True)
class Sums:
    """A column of numbers.

    Attributes:
        total: of the rows above.
        mean: of the rows above.
        size: the sum of their absolute values.
        count: how many they are.
        below: the numbers of the rows at the bottom.
    """

    total: float
    mean: float
    size: float
    count: int
    below: tuple[float | None, ...]


def without_totals(frame: Any, comma: Comma, notes: list[str]) -> Any:
    """A frame without the rows at its bottom that sum up those above, and a sentence for each, added to the notes.

    Such a row has a label, such as "Total", and the sum or the mean of a column. Without a label, it must leave a cell
    empty that no other row leaves empty, and hold the sums of two columns and no other number.

    Args:
        frame: of cells as they were read.
        comma: what a comma in a number means where the cells leave it open.
        notes: receives the sentences.
    """
    for count in range(min(MOST_ROWS, len(frame) - FEWEST_ROWS), 0, -1):
        above, below = frame.head(len(frame) - count), frame.tail(count)
        if not all(may_sum_up(above, below[i]) for i in range(count)):
            continue
        numbers = {name: found for name in frame.columns if (found := column_numbers(above[name], below[name], comma))}
        said = [summary(numbers, i, row_label(below[i])) for i in range(count)]
        if all(said):
            notes.extend(said)
            return above
    label = row_label(frame.tail(1))
    if label and len(frame) > FEWEST_ROWS:
        notes.append(f"The last row is labeled {label!r}, but holds no sum of those above: it is kept.")
    return frame


def row_label(row: Any) -> str:
    """The cell that labels a row as a total; empty if there is none."""
    return next((cell.strip() for cell in row.row(0) if is_label(cell)), "")


def is_label(cell: Any) -> bool:
    """Whether a cell is a usual label of a total."""
    return isinstance(cell, str) and LABEL.fullmatch(cell.strip().rstrip(": ")) is not None


def refuse_totals(sample: Any, last: Any, comma: Comma, label: str) -> None:
    """Refuse a table, known only by a sample, whose last row is labeled a total and holds a number as large as one.

    Args:
        sample: rows of the table.
        last: its last row.
        comma: what a comma in a number means where the cells leave it open.
        label: what the table is called.
    """
    called = row_label(last)
    if not called:
        return
    found = [(name, column_numbers(sample[name], last[name], comma)) for name in sample.columns]
    for name, sums in found:
        value = None if sums is None else sums.below[0]
        # The sample may hold the row itself.
        if sums is not None and value and abs(value) >= abs(sums.total) / 3 > 0:
            raise ValueError(
                f"The last row of {label} must be a row like the others, as it is read in parts; it is labeled "
                f"{called!r} and holds {value:g} in column {name!r}. Take it out."
            )


def may_sum_up(above: Any, row: Any) -> bool:
    """Whether a row has a label, or leaves a cell empty that no row above leaves empty."""
    if row_label(row):
        return True
    empty = [name for name, cell in zip(row.columns, row.row(0), strict=True) if cell is None]
    return any(above[name].null_count() == 0 for name in empty)


def column_numbers(above: Any, below: Any, comma: Comma) -> Sums | None:
    """The sums of a column of numbers; None if it holds anything else."""
    import polars as pl

    if above.dtype == pl.String:
        present = cleaned(above).drop_nulls()
        style = find_style(present.unique(maintain_order=True), comma) if len(present) else None
        if style is None:
            return None
        values, last = read_numbers(present, style), read_numbers(cleaned(below), style)
    elif above.dtype.is_numeric():
        values, last = above.cast(pl.Float64).drop_nulls(), below.cast(pl.Float64)
    else:
        return None
    if not len(values):
        return None
    return Sums(values.sum(), values.mean(), values.abs().sum(), len(values), tuple(last.to_list()))


def summary(numbers: Mapping[str, Sums], at: int, label: str) -> str:
    """The sentence about a row that sums up those above; empty if it does not.

    Args:
        numbers: the columns of numbers.
        at: which of the rows at the bottom it is.
        label: what it is called, or nothing.
    """
    sums, means, others = [], [], []
    for name, column in numbers.items():
        value = column.below[at]
        if value is None:
            continue
        if value and abs(value - column.total) <= NEAR * column.size:
            sums.append(name)
        elif value and label and abs(value - column.mean) <= NEAR * column.size / column.count:
            means.append(name)
        else:
            others.append(name)
    if not (sums or means) or (not label and (len(sums) < 2 or others)):
        return ""
    found, what = (sums, "sums") if sums else (means, "means")
    listed = ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
    called = f", {label!r}," if label else ""
    return f"The row{called} at the bottom holds {what} of the rows above ({listed}): left out."
