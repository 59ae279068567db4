"""Tables in files or from standard input, read a chunk at a time: CSV and its relatives, JSON, Parquet, workbooks.

Cells of text files stay text here; `polyladder.tables.columns` says what they are. Needs polars.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from polyladder.files.unpack import reason, unpacked
from polyladder.tables.header_lines import PREVIEW, second_line
from polyladder.tables.json_rows import is_json, json_table
from polyladder.tables.sheet_rows import sheet_table
from polyladder.tables.spaced_text import row_names, spaced_blocks
from polyladder.tables.table import frame_columns, is_frame
from polyladder.tables.text_rows import LONGEST_ROW, TextLayout, TextRows, find_rows
from polyladder.tables.workbook import open_workbook

BLOCK = 2**23
"""Bytes of text read at once: 8 MiB, about 100,000 rows of ten numbers."""

SAMPLE = 2**16
"""Bytes of text, at least, that are inspected to find encoding, line ends and separator."""

PARQUET_ROWS = 100_000
"""Rows of a Parquet file read at once."""

MOST_COLUMNS = 2**15
"""Columns that a text table may have. Each costs 2 kB in a frame, however little it holds."""

MOST_CELLS = 2**20
"""Cells of a frame, including those that short rows lack; each costs 16 bytes."""

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of zip files."""

OLE = b"\xd0\xcf\x11\xe0"
"""First bytes of files of old office programs."""

SEPARATORS = (",", ";", "\t", "|")

QUOTED_CELL = re.compile(r'(?<![^,;\t|\r\n])"(?:[^"]++|"")*+(?:"|\Z)')


@dataclass(frozen=True)
class TableFile:
    """An open table.

    Attributes:
        label: what the file is called in messages.
        names: of the columns, all different; a column without a name is called by its position.
        chunks: polars frames with these columns, one after another; they can be read once.
        comma: whether a comma in a number marks its decimals or its thousands.
        notes: sentences about what was guessed or repaired; complete when all chunks are read.
    """

    label: str
    names: tuple[str, ...]
    chunks: Iterator[Any]
    comma: Literal["decimal", "thousands"]
    notes: list[str]

    def whole(self, least: int = 0) -> Any:
        """The rest of the table as one frame; refused where it has fewer rows than ``least``."""
        import polars as pl

        chunks = list(self.chunks)
        frame = pl.concat(chunks) if chunks else pl.DataFrame(schema=dict.fromkeys(self.names, pl.String))
        if len(frame) < min(least, 1):
            raise ValueError(f"{self.label} must hold rows under its header; there are none.")
        if len(frame) < least:
            raise ValueError(f"{self.label} must hold at least {least} rows; got {len(frame)}.")
        return frame

    def check_column(self, option: str, name: str) -> None:
        """Refuse the name of a column that is not there, and say which are."""
        if name in self.names:
            return
        near = difflib.get_close_matches(name, self.names, 1)
        listed = ", ".join(self.names[:12]) + (", ..." if len(self.names) > 12 else "")
        advice = f"Did you mean {near[0]!r}?" if near else f"Its columns are {listed}."
        raise ValueError(f"{option} must name a column of {self.label}; got {name!r}. {advice}")


def open_table(path: str | Path, block: int = BLOCK, sheet: str | None = None) -> TableFile:
    """Open a table.

    Args:
        path: a file, or "-" for standard input. Compression and kind are found by looking inside.
        block: bytes to read at once.
        sheet: of a workbook, its name or its number from 1; the first by default.
    """
    if str(path) == "-":
        given: Any = sys.stdin.buffer
        return open_stream(io.BufferedReader(given), None, "standard input", block, sheet)
    if not Path(path).exists():
        raise FileNotFoundError(f"{path} must be a file with a table; there is none.")
    if Path(path).is_dir():
        raise ValueError(f"{path} must be a file with a table; it is a folder.")
    return open_stream(Path(path).open("rb"), Path(path), str(path), block, sheet)


def open_stream(
    stream: io.BufferedReader, path: Path | None, label: str, block: int, sheet: str | None = None
) -> TableFile:
    """Open a table in a stream, which may have a path."""
    start = stream.peek(8)[:8]
    plain: IO[bytes] = stream
    if start.startswith(ZIP):
        # The index of a zip stands at its end: what comes through a pipe is held in memory.
        plain = stream if stream.seekable() else io.BytesIO(stream.read())
        found = open_sheet(plain, label, sheet)
        if found is not None:
            return found
        plain.seek(0)
    if start.startswith(OLE):
        raise ValueError(
            f"{label} must be .xlsx or CSV; it is an old .xls file or has a password. "
            "Save it as .xlsx without a password."
        )
    if sheet is not None:
        raise ValueError(f"--sheet must be left out for {label}, which is not a workbook; got {sheet!r}.")
    if not start.startswith(b"PAR1"):
        return open_text(plain, start, label, block)
    with stream:
        # The index of a Parquet file stands at its end, too.
        return open_parquet(path if path and stream.seekable() else io.BytesIO(stream.read()), label)


