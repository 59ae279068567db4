"""Text tables whose columns are separated by one or more spaces."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from polyladder.tables.number_style import is_number

LINES = 50
"""Lines that are inspected."""

GAP = re.compile(rb'"(?:[^"\n]|"")*"|[ \t]+')
ENDS = re.compile(rb"(?m)^ | (?=\r?$)")


def row_names(sample: str) -> bool | None:
    """Whether rows start with a name that has no header, as R writes them; None where spaces do not separate columns.

    Spaces separate columns if all lines have equally many words, and two columns, or one of three, hold numbers.

    Args:
        sample: the beginning of a text; its last line may be cut.
    """
    lines = [line for line in sample.splitlines()[: LINES + 1] if line.strip()]
    if len(lines) > LINES or not sample.endswith(("\n", "\r")):
        lines = lines[:-1] if len(lines) > 2 else lines
    squeezed = [squeeze(line.encode()).decode() for line in lines]
    header, *rows = csv.reader(squeezed, delimiter=" ") if squeezed else [[]]
    width = len(rows[0]) if rows else 0
    if width < 2 or any(len(row) != width for row in rows) or len(header) not in (width, width - 1):
        return None
    numbers = sum(all(is_number(row[i]) for row in rows) for i in range(width))
    if numbers < (2 if width == 2 else 1):
        return None
    return len(header) < width


def spaced_blocks(blocks: Iterator[bytes], named: bool) -> Iterator[bytes]:
    """The text with one space between cells and none around lines; a header without a name for row names gets one."""
    rest = b"row " if named else b""
    for block in blocks:
        lines, found, rest = (rest + block).rpartition(b"\n")
        yield squeeze(lines + found)
    yield squeeze(rest)


def squeeze(text: bytes) -> bytes:
    """Whole lines with one space in place of several spaces or tabs, outside quotes."""
    if b'"' in text:
        single = GAP.sub(lambda found: found[0] if found[0].startswith(b'"') else b" ", text)
    else:
        single = re.sub(rb"[ \t]+", b" ", text)
    return ENDS.sub(b"", single)
