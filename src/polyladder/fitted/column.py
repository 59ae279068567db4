"""One column of the table that a model was fitted to, in its own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from polyladder.tables.columns import ColumnKind


@dataclass(frozen=True)
class Column:
    """A column and where it lies among the inputs of the ladders.

    Attributes:
        name: as the table has it.
        kind: whether it holds numbers or texts.
        categories: the texts that the model knows, in order; None is the missing one.
        low: smallest number in training.
        high: largest number in training.
        held: the range that clipping holds numbers to, a little more than that of training; None where none does.
        fill: what a missing number counts as, or None where there can be none.
        typical: a value to start from: the median, or the most frequent category.
        whole: whether all numbers were whole in training; None in files of 0.1, which do not tell.
        binary: whether its numbers are 0 and 1, so that a database may hold them as false and true.
        unit: such as "kg", or None.
        cells: what its cells hold and how they are written; None for plain numbers and texts.
        written: the same as the card says it, of a table that was read cell by cell; else None.
        edges: of the histogram's bars; empty where the density is not known.
        counts: of rows in each bar, or in each category; empty where they are not known.
        inputs: positions of the inputs that read it.
        main: the input that is the number itself, scaled; None of texts, of a column that had one value alone, and of
            one that is read through functions of its number instead, such as a phase.
        flag: the input that says "is missing", or None.
    """

    name: str
    kind: Literal["number", "category"]
    categories: tuple[str | None, ...] = ()
    low: float = 0.0
    high: float = 0.0
    held: tuple[float, float] | None = None
    fill: float | None = None
    typical: float | str | None = None
    whole: bool | None = None
    binary: bool = False
    unit: str | None = None
    cells: ColumnKind | None = None
    written: Mapping[str, Any] | None = None
    edges: tuple[float, ...] = ()
    counts: tuple[float, ...] = ()
    inputs: tuple[int, ...] = ()
    main: int | None = None
    flag: int | None = None

    @property
    def role(self) -> Literal["numeric", "category", "constant"]:
        """What it is to the model; of a constant one it reads no more than whether it is missing."""
        if self.kind == "category":
            return "category" if self.inputs else "constant"
        return "numeric" if set(self.inputs) - {self.flag} else "constant"

    @property
    def reading(self) -> ColumnKind:
        """What its cells hold and how they are written, plain ones too."""
        return self.cells or ColumnKind(self.name, self.kind)

    @property
    def reach(self) -> tuple[float, float]:
        """The range that numbers are held to; that of training where nothing holds them."""
        return (self.low, self.high) if self.held is None else self.held


def described(column: Column, note: Mapping[str, Any]) -> Column:
    """A column with what a note of its table says of it: its unit, a typical value and how its values spread."""
    density = note.get("density", {})
    if column.kind == "category":
        listed = dict(zip(note.get("categories") or (), density.get("counts", ()), strict=False))
        if not listed or not column.inputs:
            return column
        counts = tuple(float(note["missing"] if k is None else listed.get(k, 0)) for k in column.categories)
        return replace(column, counts=counts, typical=column.categories[counts.index(max(counts))])
    if column.role == "constant":
        return column
    median = note.get("median")
    return replace(
        column,
        unit=note.get("unit"),
        typical=column.typical if median is None else min(max(float(median), column.low), column.high),
        edges=tuple(density.get("edges", ())),
        counts=tuple(float(c) for c in density.get("counts", ())),
    )
