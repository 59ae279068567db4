"""Headers of two lines: names above units, or groups above names."""

from __future__ import annotations

from collections.abc import Sequence

from polyladder.tables.columns import MISSING
from polyladder.tables.number_style import is_number

PREVIEW = 30
"""Rows that are inspected."""

FEWEST_NUMBERS = 5
"""Numbers that a column must have below the second line, at least."""

FEWEST_COLUMNS = 2
"""Columns of numbers that must have a text in that line, at least: a single text may be a wrong cell."""

MOST_COLUMNS = 100
"""Columns that are inspected."""

Row = Sequence[str | None]


def second_line(header: Sequence[str], rows: Sequence[Row]) -> tuple[list[str], str] | None:
    """The names of a table whose first row is a second line of its header, and a sentence; None if that row holds data.

    The row belongs to the header if columns hold text in it and numbers in all rows below.

    Args:
        header: the first line.
        rows: the first of those below it.
    """
    if len(rows) <= FEWEST_NUMBERS:
        return None
    first, below = rows[0], rows[1 : PREVIEW + 1]
    columns = [i for i in range(min(len(header), MOST_COLUMNS)) if is_number_column([row[i] for row in below])]
    texts = [i for i in columns if not is_missing(first[i]) and not is_number(str(first[i]).strip())]
    numbers = [i for i in columns if not is_missing(first[i]) and i not in texts]
    if numbers or len(texts) < max(FEWEST_COLUMNS, len(columns) / 2):
        return None
    shown = ", ".join(repr(str(first[i]).strip()) for i in texts[:3]) + (", ..." if len(texts) > 3 else "")
    names = [name.strip() for name in header]
    if all(names) and len(set(names)) == len(names):
        return names, f"The second line ({shown}) belongs to the header: it is left out."
    # A group is named once, above the first of its columns.
    groups: list[str] = []
    for name in names:
        groups.append(name or (groups[-1] if groups else ""))
    lower = ["" if is_missing(cell) else str(cell).strip() for cell in first]
    joined = [f"{group} {name}".strip() for group, name in zip(groups, lower, strict=True)]
    return joined, f"The header has two lines ({shown}): columns are called by both."


def is_number_column(cells: Sequence[str | None]) -> bool:
    """Whether all cells are numbers or missing, and some are numbers."""
    present = [cell.strip() for cell in cells if cell is not None and not is_missing(cell)]
    return len(present) >= FEWEST_NUMBERS and all(is_number(cell) for cell in present)


def is_missing(cell: str | None) -> bool:
    """Whether a cell is missing."""
    return cell is None or cell.strip().lower() in MISSING