def open_sheet(stream: IO[bytes], label: str, sheet: str | None) -> TableFile | None:
    """Open a sheet of a workbook; None if the stream holds another zip."""
    book = open_workbook(stream, label)
    if book is None:
        return None
    notes: list[str] = []
    header, frames = sheet_table(book, sheet, MOST_COLUMNS, MOST_CELLS, notes)

    def closing() -> Iterator[Any]:
        with stream:
            yield from frames

    return titled(label, header, closing(), "thousands", notes)


def open_parquet(source: Path | IO[bytes], label: str) -> TableFile:
    """Open a Parquet file."""
    import polars as pl

    # A panic inside polars is not an Exception.
    damage = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
    try:
        lazy = pl.scan_parquet(source)
        names = tuple(lazy.collect_schema().names())
        count = lazy.select(pl.len()).collect().item()
        batches = iter(lazy.collect_batches(chunk_size=PARQUET_ROWS, maintain_order=True))
    except damage as error:
        raise ValueError(f"{label} cannot be read as Parquet: {reason(error)}.") from error

    def chunks() -> Iterator[Any]:
        rows = 0
        try:
            for batch in batches:
                rows += len(batch)
                yield batch
        except damage as error:
            raise ValueError(f"{label} cannot be read as Parquet after row {rows}: {reason(error)}.") from error
        if rows != count:
            raise ValueError(f"{label} must hold the {count:,} rows that its index states; got {rows:,}.")

    return TableFile(label, names, chunks(), "thousands", [])


def open_text(stream: IO[bytes], start: bytes, label: str, block: int) -> TableFile:
    """Open a text file with one row a line under a header; its first bytes tell how it is packed."""
    blocks, sample, encoding = utf8_blocks(unpacked(stream, start, label, block), label)
    notes = [] if encoding == "utf-8" else [f"The text is not UTF-8 and was read as {encoding}."]
    if is_json(sample):
        names, frames = json_table(blocks, label, MOST_CELLS)
        return TableFile(label, names, frames, "thousands", notes)
    separator, cr = find_separator(sample[:SAMPLE]), ends_at_cr(sample)
    named = None if separator or cr else row_names(sample[:SAMPLE])
    if named is not None:
        blocks, separator = spaced_blocks(blocks, named), " "
    layout = TextLayout(separator or ",", cr)
    header, rows = find_header(find_rows(blocks, layout, label), layout, label)
    frames = read_chunks(rows, len(header), layout.separator, label, notes)
    return titled(label, header, frames, "thousands" if layout.separator == "," else "decimal", notes)


def utf8_blocks(blocks: Iterator[bytes], label: str) -> tuple[Iterator[bytes], str, str]:
    """The text in blocks of UTF-8 without a byte order mark, its beginning, and the encoding that it had."""
    first: list[bytes] = []
    size, lines = 0, False
    while size < SAMPLE or (not lines and size < LONGEST_ROW):
        block = next(blocks, b"")
        if not block:
            break
        first.append(block)
        size, lines = size + len(block), lines or b"\n" in block or b"\r" in block
    start = b"".join(first)
    encoding, errors = find_encoding(start, size < SAMPLE, label)
    sample = start.decode(encoding, "ignore")

    def recoded() -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)(errors)
        read = 0
        for block in chain(first, blocks, [b""]):
            try:
                yield decoder.decode(block, final=not block).encode()
            except UnicodeDecodeError as error:
                at = read + len(block) - len(error.object) + error.start
                shown = encoding.removesuffix("-sig").upper()
                raise ValueError(
                    f"{label} must be {shown} text throughout; what follows its first {at:,} bytes is not. "
                    "Convert it to UTF-8."
                ) from error
            read += len(block)

    return recoded(), sample, encoding.removesuffix("-sig")


