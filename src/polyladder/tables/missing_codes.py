"""Numbers that mark missing values, such as -999 among temperatures."""

from __future__ import annotations

from typing import Any

from polyladder.tables.number_style import counted, number_words

CODES = (-99.0, -999.0, -9999.0, -99999.0, -999999.0)
"""Numbers that are read as missing where they are far from all others."""

SURE = -999.0
"""Codes up to this one need not be far away if all other numbers are zero or more."""

DOUBTFUL = (999.0, 9999.0, 99999.0, 999999.0)
"""Numbers that are only mentioned where they are far from all others."""

FEWEST = 10
"""With fewer numbers than this, no code is looked for."""


def missing_code(values: Any) -> float | None:
    """The number that marks missing values, or None.

    Args:
        values: numbers, null where they are missing.
    """
    code, rest = lone(values, values.min(), CODES)
    if code is None or not len(rest):
        return None
    apart = rest.min() - code > rest.max() - rest.min()
    return code if apart or (code <= SURE and rest.min() >= 0) else None


def code_note(values: Any, name: str) -> str:
    """A sentence if a large number, far from all others, may mark missing values; else empty."""
    code, rest = lone(values, values.max(), DOUBTFUL)
    if code is None or not len(rest) or code - rest.max() <= rest.max() - rest.min():
        return ""
    rows = counted(values.count() - len(rest), "row")
    return (
        f"Column {name!r} holds {code:g} in {rows}, far from all others ({number_words(rest.min())} to "
        f"{number_words(rest.max())}): if it stands for a missing value, say so in a schema, "
        f'{{ kind = "number", missing = {code:g} }}.'
    )


def lone(values: Any, end: Any, codes: tuple[float, ...]) -> tuple[float | None, Any]:
    """The least or greatest of enough numbers, if it is among the codes, and all other numbers."""
    found = float(end) if values.count() >= FEWEST and end in codes else None
    return found, values.drop_nulls().filter(values.drop_nulls() != end)
