"""The rows of a sheet of a workbook, each cell as text: numbers as they are stored, dates as ISO dates."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from polyladder.files.xml_parts import LONGEST
from polyladder.tables.workbook import Workbook, unescaped

LETTERS = {chr(65 + i): i + 1 for i in range(26)}
Row = list[str | None]


def sheet_rows(book: Workbook, part: str, most_columns: int, notes: list[str]) -> Iterator[Row]:
    """The rows of a sheet while its XML is read, but for blank ones.

    Args:
        book: that the sheet is of.
        part: that holds the sheet.
        most_columns: that a row may have.
        notes: told, in the end, of formulas without a result.
    """
    row: Row = []
    column, spoken, without_result = -1, 0, 0
    kind = style = ""
    value: str | None = None
    formula = False
    for begins, name, attributes, text in book.elements(part):
        if name == "rPh":
            spoken += 1 if begins else -1
        elif begins and name == "row":
            row, column = [], -1
        elif begins and name == "c":
            place = attributes.get("r", "")
            column = column_number(place) if place else column + 1
            if not 0 <= column < most_columns:
                raise ValueError(
                    f"{book.label} must have at most {most_columns:,} columns; got a cell at {place or 'more'!r}."
                )
            kind, style = attributes.get("t", "n"), attributes.get("s", "0")
            value, formula = None, False
        elif begins:
            continue
        elif name == "v":
            value = text
        elif name == "t" and not spoken:
            value = (value or "") + text
            if len(value) > LONGEST:
                raise ValueError(f"{book.label} must have cells of at most {LONGEST:,} characters; got more.")
        elif name == "f":
            formula = True
        elif name == "c":
            without_result += formula and not value
            at = int(style) if style.isdecimal() and len(style) < 9 else 0
            cell = cell_text(book, kind, book.formats[at] if at < len(book.formats) else "", value)
            if cell is not None:
                row.extend([None] * (column + 1 - len(row)))
                row[column] = cell
        elif name == "row" and row:
            yield row
    if without_result:
        notes.append(
            f"{without_result:,} {'cell holds a formula' if without_result == 1 else 'cells hold formulas'} without a "
            "result: read as missing. Open the file in a spreadsheet program and save it."
        )


def column_number(place: str) -> int:
    """The number of a cell's column, from 0; -1 if there is none.

    >>> column_number("AB12")
    27
    """
    number = 0
    for letter in place[:4]:
        if letter not in LETTERS:
            break
        number = 26 * number + LETTERS[letter]
    return number - 1


def cell_text(book: Workbook, kind: str, form: str, value: str | None) -> str | None:
    """What a cell holds, as text."""
    if value is None or value == "":
        return None
    if kind == "s":
        at = int(value) if value.isdecimal() and len(value) < 9 else len(book.strings)
        if at >= len(book.strings):
            raise ValueError(
                f"{book.label} must be a whole workbook; it lacks the text {value!r} of a cell. Save it again."
            )
        return book.strings[at]
    if kind == "b":
        return "true" if value == "1" else "false"
    if kind == "n":
        return date_text(value, form, book.first_day) if form else value
    return unescaped(value)


def date_text(value: str, form: str, first_day: datetime.datetime) -> str:
    """Days since the first day as an ISO date or a time of day; numbers that are neither stay as they are."""
    try:
        days = float(value)
        moment = first_day + datetime.timedelta(seconds=round(days * 86_400))
    except (ValueError, OverflowError):
        return value
    if form == "time" and 0 <= days < 1:
        return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    midnight = moment.time() == datetime.time()
    return moment.date().isoformat() if midnight else moment.isoformat(" ")


def choose_sheet(book: Workbook, wanted: str | None) -> tuple[str, str]:
    """The name and the part of a sheet, by its name or its number from 1; the first by default."""
    names = [name for name, _ in book.sheets]
    if wanted is None:
        return book.sheets[0]
    if wanted in names:
        return book.sheets[names.index(wanted)]
    if wanted.isdecimal() and 1 <= int(wanted[:9]) <= len(names):
        return book.sheets[int(wanted) - 1]
    raise ValueError(
        f"--sheet must name a sheet of {book.label}, or be its number; got {wanted!r}. "
        f"Its sheets are {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}."
    )


def sheet_table(
    book: Workbook, wanted: str | None, most_columns: int, most_cells: int, notes: list[str]
) -> tuple[list[str], Iterator[Any]]:
    """The header of a sheet, and frames of its rows.

    Args:
        book: the workbook.
        wanted: name or number of the sheet; None for the first.
        most_columns: that a row may have.
        most_cells: of a frame.
        notes: receives which sheet was read and what was left out; complete when all frames are read.
    """
    name, part = choose_sheet(book, wanted)
    if wanted is None and len(book.sheets) > 1:
        notes.append(f"Read is the first of {len(book.sheets)} sheets, {name!r}; --sheet names another.")
    rows = sheet_rows(book, part, most_columns, notes)
    header = next(rows, None)
    first = next(rows, None)
    while header is not None and first is not None and filled(header) == 1 < filled(first):
        notes.append(f"The line {next(c for c in header if c)!r} above the table is a title and is left out.")
        header, first = first, next(rows, None)
    if header is None:
        raise ValueError(f"{book.label} must hold a header and rows; its sheet {name!r} is empty.")
    names = [cell or "" for cell in header]
    return names, frames(chain([] if first is None else [first], rows), book.label, len(names), most_cells)


def filled(row: Row) -> int:
    """How many cells of a row hold something."""
    return sum(cell is not None and bool(cell.strip()) for cell in row)


def frames(rows: Iterator[Row], label: str, width: int, most_cells: int) -> Iterator[Any]:
    """Frames of text cells, whose columns have no names yet."""
    import polars as pl

    count = 0
    while chunk := list(islice(rows, max(1, most_cells // width))):
        for i, row in enumerate(chunk, count + 1):
            if len(row) > width:
                raise ValueError(f"Row {i} of {label} must have {width} cells as its header has; got {len(row)}.")
        count += len(chunk)
        filled_up = [[*row, *[None] * (width - len(row))] for row in chunk]
        yield pl.DataFrame(filled_up, schema={str(i): pl.String for i in range(width)}, orient="row")
