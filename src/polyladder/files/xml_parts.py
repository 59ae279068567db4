"""XML from untrusted sources, read a block at a time: no declarations, and limits on depth and text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from xml.parsers import expat

from polyladder.files.unpack import reason

DEEPEST = 60
"""Elements within each other."""

LONGEST = 2**21
"""Characters of one element's text: a cell of a spreadsheet holds at most 32,767."""

Start = Callable[[str, dict[str, str]], object]
End = Callable[[str, str], object]


class Parts:
    """Reports every element of a document when it begins and, with its text, when it ends.

    Names come without their namespace's prefix. If elements interrupt a text, only the part after the last of them
    counts.

    Args:
        label: what the file is called in messages.
        start: told the name and the attributes.
        end: told the name and the text.
    """

    def __init__(self, label: str, start: Start, end: End) -> None:
        self.label, self.start, self.end = label, start, end
        self.depth = self.length = 0
        self.text: list[str] = []
        # Spreadsheets write UTF-8; other encodings are not supported.
        self.parser: Any = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.began
        self.parser.EndElementHandler = self.ended
        self.parser.CharacterDataHandler = self.read
        # Entities are declared there, and entities can expand without limit.
        self.parser.StartDoctypeDeclHandler = self.declared

    def feed(self, block: bytes, last: bool = False) -> None:
        """Read on; what is not XML is refused with a sentence."""
        try:
            self.parser.Parse(block, last)
        except expat.ExpatError as error:
            raise ValueError(f"{self.label} cannot be read as a workbook: {reason(error)}.") from error

    def began(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise ValueError(f"{self.label} must have at most {DEEPEST} elements within each other; got more.")
        self.text, self.length = [], 0
        self.start(name.rpartition(":")[2], attributes)

    def ended(self, name: str) -> None:
        """An element ends."""
        self.depth -= 1
        self.end(name.rpartition(":")[2], "".join(self.text))
        self.text, self.length = [], 0

    def read(self, text: str) -> None:
        """Text of the current element."""
        self.length += len(text)
        if self.length > LONGEST:
            raise ValueError(f"{self.label} must have cells of at most {LONGEST:,} characters; got more.")
        self.text.append(text)

    def declared(self, *_: Any) -> None:
        """A document type is declared."""
        raise ValueError(f"{self.label} must be a workbook without XML declarations; it has one. Save it again.")


def read_parts(blocks: Iterable[bytes], label: str, start: Start, end: End) -> None:
    """Read a whole document; see `Parts`."""
    parts = Parts(label, start, end)
    for block in blocks:
        parts.feed(block)
    parts.feed(b"", last=True)
