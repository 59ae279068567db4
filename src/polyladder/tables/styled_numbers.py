"""Text as numbers in the style and unit of training: other units are converted where that is known, else refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from polyladder.tables.number_style import (
    SIGNS,
    Comma,
    NumberStyle,
    endings,
    find_style,
    read_numbers,
    split_ending,
)
from polyladder.tables.units import conversion

if TYPE_CHECKING:
    from polyladder.tables.columns import ColumnKind


def read_styled(text: Any, kind: ColumnKind, comma: Comma, row: int, say: Callable[[str], None]) -> Any:
    """Numbers in the column's style; cells that do not have it are read in the style that they share.

    The second matters for new files: prices that were plain in training may come with a currency.

    Args:
        text: cells without surrounding space.
        kind: of the column.
        comma: what a comma in a number means where the cells leave it open.
        row: number of the first cell's row, for messages.
        say: told in a sentence what was converted.

    Returns:
        float64, null where a cell is missing or no number.
    """
    style, unit, factor = kind.style, kind.style.suffix.strip(), 1.0
    values = read_numbers(text, style)
    wrong = text.is_not_null() & values.is_null()
    if wrong.any():
        found = find_style(text.drop_nulls().unique(maintain_order=True), comma)
        if found is None:
            return values
        style = found
        unit, factor = settle_unit(kind, style, text, wrong, row, say)
        values = read_numbers(text, style, unit) * factor
    if style.unit:
        tell_units(kind, style, text, values, row, say)
    if kind.unit == "%" and not bool(text.str.contains("%", literal=True).any()):
        refuse_fractions(kind, text, values, row)
    return values


def settle_unit(
    kind: ColumnKind, style: NumberStyle, text: Any, wrong: Any, row: int, say: Callable[[str], None]
) -> tuple[str, float]:
    """The unit that new cells are read in, and a further factor; units that cannot be converted are refused.

    Args:
        kind: of the column, as training had it.
        style: of the new cells.
        text: the new cells.
        wrong: which of them are not written as in training.
        row: number of the first cell's row.
        say: told what was used without conversion.
    """
    at = int(wrong.arg_true()[0])
    wanted, given, suffix = kind.unit, style.unit or style.money, style.suffix.strip()
    wanted = SIGNS.get(wanted, wanted)
    got = f"got {text[at]!r} in row {row + at}"
    if not given or given == wanted:
        return suffix, 1.0
    if wanted:
        if conversion(given, wanted) is not None:
            return wanted, 1.0
        raise ValueError(
            f"Column {kind.name!r} must hold numbers in {wanted}, as in training; {got}, and how to convert that is "
            f"not known. Convert it to {wanted} first."
        )
    if style.money:
        say(
            f"Column {kind.name!r} holds amounts in {given}, and plain numbers in training: they are taken as they are."
        )
        return suffix, 1.0
    share = conversion(given, "%")
    if share is not None and kind.span is not None and max(map(abs, kind.span)) <= 1:
        return "%", 0.01
    raise ValueError(
        f"Column {kind.name!r} must hold numbers without a unit, as in training; {got}. "
        "Convert it to what training had, and leave the unit out."
    )


def tell_units(
    kind: ColumnKind, style: NumberStyle, text: Any, values: Any, row: int, say: Callable[[str], None]
) -> None:
    """Say which units were converted; if any was, a number without a unit is refused."""
    behind = endings(text)
    found = behind.drop_nulls().unique(maintain_order=True).to_list()
    other = [unit for unit in found if unit and not (style.letter and split_ending(unit)[0])]
    other = [unit for unit in other if conversion(unit, kind.unit) != (1.0, 0.0)]
    if not other:
        return
    at = int((behind == other[0]).fill_null(False).arg_true()[0])
    if "" in found:
        bare = int((behind == "").fill_null(False).arg_true()[0])
        raise ValueError(
            f"Column {kind.name!r} must have a unit behind every number where some are in {other[0]}; "
            f"got {text[at]!r} and {text[bare]!r} in row {row + bare}. Write all units."
        )
    into = f"{values[at]:.4g} {kind.unit}".strip()
    say(f"Column {kind.name!r} holds numbers in {other[0]}, which are converted: {text[at]!r} is read as {into}.")


def refuse_fractions(kind: ColumnKind, cells: Any, values: Any, row: int) -> None:
    """Refuse plain numbers up to 1 where most percentages of training were above 1: they may be fractions."""
    if kind.unit != "%" or kind.span is None or kind.span[1] <= 1:
        return
    sizes = values.drop_nulls().abs()
    if not len(sizes) or sizes.max() > 1 or sizes.max() == 0:
        return
    at = int((values != 0).fill_null(False).arg_true()[0])
    raise ValueError(
        f"Column {kind.name!r} must hold percentages, as in training, where they went from {kind.span[0]:.4g} to "
        f"{kind.span[2]:.4g}; got {cells[at]!r} in row {row + at}, which may be a fraction or a small percentage. "
        "Multiply fractions by 100, and write the sign behind percentages."
    )
