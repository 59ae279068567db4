"""Tables of JSON: one object a line, or a list of objects. Cells become text, as those of CSV are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from polyladder.tables.text_rows import LONGEST_ROW

FIRST_ROWS = 10_000
"""Rows whose keys are the columns; a later row must not have another."""

CHUNK_ROWS = 50_000
"""Rows of a frame, at most."""

START = re.compile(r'\s*(?:\{\s*(?:"|\})|\[\s*\{)')

Row = dict[str, str | None]


def is_json(sample: str) -> bool:
    """Whether a text begins as an object, or as a list of them."""
    return START.match(sample) is not None


def json_table(blocks: Iterator[bytes], label: str, most_cells: int) -> tuple[tuple[str, ...], Iterator[Any]]:
    """The names of the columns, in the order in which they come, and frames of text cells.

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
    """Frames of so many rows; a key that the first rows do not have is refused."""
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
        found = loads(b"".join(texts), label, "")
        for i, each in enumerate(found if isinstance(found, list) else [found], 1):
            yield cells(each, label, f"entry {i:,}")
        return
    for number, line in enumerate(lines(texts, label), 1):
        if line.strip():
            yield cells(loads(line, label, f" in line {number:,}"), label, f"line {number:,}")


def lines(blocks: Iterator[bytes], label: str) -> Iterator[bytes]:
    """The lines of a text that comes in blocks."""
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
        if len(rest) > LONGEST_ROW:
            raise ValueError(f"{label} must have one object a line, of at most 64 MiB; got a longer line.")
    yield rest


def loads(text: bytes, label: str, where: str) -> Any:
    """JSON with its numbers as they are written."""
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=pairs)
    except RecursionError as error:
        raise ValueError(f"{label} must hold objects of texts and numbers; got deep nesting{where}.") from error
    except ValueError as error:
        said = str(error).split(": line", maxsplit=1)[0]
        raise ValueError(
            f"{label} must hold one JSON object a line, or a list of objects; {said[:1].lower()}{said[1:]}{where}."
        ) from error


def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, no key of which comes twice."""
    made = dict(found)
    if len(made) < len(found):
        raise ValueError("a key comes twice")
    return made


def cells(found: Any, label: str, where: str) -> Row:
    """The cells of an object as text, null for what is missing."""
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
