"""How each column of a table was understood, and why some are left out: one value that commands show and models use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from polyladder.tables.columns import ColumnKind, cleaned, convert, guess_kind, write_value
from polyladder.tables.dates import SWAPPED, TIMES, is_ambiguous
from polyladder.tables.identity import useless
from polyladder.tables.marks import is_open, settle_marks
from polyladder.tables.missing_codes import code_note, missing_code
from polyladder.tables.number_style import PLAIN, Comma, counted
from polyladder.tables.schema import Rule
from polyladder.tables.spellings import short_twins

EXAMPLES = 3
"""Categories that are named, at most."""

EXACT = 2.0**53
"""Up to here every whole number is a float64."""

LINES = 30
"""Columns that get a line each; if there are more, plain numbers share one."""


@dataclass(frozen=True, eq=False)
class Understood:
    """A column and what it was taken for.

    Attributes:
        kind: what it holds.
        values: its cells as numbers or text; None where it is left out.
        reason: why it is left out, or empty.
        detail: its range, levels or writing, in words.
        note: sentences about decisions and doubts that the reader should know of, or empty.
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
        word = "time" if self.kind.date_format in TIMES else self.kind.kind
        return f"left out: it {self.reason}" if self.reason else f"{word}: {self.detail}"

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
    rules: Mapping[str, Rule],
    beside: Mapping[str, ColumnKind] | None = None,
) -> tuple[Understood, ...]:
    """Decide what every named column of a frame is.

    Args:
        frame: of text cells, or of whatever types a file has.
        comma: what a comma in a number means where the cells leave it open.
        names: of the columns to look at.
        rules: what is known of columns.
        beside: other columns, already understood: the way their numbers are written helps with the rest.
    """
    kinds = {name: kind_of(frame[name], comma, rules.get(name)) for name in names} | dict(beside or {})
    kinds, notes = settle_marks(frame, kinds, comma, [*asked(rules), *(beside or ())])
    return tuple(decided(frame[name], kinds[name], comma, rules.get(name), notes.get(name, "")) for name in names)


def all_rules(
    schema: Mapping[str, Rule], drop: Iterable[str] = (), category: Iterable[str] = (), keep: Iterable[str] = ()
) -> dict[str, Rule]:
    """What is known of columns by a schema, and by options that name columns to leave out, categories and no ids."""
    kept = {name: Rule("keep") for name in keep} | dict(schema)
    return kept | {name: Rule("category") for name in category} | {name: Rule("drop") for name in drop}


def asked(rules: Mapping[str, Rule]) -> list[str]:
    """The columns whose kind is given."""
    return [name for name, rule in rules.items() if rule.kind != "keep"]


def kind_among(frame: Any, name: str, comma: Comma, rules: Mapping[str, Rule]) -> tuple[ColumnKind, str]:
    """What one column of a frame is, by its cells and by how other columns write numbers; and a sentence, or "".

    Args:
        frame: of all columns.
        name: of the column; "drop" and "keep" say nothing of it.
        comma: what a comma in a number means where the cells leave it open.
        rules: what is known of columns.
    """
    kind = kind_of(frame[name], comma, rules.get(name))
    if name in asked(rules) or kind.kind != "number" or not is_open(frame[name]):
        return kind, ""
    others = {other: kind_of(frame[other], comma, rules.get(other)) for other in frame.columns if other != name}
    kinds, notes = settle_marks(frame, {name: kind, **others}, comma, asked(rules))
    return kinds[name], notes.get(name, "")


def kind_of(column: Any, comma: Comma, known: Rule | None) -> ColumnKind:
    """What a column holds, by its rule or by its cells."""
    if known is not None and known.kind == "drop":
        return ColumnKind(column.name, "category")
    if known is not None and known.kind != "keep":
        return known.apply(column, comma)
    return guess_kind(column, comma)


def decided(column: Any, kind: ColumnKind, comma: Comma, known: Rule | None, note: str) -> Understood:
    """The cells of a column, or why it is left out."""
    if known is not None and known.kind == "drop":
        return Understood(kind, None, "is dropped as asked", "")
    if kind.kind == "empty":
        return Understood(kind, None, "is empty", "")
    kind, values, note = cells_of(column, kind, comma, known, note)
    reason = useless(column, values, kind, forced=known is not None)
    return Understood(kind, None if reason else values, reason, detail(values, kind), "" if reason else note)


def cells_of(
    column: Any, kind: ColumnKind, comma: Comma, known: Rule | None, note: str = ""
) -> tuple[ColumnKind, Any, str]:
    """A column with what its cells tell beyond their kind, the cells as numbers or text, and sentences to show.

    Args:
        column: as it was read.
        kind: what it holds.
        comma: what a comma in a number means where the cells leave it open.
        known: the rule of this column, if there is one; then nothing is guessed.
        note: sentences to show so far.
    """
    notes = [note]
    values = convert(column, kind, comma, say=notes.append)
    if known is None or known.kind == "keep":
        if kind.kind == "number":
            kind, values = without_codes(kind, values, notes)
            notes.append(rounding_note(column, values))
        notes.append(doubt(column, kind))
    return kind, values, " ".join(sentence for sentence in notes if sentence)


def without_codes(kind: ColumnKind, values: Any, notes: list[str]) -> tuple[ColumnKind, Any]:
    """A column of numbers, and its numbers without those that mark missing values."""
    code = missing_code(values)
    if code is None:
        notes.append(code_note(values, kind.name))
        return kind, values
    gone = values.eq(code).fill_null(False)
    notes.append(
        f"Column {kind.name!r} holds {code:g} in {counted(int(gone.sum()), 'row')}: read as missing. "
        'A schema with kind "number" keeps it a number.'
    )
    return replace(kind, missing=code), values.set(gone, None)


def rounding_note(column: Any, values: Any) -> str:
    """A sentence where different whole numbers become equal because a float64 has too few digits; else empty."""
    present = values.drop_nulls()
    if not len(present) or present.abs().max() <= EXACT or column.dtype.is_float():
        return ""
    before, after = cleaned(column).drop_nulls().n_unique(), present.n_unique()
    if before == after:
        return ""
    return (
        f"Column {column.name!r} holds numbers beyond 2^53, which are rounded to 16 digits: {before:,} different ones "
        f"become {after:,}. Subtract a constant from them, or drop the column."
    )


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
        return f"{codes}{counted(len(names), 'level')} ({shown}){gaps}"
    written = kind.json()
    low, high = (write_value(end, written, 6) for end in (float(present.min()), float(present.max())))
    return f"{low} to {high}{gaps}"


def doubt(column: Any, kind: ColumnKind) -> str:
    """A sentence where dates could be read in two ways, or texts differ only in case; else empty."""
    import polars as pl

    if column.dtype != pl.String:
        return ""
    cells = cleaned(column).drop_nulls()
    if kind.spelled:
        kept, other = next((kind.spelled[text], text) for text in cells if text in kind.spelled)
        return (
            f"Column {kind.name!r} holds texts that differ in case alone: {other!r} is read as {kept!r}. "
            'A schema with kind "category" keeps them apart.'
        )
    if kind.kind == "category" and (twins := short_twins(cells)):
        return (
            f"Column {kind.name!r} holds {twins[0]!r} and {twins[1]!r}: short texts that differ in case are kept apart."
        )
    if kind.date_format not in SWAPPED:
        return ""
    different = cells.unique(maintain_order=True)
    if not is_ambiguous(different, str(kind.date_format)):
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
