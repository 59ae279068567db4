"""Tables of JSON: one object a line, or a list of objects. Cells become text, as those of CSV are."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from polyladder.tables.text_rows import LONGEST_ROW

FIRST_ROWS = 10_000
"""Rows whose keys become the columns; a later row must not have any other key."""

CHUNK_ROWS = 50_000
"""Rows of a frame, at most."""

WHITE = " \t\r\n"
SPACE = re.compile(rf"[{WHITE}]*")
START = re.compile(r'\s*(?:\{\s*(?:"|\})|\[\s*\{)')

Row = dict[str, str | None]


def is_json(sample: str) -> bool:
    """Whether a text begins as an object, or as a list of them."""
    return START.match(sample) is not None


def json_table(blocks: Iterator[bytes], label: str, most_cells: int) -> tuple[tuple[str, ...], Iterator[Any]]:
    """The names of the columns, in the order of their first use, and frames of text cells.

    Args:
        blocks: of UTF-8.
        label: what the file is called in messages.
        most_cells: of a frame.
    """
    rows = json_rows(blocks, label)
    first = list(islice(rows, FIRST_ROWS))
    names = tuple(dict.fromkeys(name for row in first for name in row))
    if not names:
        raise ValueError(f"{label} must hold objects with keys, which are its columns; there are none.")
    return names, frames(chain(first, rows), names, label, max(1, min(CHUNK_ROWS, most_cells // len(names))))


def frames(rows: Iterator[Row], names: tuple[str, ...], label: str, size: int) -> Iterator[Any]:
    """Frames of the rows; a key that the first rows do not have is refused."""
    import polars as pl

    count = 0
    while chunk := list(islice(rows, size)):
        for i, row in enumerate(chunk, count + 1):
            if not row.keys() <= set(names):
                other = next(name for name in row if name not in names)
                raise ValueError(
                    f"Row {i:,} of {label} must have keys that the first {FIRST_ROWS:,} rows have; got {other!r}. "
                    "Put a row with all keys first."
                )
        count += len(chunk)
        yield pl.DataFrame(
            {name: [row.get(name) for row in chunk] for name in names}, schema=dict.fromkeys(names, pl.String)
        )


def json_rows(blocks: Iterator[bytes], label: str) -> Iterator[Row]:
    """The objects, each with its cells as text."""
    first = b""
    for block in blocks:
        first += block
        if first.strip():
            break
    texts = chain([first], blocks)
    if first.lstrip().startswith(b"["):
        for number, found in enumerate(listed(texts, label), 1):
            yield cells(found, label, f"entry {number:,}")
        return
    for number, line in enumerate(lines(texts, label), 1):
        if line.strip():
            yield cells(decoded(line, label, f"line {number:,}"), label, f"line {number:,}")


def lines(blocks: Iterator[bytes], label: str) -> Iterator[str]:
    """The lines of a text that comes in blocks."""
    rest = b""
    for block in blocks:
        text, start = rest + block, 0
        while (end := text.find(b"\n", start)) >= 0:
            yield text[start:end].decode()
            start = end + 1
        rest = text[start:]
        if len(rest) > LONGEST_ROW:
            raise ValueError(f"{label} must have one object a line, of at most 64 MiB; got a longer line.")
    yield rest.decode()


def decoded(line: str, label: str, where: str) -> Any:
    """The value that a line is, and nothing else."""
    try:
        found, end = DECODER.raw_decode(line, len(line) - len(line.lstrip()))
        if line[end:].strip():
            raise ValueError("there is more than one object")
    except (ValueError, RecursionError) as error:
        raise no_json(error, label, where) from error
    return found


def listed(blocks: Iterator[bytes], label: str) -> Iterator[Any]:
    """The entries of a list, each as soon as it is whole: a list takes no more memory than its longest entry."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    text, at, number, more = "", 0, 0, True
    while True:
        try:
            found = entry(text, at, "," if number else "[")
            if found is None:
                break
            if found[1] == len(text) and more:
                raise ValueError("it ends too early")
            yield found[0]
            at, number = found[1], number + 1
        except (ValueError, RecursionError) as error:
            if not more or isinstance(error, RecursionError) or len(text) - at > LONGEST_ROW:
                raise no_json(error, label, f"entry {number + 1:,}") from error
            # Double what is read, so that a long entry is not parsed from its start too often.
            pieces, size = [text[at:]], len(text) - at
            while more and size >= 0:
                block = next(blocks, b"")
                more, size = bool(block), size - len(block) - 1
                pieces.append(decoder.decode(block, final=not more))
            text, at = "".join(pieces), 0
    rest = chain([text[at:].lstrip(WHITE)[1:]], (block.decode(errors="replace") for block in blocks))
    if any(piece.strip(WHITE) for piece in rest):
        raise no_json(ValueError("something follows the list"), label, f"entry {number + 1:,}")


def entry(text: str, at: int, mark: str) -> tuple[Any, int] | None:
    """The value behind a mark, and where it ends; None where the list ends."""
    start = SPACE.match(text, at).end()  # type: ignore[union-attr]
    found = text[start : start + 1]
    if found == "]" and mark == ",":
        return None
    if found != mark:
        raise ValueError(f"expecting {mark!r}")
    value, end = DECODER.raw_decode(text, SPACE.match(text, start + 1).end())  # type: ignore[union-attr]
    return value, end


def no_json(error: BaseException, label: str, where: str) -> ValueError:
    """The sentence about a text that is not JSON."""
    if isinstance(error, RecursionError):
        return ValueError(f"{label} must hold objects of texts and numbers; got deep nesting in {where}.")
    said = str(error).split(": line", maxsplit=1)[0]
    return ValueError(
        f"{label} must hold one JSON object a line, or a list of objects; {said[:1].lower()}{said[1:]} in {where}."
    )


def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different."""
    made = dict(found)
    if len(made) < len(found):
        raise ValueError("a key comes twice")
    return made


DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=pairs)
"""Numbers stay as they are written."""


def cells(found: Any, label: str, where: str) -> Row:
    """The cells of an object as text, with null for missing ones."""
    if not isinstance(found, dict):
        raise ValueError(f"{label} must hold objects; got {str(found)[:40]!r} in {where}.")
    made: Row = {}
    for name, value in found.items():
        if isinstance(value, dict | list):
            what = "an object" if isinstance(value, dict) else "a list"
            raise ValueError(
                f"{label} must hold numbers, texts, true, false or null under each key; got {what} under {name!r} in "
                f"{where}. Write its parts under keys of their own."
            )
        made[name] = value if value is None or isinstance(value, str) else str(value).lower()
    if not (text := "".join([*made, *(value or "" for value in made.values())])).isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"{label} must hold whole characters; got half of one in {where}.") from error
    return made
