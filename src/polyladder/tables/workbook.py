"""Workbooks of spreadsheets (.xlsx): which sheets they have, the texts that cells share, and which numbers are dates.

They are read with the standard library, because other readers build a whole sheet in memory: a file of a few kilobytes
with one cell in its last corner makes them ask for gigabytes.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from polyladder.files.unpack import DAMAGE, file_blocks, reason
from polyladder.files.xml_parts import Event, elements

MOST_SHARED = 2**26
"""Characters of all texts that cells share, at most: they are held in memory."""

MOST_ENTRIES = 2**22
"""Shared texts, cell formats and sheets, at most this many of each."""

DATE_FORMATS = frozenset((*range(14, 18), 22, *range(27, 37), *range(50, 59)))
"""Numbers of formats for dates that every workbook knows."""

TIME_FORMATS = frozenset((*range(18, 22), 45, 47))
"""The same for times of day."""

NO_CODE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
"""Parts of a number format that are literal text or a color."""

MAIN, TARGETS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"


@dataclass(frozen=True, eq=False)
class Workbook:
    """An open workbook.

    Attributes:
        archive: the zip that it is.
        size: of that, in bytes.
        label: what it is called in messages.
        sheets: the name of each sheet that is shown, and the part that holds it.
        strings: texts that cells share.
        formats: for each format of cells "date", "time" or nothing.
        first_day: day 0 of its dates.
    """

    archive: zipfile.ZipFile
    size: int
    label: str
    sheets: tuple[tuple[str, str], ...]
    strings: list[str]
    formats: list[str]
    first_day: datetime.datetime

    def elements(self, part: str) -> Iterator[Event]:
        """What begins and ends in a part."""
        if part not in self.archive.namelist():
            raise ValueError(f"{self.label} must be a whole workbook; it lacks its part {part!r}. Save it again.")
        return elements(file_blocks(self.archive, part, self.size, self.label), self.label)


def open_workbook(stream: IO[bytes], label: str) -> Workbook | None:
    """The workbook in a stream that can be read anywhere; None if it is another zip."""
    try:
        archive = zipfile.ZipFile(stream)
        names = archive.namelist()
    except DAMAGE as error:
        raise ValueError(f"{label} cannot be read as a zip: {reason(error)}.") from error
    if "content.xml" in names and "mimetype" in names:
        raise ValueError(f"{label} must be .xlsx or CSV; it is an OpenDocument file. Save it as .xlsx.")
    if "xl/workbook.bin" in names:
        raise ValueError(f"{label} must be .xlsx or CSV; it is a binary workbook. Save it as .xlsx.")
    if "[Content_Types].xml" in names and MAIN not in names:
        raise ValueError(
            f"{label} must be .xlsx or CSV; it is a file of an office program without {MAIN}. Save it as .xlsx."
        )
    if MAIN not in names:
        return None
    bare = Workbook(archive, stream.seek(0, io.SEEK_END), label, (), [], [], datetime.datetime(1899, 12, 30))
    targets = relations(bare)
    sheets, later = sheets_of(bare, targets)
    found = {kind: part for kind, part in targets.values() if part in names}
    strings = shared_strings(bare, found["sharedStrings"]) if "sharedStrings" in found else []
    formats = cell_formats(bare, found["styles"]) if "styles" in found else []
    first_day = datetime.datetime(1904, 1, 1) if later else bare.first_day
    return Workbook(archive, bare.size, label, sheets, strings, formats, first_day)


def relations(book: Workbook) -> dict[str, tuple[str, str]]:
    """The parts that a workbook refers to: by their names, their kinds and where they are."""
    found: dict[str, tuple[str, str]] = {}
    for begins, name, attributes, _ in book.elements(TARGETS):
        if begins and name == "Relationship":
            check_count(book, found)
            place = posixpath.normpath(posixpath.join("/xl", attributes.get("Target", ""))).lstrip("/")
            found[attributes.get("Id", "")] = (attributes.get("Type", "").rpartition("/")[2], place)
    return found


def sheets_of(book: Workbook, targets: dict[str, tuple[str, str]]) -> tuple[tuple[tuple[str, str], ...], bool]:
    """Names and parts of the sheets that are shown, in their order, and whether days are counted from 1904."""
    found: list[tuple[str, str]] = []
    later = False
    for begins, name, attributes, _ in book.elements(MAIN):
        later |= name == "workbookPr" and attributes.get("date1904", "0") in ("1", "true")
        if begins and name == "sheet" and attributes.get("state", "visible") == "visible":
            check_count(book, found)
            identity = next((v for k, v in attributes.items() if k.rpartition(":")[2] == "id"), "")
            kind, part = targets.get(identity, ("", ""))
            if kind == "worksheet":
                found.append((attributes.get("name", ""), part))
    if not found:
        raise ValueError(f"{book.label} must have a sheet of cells; it has none.")
    return tuple(found), later


def shared_strings(book: Workbook, part: str) -> list[str]:
    """The texts that cells share, with differently formatted runs joined and phonetic hints left out."""
    found: list[str] = []
    pieces: list[str] = []
    spoken, size = 0, 0
    for begins, name, _, text in book.elements(part):
        if name == "rPh":
            spoken += 1 if begins else -1
        elif begins:
            continue
        elif name == "t" and not spoken:
            size += len(text)
            pieces.append(text)
        elif name == "si":
            check_count(book, found)
            found.append(unescaped("".join(pieces)))
            pieces.clear()
        if size > MOST_SHARED or len(pieces) > MOST_ENTRIES:
            raise ValueError(
                f"{book.label} must have at most {MOST_SHARED:,} characters of text; got more. Save it as CSV."
            )
    return found


def unescaped(text: str) -> str:
    """A text with the characters that XML cannot hold.

    >>> unescaped("two_x000A_lines")
    'two\\nlines'
    """
    return re.sub(r"_x(?!D[89A-F])([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def cell_formats(book: Workbook, part: str) -> list[str]:
    """For each format of cells whether its numbers are dates or times of day."""
    own: dict[str, str] = {}
    found: list[str] = []
    inside = False
    for begins, name, attributes, _ in book.elements(part):
        if name == "cellXfs":
            inside = begins
        elif begins and name == "numFmt":
            check_count(book, own)
            own[attributes.get("numFmtId", "")] = kind_of_code(attributes.get("formatCode", ""))
        elif begins and name == "xf" and inside:
            check_count(book, found)
            number = attributes.get("numFmtId", "0")
            known = int(number) if number.isdecimal() and len(number) < 6 else 0
            found.append(own.get(number, "date" if known in DATE_FORMATS else "time" if known in TIME_FORMATS else ""))
    return found


def kind_of_code(code: str) -> str:
    """Whether a number format shows a date, a time of day, or neither; spans of time ([h]:mm) are numbers.

    >>> [kind_of_code(code) for code in ("dd/mm/yyyy", "hh:mm", "[h]:mm", '0.00 "days"')]
    ['date', 'time', '', '']
    """
    if re.search(r"\[(h+|m+|s+)\]", code, re.IGNORECASE):
        return ""
    bare = NO_CODE.sub("", code).lower().split(";")[0]
    if re.search(r"[yd]|mmm", bare):
        return "date"
    return "time" if re.search(r"[hs]", bare) else "date" if "m" in bare else ""


def check_count(book: Workbook, found: Any) -> None:
    """Refuse lists that are too long."""
    if len(found) >= MOST_ENTRIES:
        raise ValueError(
            f"{book.label} must have at most {MOST_ENTRIES:,} texts and formats; got more. Save it as CSV."
        )
