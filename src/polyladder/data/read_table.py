"""Tables in files, read a chunk at a time: CSV and its relatives, plain or compressed, Parquet, or standard input.

Cells of text files stay text here; `polyladder.data.columns` says what they are. Needs polars.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

BLOCK = 2**23
"""Bytes of text read at once: 8 MiB, about 100,000 rows of ten numbers."""

PARQUET_ROWS = 100_000
"""Rows of a Parquet file read at once."""

LONGEST_CELL = 2**26
"""Bytes without the end of a row after which a quote must have been left open."""

SEPARATORS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class TableFile:
    """An open table.

    Attributes:
        label: what the file is called in messages.
        names: of the columns, all different; a column without a name is called by its position.
        chunks: polars frames with these columns, one after another; they can be read once.
        comma: whether a comma in a number marks its decimals or its thousands.
        notes: sentences about what was guessed or mended.
    """

    label: str
    names: tuple[str, ...]
    chunks: Iterator[Any]
    comma: Literal["decimal", "thousands"]
    notes: tuple[str, ...]

    def whole(self) -> Any:
        """The rest of the table as one frame."""
        import polars as pl

        chunks = list(self.chunks)
        return pl.concat(chunks) if chunks else pl.DataFrame(schema=dict.fromkeys(self.names, pl.String))


def open_table(path: str | Path, block: int = BLOCK) -> TableFile:
    """Open a table.

    Args:
        path: a file, or "-" for standard input. Compression and kind are found by looking inside.
        block: bytes to read at once.
    """
    if str(path) == "-":
        given: Any = sys.stdin.buffer
        return open_stream(io.BufferedReader(given), "standard input", block)
    if not Path(path).exists():
        raise FileNotFoundError(f"{path} must be a file with a table; there is none.")
    if Path(path).is_dir():
        raise ValueError(f"{path} must be a file with a table; it is a folder.")
    return open_stream(Path(path).open("rb"), str(path), block)


def open_stream(stream: IO[bytes], label: str, block: int) -> TableFile:
    """Open a table in a stream that can be peeked into."""
    start = stream.peek(8)[:8]  # type: ignore[attr-defined]
    if start.startswith(b"PAR1"):
        return open_parquet(stream, label)
    return open_text(decompressed(stream, start, label), label, block)


def decompressed(stream: IO[bytes], start: bytes, label: str) -> IO[bytes]:
    """The stream without the compression that its first bytes tell of."""
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream)  # type: ignore[return-value]
    if start.startswith(b"BZh"):
        return bz2.BZ2File(stream)
    if start.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(stream)
    if start.startswith(b"PK\x03\x04"):
        archive = zipfile.ZipFile(stream if stream.seekable() else io.BytesIO(stream.read()))
        files = [name for name in archive.namelist() if not name.endswith("/")]
        if len(files) != 1:
            raise ValueError(f"{label} must hold one file to be read as a table; got {len(files)}. Take one out of it.")
        return archive.open(files[0])
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        raise ValueError(
            f"{label} must be plain, gzip, bzip2, xz or zip; it is compressed by zstd. Decompress it first."
        )
    return stream


def open_parquet(stream: IO[bytes], label: str) -> TableFile:
    """Open a Parquet file; one that comes through a pipe is held in memory, as its index stands at its end."""
    import polars as pl

    try:
        lazy = pl.scan_parquet(stream.name if stream.seekable() else io.BytesIO(stream.read()))
        names = tuple(lazy.collect_schema().names())
        chunks = lazy.collect_batches(chunk_size=PARQUET_ROWS, maintain_order=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise ValueError(f"{label} cannot be read as Parquet: {first_sentence(error)}.") from error
    return TableFile(label, names, iter(chunks), "thousands", ())


def open_text(stream: IO[bytes], label: str, block: int) -> TableFile:
    """Open a text file with one row a line under a header."""
    blocks, encoding = utf8_blocks(stream, label, block)
    buffer = next(blocks, b"")
    while buffer and not header_end(buffer):
        more = next(blocks, b"")
        if not more or len(buffer) > LONGEST_CELL:
            break
        buffer += more
    if not buffer.strip():
        raise ValueError(f"{label} must hold a header and rows; it is empty.")
    end = header_end(buffer) or len(buffer)
    separator = find_separator(buffer[: 2**16])
    cells = next(csv.reader(io.StringIO(buffer[:end].decode(), newline=""), delimiter=separator))
    names, notes = settle_names(cells)
    if encoding != "utf-8":
        notes.insert(0, f"The text is not UTF-8 and was read as {encoding}.")
    chunks = read_chunks(blocks, buffer[end:], names, separator, label)
    return TableFile(label, names, chunks, "thousands" if separator == "," else "decimal", tuple(notes))


def utf8_blocks(stream: IO[bytes], label: str, size: int) -> tuple[Iterator[bytes], str]:
    """The text in blocks of UTF-8 without a byte order mark, and the encoding that it had."""
    try:
        first = stream.read(size)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise ValueError(f"{label} cannot be decompressed: {first_sentence(error)}.") from error
    encoding = "utf-8"
    if first.startswith(codecs.BOM_UTF8):
        first = first.removeprefix(codecs.BOM_UTF8)
    elif first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif b"\0" in first:
        raise ValueError(f"{label} must be a table of text or Parquet; it holds binary data.")
    else:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(first)
        except UnicodeDecodeError:
            encoding = "windows-1252"

    def blocks() -> Iterator[bytes]:
        decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)("replace")
        block = first
        try:
            with stream:
                while block:
                    yield block if decoder is None else decoder.decode(block).encode()
                    block = stream.read(size)
        except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, zipfile.zlib.error) as error:  # type: ignore[attr-defined]
            raise ValueError(f"{label} cannot be decompressed: {first_sentence(error)}.") from error

    return blocks(), encoding


def header_end(buffer: bytes) -> int:
    """Where the first row ends, 0 if it does not: at the first line break outside quotes."""
    at = -1
    quotes = 0
    while True:
        start, at = at + 1, buffer.find(b"\n", at + 1)
        if at < 0:
            return 0
        quotes += buffer.count(b'"', start, at)
        # A file may begin with empty lines.
        if quotes % 2 == 0 and buffer[:at].strip():
            return at + 1


def last_end(buffer: bytes) -> int:
    """Where the last whole row ends, 0 if there is none: at the last line break outside quotes."""
    quotes, end = buffer.count(b'"'), len(buffer)
    while True:
        at = buffer.rfind(b"\n", 0, end)
        if at < 0:
            return 0
        quotes -= buffer.count(b'"', at, end)
        if quotes % 2 == 0:
            return at + 1
        end = at


def find_separator(sample: bytes) -> str:
    """The separator that cuts the first rows into equally many cells, and into the most."""
    lines = sample[: last_end(sample) or len(sample)].decode(errors="replace").strip()

    def score(separator: str) -> tuple[float, int]:
        rows = [row for row in csv.reader(io.StringIO(lines, newline=""), delimiter=separator) if row][:50]
        width = len(rows[0])
        return (sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0, width)

    try:
        return max(SEPARATORS, key=score)
    except csv.Error:
        return ","


def settle_names(cells: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names that are all different: those without one are called by their position, repeated ones are numbered."""
    names: list[str] = []
    notes = []
    for i, cell in enumerate(cells, 1):
        name = cell.strip() or f"column {i}"
        count = 2
        while name in names:
            name, count = f"{cell.strip()} ({count})", count + 1
        if cell.strip() and name != cell.strip():
            notes.append(f"Two columns are called {cell.strip()!r}; the later one is {name!r} here.")
        names.append(name)
    return tuple(names), notes


