"""Rows of a text table: found in blocks of bytes, with their quotes repaired and their cells counted.

A quote that begins a cell opens it until the next single quote, as in RFC 4180; elsewhere it is a character. Parsers
differ about everything else, so only text on which they agree is handed on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

LONGEST_ROW = 2**26
"""Bytes that a row may take: 64 MiB. It bounds the memory that an open quote can fill."""

PART = 2**19
MANY = 2**17
"""A block with more quotes and line ends than this is processed in parts of 512 KiB: each of them costs tens of
bytes."""

QUOTE, LF, CR = b'"\n\r'
QUOTED = re.compile(rb'"(?:[^"]++|"")*+"')


@dataclass(frozen=True)
class TextLayout:
    r"""How a text is cut into cells.

    Attributes:
        separator: between cells, one ASCII character.
        cr: whether rows end at CR, as on old Macs, and at LF; otherwise they end at LF or CRLF and a CR is a character.
    """

    separator: str
    cr: bool

    @cached_property
    def cell_end(self) -> re.Pattern[bytes]:
        """Finds the next end of a cell outside quotes."""
        return re.compile(b"[" + re.escape(self.separator.encode()) + (b"\r\n" if self.cr else b"\n") + b"]")

    def line_ends(self, text: bytes) -> int:
        """How many lines end in a text, also within quotes."""
        ends = text.count(b"\n")
        return ends + text.count(b"\r") - text.count(b"\r\n") if self.cr else ends

    def last_line_end(self, text: bytes, start: int, end: int) -> int:
        """Where the last line of a part of a text ends, -1 if none does."""
        at = text.rfind(b"\n", start, end)
        return max(at, text.rfind(b"\r", start, end)) if self.cr else at


@dataclass(frozen=True)
class TextRows:
    """Whole rows.

    Attributes:
        text: every row ends at LF or CRLF, every quote stands at the border of a cell or is doubled in a quoted one.
        ends: where the LF of each row is. Shape (n,).
        cells: how many each row has; 1 if it is blank. Shape (n,).
        blank: whether there is nothing in the row's line. Shape (n,).
    """

    text: bytes
    ends: NDArray[np.intp]
    cells: NDArray[np.intp]
    blank: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ends)

    def part(self, first: int, last: int) -> bytes:
        """The text of the rows from ``first`` up to, not including, ``last``, counted from 0."""
        return self.text[self.ends[first - 1] + 1 if first else 0 : self.ends[last - 1] + 1 if last else 0]

    def after(self, first: int) -> TextRows:
        """The rows from number ``first`` on, counted from 0."""
        skipped = len(self.text) - len(self.part(first, len(self)))
        return TextRows(self.text[skipped:], self.ends[first:] - skipped, self.cells[first:], self.blank[first:])


def find_rows(blocks: Iterator[bytes], layout: TextLayout, label: str) -> Iterator[TextRows]:
    """Whole rows, from blocks that may be cut anywhere."""
    rest, line = b"", 1
    for block in blocks:
        many = block.count(b'"') + block.count(b"\n") + block.count(b"\r") > MANY
        at = 0
        while at < len(block):
            # Double what is read, so that a long row is not parsed from its start too often.
            size = max(PART, len(rest)) if many else len(block)
            buffer = rest + block[at : at + size]
            at += size
            rows, rest = whole_rows(buffer, layout, label, line, final=False)
            line += layout.line_ends(buffer[: len(buffer) - len(rest)])
            if len(rest) > LONGEST_ROW:
                # If a quote was left open, this says where.
                whole_rows(rest, layout, label, line, final=True)
                raise ValueError(f"{label} must have rows of at most 64 MiB; a longer one begins in line {line}.")
            if len(rows):
                yield rows
    if rest:
        yield whole_rows(rest, layout, label, line, final=True)[0]


def whole_rows(buffer: bytes, layout: TextLayout, label: str, line: int, final: bool) -> tuple[TextRows, bytes]:
    """The whole rows at the start of a text, and what is left of it.

    Args:
        buffer: begins with a row.
        layout: how it is cut.
        label: what the file is called in messages.
        line: number of its first line.
        final: whether nothing follows, so that the last row needs no line end.
    """
    if b"\0" in buffer:
        at = line + layout.line_ends(buffer[: buffer.find(b"\0")])
        raise ValueError(f"{label} must be a table of text or Parquet; it holds binary data, first in line {at}.")
    held = b""
    if final:
        buffer += b"\n"
    elif layout.cr and buffer.endswith(b"\r"):
        # The LF of a CRLF may be the first byte of the next block.
        buffer, held = buffer[:-1], b"\r"
    if is_regular(buffer, layout):
        if final and buffer.count(b'"') % 2:
            raise left_open(buffer, last_opening(buffer), layout, label, line)
        text = buffer
    else:
        text, rest = mend_quotes(buffer, layout, label, line, final)
        held = rest + held
    return index_rows(text, layout, held)


def index_rows(text: bytes, layout: TextLayout, held: bytes) -> tuple[TextRows, bytes]:
    """The rows of a text with regular quotes, and what follows the last of them, with what was held back."""
    data = np.frombuffer(text, np.uint8)
    plain = ~in_quotes(data)
    if layout.cr and b"\r" in text:
        returns = (data == CR) & plain
        # Of a CRLF, the LF stays.
        kept = np.ones(len(data), bool)
        kept[:-1] = ~(returns[:-1] & (data[1:] == LF))
        data = np.where(returns, np.uint8(LF), data)[kept]
        plain = plain[kept]
        text = data.tobytes()
    ends = np.flatnonzero((data == LF) & plain)
    separators = np.flatnonzero((data == ord(layout.separator)) & plain)
    cut = int(ends[-1]) + 1 if len(ends) else 0
    lengths = np.diff(ends, prepend=-1) - 1
    blank = (lengths == 0) | ((lengths == 1) & (data[ends - 1] == CR))
    cells = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    return TextRows(text[:cut], ends, cells, blank), text[cut:] + held


def is_regular(text: bytes, layout: TextLayout) -> bool:
    """Whether quotes stand only where all parsers agree about them: around cells, and doubled within."""
    if b'"' not in text:
        return True
    data = np.frombuffer(text, np.uint8)
    border = np.zeros(256, bool)
    border[[QUOTE, LF, ord(layout.separator), *([CR] if layout.cr else [])]] = True
    wrong = ~border[data]
    quote = data == QUOTE
    quoted = in_quotes(data)
    if (quote[1:] & quoted[1:] & wrong[:-1]).any():
        return False
    behind = np.flatnonzero(quote[:-1] & ~quoted[:-1] & wrong[1:]) + 1
    # A closing quote may also stand before a CRLF, or before a CR that may become one.
    line_end = (data[np.minimum(behind + 1, len(data) - 1)] == LF) | (behind + 1 == len(data))
    return bool(((data[behind] == CR) & line_end).all())


def in_quotes(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """For each byte of a text with regular quotes whether it is quoted: an opening quote is, a closing one is not."""
    if QUOTE not in data:
        return np.zeros(len(data), bool)
    # An odd number of quotes has come; modulo 256 it is odd as well.
    return (np.cumsum(data == QUOTE, dtype=np.uint8) & 1).view(bool)


def last_opening(text: bytes) -> int:
    """Where the last quoted cell of a text with regular quotes begins."""
    data = np.frombuffer(text, np.uint8)
    opening = (data == QUOTE) & in_quotes(data)
    # The second of two quotes does not open a cell.
    opening[1:] &= data[:-1] != QUOTE
    return int(np.flatnonzero(opening)[-1])


def mend_quotes(buffer: bytes, layout: TextLayout, label: str, line: int, final: bool) -> tuple[bytes, bytes]:
    """The whole rows of a text with irregular quotes made regular, and what follows them.

    Quotes in the middle of a cell are characters; what follows a closing quote belongs to its cell.
    """
    separator = layout.separator.encode()
    mended = bytearray()
    # All before `copied` is in the repaired text, whose first `kept` bytes are whole rows: those before `row`.
    copied = kept = row = at = 0
    while True:
        quote = buffer.find(b'"', at)
        line_end = layout.last_line_end(buffer, at, quote if quote >= 0 else len(buffer))
        if line_end >= 0:
            row = line_end + 1
            mended += buffer[copied:row]
            copied, kept = row, len(mended)
        if quote < 0:
            break
        start = max(buffer.rfind(separator, at, quote), line_end) + 1
        body = QUOTED.match(buffer, quote) if start == quote else None
        if start == quote and body is None:
            if final:
                raise left_open(buffer, quote, layout, label, line)
            break
        found = layout.cell_end.search(buffer, quote if body is None else body.end())
        if found is None:
            break
        at = end = found.start()
        if not layout.cr and buffer[end - 1 : end + 1] == b"\r\n":
            end -= 1
        if body is None:
            cell = buffer[start:end]
        elif body.end() == end:
            continue
        elif layout.line_ends(body[0]):
            # Two rows that would become one: the second of these quotes was meant to open a cell.
            raise left_open(buffer, quote, layout, label, line)
        else:
            cell = body[0][1:-1].replace(b'""', b'"') + buffer[body.end() : end]
        mended += buffer[copied:start] + b'"' + cell.replace(b'"', b'""') + b'"'
        copied = end
    return bytes(mended[:kept]), buffer[row:]


def left_open(buffer: bytes, quote: int, layout: TextLayout, label: str, line: int) -> ValueError:
    """The sentence about a quote without an end."""
    at = line + layout.line_ends(buffer[:quote])
    return ValueError(
        f'{label} must close every quote that it opens; the one in line {at} is left open. Close it, or write "" '
        "for a quote within a quoted cell."
    )