def find_encoding(start: bytes, whole: bool, label: str) -> tuple[str, Literal["strict", "replace"]]:
    """The encoding of a text from its beginning, and how its decoder treats unknown bytes."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "strict"
    if b"\0" in start:
        raise ValueError(f"{label} must be a table of text or Parquet; it holds binary data.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=whole and start[:-3].isascii())
    except UnicodeDecodeError:
        return "windows-1252", "replace"
    return "utf-8-sig", "strict"


def ends_at_cr(sample: str) -> bool:
    """Whether lines end at CR alone: there is one outside quotes, and no LF."""
    for text in (QUOTED_CELL.sub("", sample[:SAMPLE]), sample):
        if "\n" in text or "\r" in text:
            return "\n" not in text
    return False


def find_separator(sample: str) -> str:
    """The separator that cuts the first rows into equally many cells, and into the most; empty if none does."""
    lines = sample.strip(" \r\n")

    def score(separator: str) -> tuple[float, int]:
        found = csv.reader(io.StringIO(lines, newline=""), delimiter=separator)
        rows = list(islice((row for row in found if row), 50))
        width = len(rows[0]) if rows else 0
        return (sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0, width)

    best = max(SEPARATORS, key=score)
    return best if score(best)[0] else ""


def find_header(tables: Iterator[TextRows], layout: TextLayout, label: str) -> tuple[list[str], Iterator[TextRows]]:
    """The cells of the first row that is not blank, and the rows after it."""
    for rows in tables:
        for i in np.flatnonzero(~rows.blank).tolist():
            text = rows.part(i, i + 1)
            # A line of tabs may be a header without names.
            if not text.decode().strip() and b"\t" not in text:
                continue
            width = int(rows.cells[i])
            if width > MOST_COLUMNS:
                raise ValueError(f"{label} must have at most {MOST_COLUMNS:,} columns; got {width:,}. Leave some out.")
            cells = parse(text, width, layout.separator, np.ones(1, bool)).row(0)
            return [cell or "" for cell in cells], chain([rows.after(i + 1)], tables)
    raise ValueError(f"{label} must hold a header and rows; it is empty.")


def titled(
    label: str, header: list[str], frames: Iterator[Any], comma: Literal["decimal", "thousands"], notes: list[str]
) -> TableFile:
    """A table whose columns are named by its header, and by the first row where that belongs to the header.

    Args:
        label: what the file is called in messages.
        header: the cells of its first line.
        frames: of text cells, whose columns have no names yet.
        comma: what a comma in a number marks.
        notes: receives what was decided.
    """
    seen: list[Any] = []
    while sum(map(len, seen)) <= PREVIEW and (frame := next(frames, None)) is not None:
        if len(frame):
            seen.append(frame)
    below = [row for frame in seen for row in frame.head(PREVIEW + 1).rows()][: PREVIEW + 1]
    found = second_line(header, below)
    if found is not None:
        header, note = found
        notes.append(note)
        seen[0] = seen[0].slice(1)
    names, renamed = settle_names(header)
    notes += renamed

    def chunks() -> Iterator[Any]:
        for frame in chain(seen, frames):
            frame.columns = list(names)
            yield frame

    return TableFile(label, names, chunks(), comma, notes)


def settle_names(cells: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Different names for all columns: one without a name is called by its position, repeated names are numbered."""
    names: dict[str, None] = {}
    counts: dict[str, int] = {}
    notes = []
    for i, cell in enumerate(cells, 1):
        name = wanted = cell.strip() or f"column {i}"
        while name in names:
            counts[wanted] = counts.get(wanted, 1) + 1
            name = f"{wanted} ({counts[wanted]})"
        if name != wanted:
            notes.append(f"Two columns are called {wanted!r}; the later one is {name!r} here.")
        names[name] = None
    return tuple(names), notes


def read_chunks(tables: Iterator[TextRows], width: int, separator: str, label: str, notes: list[str]) -> Iterator[Any]:
    """Frames of text cells. Blank lines are rows only if there is one column; short rows are filled up."""
    count = short = blank = waiting = 0
    for rows in tables:
        is_row = ~rows.blank if width > 1 else np.ones(len(rows), bool)
        cells = rows.cells[is_row]
        if (cells > width).any():
            at = int(np.argmax(cells > width))
            raise ValueError(
                f"Row {count + at + 1} of {label} must have {width} cells as its header has; got {cells[at]}."
            )
        # Rows that lack most of their cells become frames much larger than their text.
        step = max(1, max(MOST_CELLS, len(rows.text) // 2) // width)
        for first in range(0, len(rows), step):
            last = min(first + step, len(rows))
            yield parse(rows.part(first, last), width, separator, is_row[first:last])
        if len(cells):
            # Blank lines at the end of a file are usual and not reported.
            after = int(np.argmax(is_row[::-1]))
            blank, waiting = blank + waiting + len(rows) - len(cells) - after, after
        else:
            waiting += len(rows)
        count, short = count + len(cells), short + int((cells < width).sum())
    if short:
        which = "1 row has" if short == 1 else f"{short:,} rows have"
        notes.append(f"{which} fewer cells than the header: the rest is read as missing.")
    if blank:
        notes.append(f"{'1 blank line is' if blank == 1 else f'{blank:,} blank lines are'} left out.")


def parse(text: bytes, width: int, separator: str, is_row: NDArray[np.bool_]) -> Any:
    """A frame of text cells, with missing ones at the end of short rows, of those lines that are rows."""
    import polars as pl

    # A first line of full width tells polars the number of columns, even if the first row is short.
    numbers = [str(i) for i in range(width)]
    header = separator.join(numbers).encode() + b"\n"
    schema = dict.fromkeys(numbers, pl.String)
    frame = pl.read_csv(header + text, schema=schema, separator=separator, infer_schema=False)
    assert len(frame) == len(is_row)
    return frame if is_row.all() else frame.filter(is_row)


def frame_file(frame: Any) -> TableFile:
    """A data frame as an open table."""
    import polars as pl

    if not isinstance(frame, pl.DataFrame):
        if not is_frame(frame):
            raise TypeError(f"table must be a path or a data frame; got {type(frame).__name__}.")
        columns = {name: column.tolist() for name, column in frame_columns(frame)}
        frame = pl.DataFrame(columns, strict=False)
    # What a file leaves empty is NaN in a frame of numbers.
    return TableFile("the table", tuple(frame.columns), iter([frame.fill_nan(None)]), "thousands", [])