def read_chunks(
    blocks: Iterator[bytes], rest: bytes, names: tuple[str, ...], separator: str, label: str
) -> Iterator[Any]:
    """Frames of text cells, from blocks of bytes that are cut between rows."""
    row = 1
    for block in blocks:
        buffer = rest + block
        end = last_end(buffer)
        rest = buffer[end:]
        if len(rest) > LONGEST_CELL:
            raise ValueError(f"{label} has a row longer than 64 MiB after row {row}; a quote must have been left open.")
        if end:
            chunk = parse(buffer[:end], names, separator, row, label)
            row += len(chunk)
            yield chunk
    # Empty lines at the end are no rows.
    rest = rest.rstrip(b"\r\n") if len(names) > 1 else rest
    if rest.strip(b"\r\n"):
        yield parse(rest, names, separator, row, label)


def parse(block: bytes, names: tuple[str, ...], separator: str, row: int, label: str) -> Any:
    """A frame of text cells. ``row`` is the number of the first row, for messages."""
    import polars as pl

    schema = dict.fromkeys(names, pl.String)
    try:
        return pl.read_csv(block, has_header=False, schema=schema, separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        # Short rows, or quotes in the middle of a cell: slower, more patient, and able to say where it went wrong.
        return pl.DataFrame(patient_rows(block, len(names), separator, row, label), schema=schema, orient="row")


def patient_rows(block: bytes, width: int, separator: str, row: int, label: str) -> list[list[str | None]]:
    """The cells of each row; short rows are filled up."""
    rows: list[list[str | None]] = []
    try:
        text = io.StringIO(block.decode(), newline="")
        for cells in csv.reader(text, delimiter=separator):
            if len(cells) > width:
                raise ValueError(
                    f"Row {row + len(rows)} of {label} must have {width} cells as its header has; got {len(cells)}."
                )
            rows.append([*cells, *[None] * (width - len(cells))])
    except csv.Error as error:
        raise ValueError(f"Row {row + len(rows)} of {label} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{label} must be UTF-8 text throughout; rows after {row} are not.") from error
    return rows


def first_sentence(error: BaseException) -> str:
    """What an error says first, without its stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
