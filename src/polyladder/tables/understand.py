"""How each column of a table was understood, and why some are left out: one value that commands show and models use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polyladder.tables.columns import ColumnKind, cleaned, convert, guess_kind, write_value
from polyladder.tables.dates import SWAPPED, is_ambiguous
from polyladder.tables.identity import useless
from polyladder.tables.number_style import PLAIN, Comma, NumberStyle
from polyladder.tables.schema import Rule

EXAMPLES = 3
"""Categories that are named."""

LINES = 30
"""Columns that get a line each; beyond, plain numbers are listed together."""


@dataclass(frozen=True, eq=False)
class Understood:
    """A column and what it was taken for.

    Attributes:
        kind: what it holds.
        values: its cells as numbers or text; None where it is left out.
        reason: why it is left out, or empty.
        detail: its range, levels or writing, in words.
        note: a doubt that the reader should hear of, as a sentence, or empty.
    """

    kind: ColumnKind
    values: Any
    reason: str
    detail: str
    note: str = ""

    @property
    def used(self) -> bool:
        """Whether the column is a feature."""
        return not self.reason

    @property
    def line(self) -> str:
        """The column in one line, without its name."""
        return f"left out: it {self.reason}" if self.reason else f"{self.kind.kind}: {self.detail}"

    @property
    def sentence(self) -> str:
        """Why it is left out; empty if it is not."""
        return f"Column {self.kind.name!r} {self.reason}: left out." if self.reason else ""

    def json(self) -> dict[str, Any]:
        """For those who read by machine."""
        return {
            "name": self.kind.name,
            **self.kind.json(),
            "used": self.used,
            "detail": self.detail,
            "reason": self.reason,
        }


def understand(
    frame: Any,
    comma: Comma,
    names: Sequence[str],
    *,
    schema: Mapping[str, Rule],
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    category: Collection[str] = (),
    decimal_comma: bool = False,
) -> tuple[Understood, ...]:
    """Decide what every named column of a frame is.

    Args:
        frame: of text cells, or of whatever types a file has.
        comma: what a comma in a number means where the cells leave it open.
        names: of the columns to look at.
        schema: what is known of some of them.
        drop: columns to leave out.
        keep: columns that are used, even if they look like ids.
        category: columns of categories, whatever they look like.
        decimal_comma: whether another column is known to have decimal commas.
    """
    rules = dict(schema) | {name: Rule("category") for name in category}
    rules |= {name: Rule("drop") for name in drop}
    kinds = {name: kind_of(frame[name], comma, rules.get(name)) for name in names}
    # Where one column has decimal commas, the points of the others mark thousands.
    if decimal_comma or any(kind.style.decimal == "," for kind in kinds.values()):
        kinds = {name: german(frame[name], kind, name in rules) for name, kind in kinds.items()}
    return tuple(decided(frame[name], kinds[name], comma, rules.get(name), name in keep) for name in names)


def kind_of(column: Any, comma: Comma, known: Rule | None) -> ColumnKind:
    """What a column holds, by its rule or by its cells."""
    if known is not None and known.kind == "drop":
        return ColumnKind(column.name, "category")
    if known is not None and known.kind != "keep":
        return known.apply(column, comma)
    return guess_kind(column, comma)


def german(column: Any, kind: ColumnKind, known: bool) -> ColumnKind:
    """A column of 1.234 and 12.500, each with three digits behind a point, as thousands."""
    import polars as pl

    if known or kind.kind != "number" or kind.style != PLAIN or column.dtype != pl.String:
        return kind
    cells = cleaned(column).drop_nulls().unique()
    pointed = cells.filter(cells.str.contains(".", literal=True))
    if not len(pointed) or not bool(pointed.str.contains(r"^-?[1-9]\d{0,2}(\.\d{3})+$").all()):
        return kind
    return ColumnKind(kind.name, "number", style=NumberStyle(decimal=",", thousands="."))


def decided(column: Any, kind: ColumnKind, comma: Comma, known: Rule | None, keep: bool) -> Understood:
    """The cells of a column, or why it is left out."""
    if known is not None and known.kind == "drop":
        return Understood(kind, None, "is dropped as asked", "")
    if kind.kind == "empty":
        return Understood(kind, None, "is empty", "")
    values = convert(column, kind, comma)
    reason = useless(column, values, kind, forced=keep or known is not None)
    return Understood(kind, None if reason else values, reason, detail(values, kind), doubt(column, kind, known))


def detail(values: Any, kind: ColumnKind) -> str:
    """The range of a column of numbers or dates, the levels of categories."""
    present = values.drop_nulls()
    missing = values.null_count()
    gaps = f", {missing:,} missing" if missing else ""
    if not len(present):
        return f"nothing but missing cells{gaps}"
    if kind.kind in ("category", "boolean"):
        counts = present.value_counts(sort=True)
        names = counts[counts.columns[0]].to_list()
        shown = ", ".join(map(str, names[:EXAMPLES])) + (", ..." if len(names) > EXAMPLES else "")
        codes = "codes with leading zeros, " if kind.codes else ""
        return f"{codes}{len(names):,} {'level' if len(names) == 1 else 'levels'} ({shown}){gaps}"
    written = kind.json()
    low, high = (write_value(end, written, 6) for end in (float(present.min()), float(present.max())))
    return f"{low} to {high}{gaps}"


def doubt(column: Any, kind: ColumnKind, known: Rule | None) -> str:
    """A sentence where a date could be read in two ways."""
    import polars as pl

    if known is not None or kind.date_format not in SWAPPED or column.dtype != pl.String:
        return ""
    cells = cleaned(column).drop_nulls().unique(maintain_order=True)
    if not is_ambiguous(cells, str(kind.date_format)):
        return ""
    return (
        f"Column {kind.name!r} is read with the day before the month, {cells[0]} as {kind.date_format}; "
        f"a schema with format {SWAPPED[str(kind.date_format)]!r} exchanges them."
    )


def column_lines(columns: Sequence[Understood]) -> list[str]:
    """A line for each column; of wide tables, plain numbers share one."""
    plain = [c for c in columns if c.used and c.kind.kind == "number" and c.kind.style == PLAIN]
    shared = plain if len(columns) > LINES else []
    alone = [c for c in columns if c not in shared]
    width = min(28, max((len(c.kind.name) for c in alone), default=0))
    lines = [f"  {' '.join(c.kind.name.split()):<{width}}  {c.line}" for c in alone[:LINES]]
    if len(alone) > LINES:
        lines.append(f"  and {len(alone) - LINES:,} more")
    if shared:
        names = ", ".join(c.kind.name for c in shared[:6]) + (", ..." if len(shared) > 6 else "")
        lines.append(f"  {len(shared):,} plain numbers: {names}")
    return lines
