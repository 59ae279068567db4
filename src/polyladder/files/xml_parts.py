"""XML from untrusted sources, read a block at a time: no declarations, and limits on depth and text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple
from xml.parsers import expat

from polyladder.files.unpack import reason

DEEPEST = 60
"""Elements within each other."""

LONGEST = 2**21
"""Characters of one element's text: a cell of a spreadsheet holds at most 32,767."""

AT_ONCE = 2**13
"""Bytes whose elements are held at once."""


class Event(NamedTuple):
    """An element begins, with its attributes, or ends, with its text.

    Its name comes without the prefix of a namespace. If elements interrupt a text, only the part after the last of them
    counts.
    """

    begins: bool
    name: str
    attributes: Mapping[str, str]
    text: str


def elements(blocks: Iterable[bytes], label: str) -> Iterator[Event]:
    """Everything that begins or ends in a document; what is not XML is refused with a sentence.

    Args:
        blocks: of the document, cut anywhere.
        label: what the file is called in messages.
    """
    found: list[Event] = []
    pieces: list[str] = []
    depth = length = 0

    def began(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, length
        depth, length = depth + 1, 0
        pieces.clear()
        if depth > DEEPEST:
            raise ValueError(f"{label} must have at most {DEEPEST} elements within each other; got more.")
        found.append(Event(True, name.rpartition(":")[2], attributes, ""))

    def ended(name: str) -> None:
        nonlocal depth, length
        found.append(Event(False, name.rpartition(":")[2], {}, "".join(pieces)))
        depth, length = depth - 1, 0
        pieces.clear()

    def read(text: str) -> None:
        nonlocal length
        length += len(text)
        if length > LONGEST:
            raise ValueError(f"{label} must have cells of at most {LONGEST:,} characters; got more.")
        pieces.append(text)

    def declared(*_: Any) -> None:
        raise ValueError(f"{label} must be a workbook without XML declarations; it has one. Save it again.")

    # Spreadsheets write UTF-8; other encodings are not supported.
    parser: Any = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = began, ended, read
    # Entities are declared there, and entities can expand without limit.
    parser.StartDoctypeDeclHandler = declared
    pieces_of = (block[at : at + AT_ONCE] for block in blocks for at in range(0, len(block), AT_ONCE))
    for piece in chain(pieces_of, [b""]):
        try:
            parser.Parse(piece, not piece)
        except expat.ExpatError as error:
            raise ValueError(f"{label} cannot be read as a workbook: {reason(error)}.") from error
        yield from found
        found.clear()
