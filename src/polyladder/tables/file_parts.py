"""Tables in files that are larger than memory: read in chunks, again in every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polyladder.tables.columns import ColumnKind, convert
from polyladder.tables.number_style import Comma
from polyladder.tables.partitions import Part, row_keys
from polyladder.tables.table_file import TableFile, open_table
from polyladder.tables.totals import refuse_totals

COPIES = 40
"""Copies of a table's numbers that a fit in memory, selection included, holds at its peak. A rough guess: 200,000 rows
of 20 columns took 3 GiB, of which the libraries take half, or about 75 copies."""

TEXT_BYTES = 18
"""Bytes of memory that a byte of text needs in such a fit: a number takes about 18 characters."""


def table_files(path: str | Path) -> list[Path]:
    """A file, or all Parquet files of a folder and its subfolders, sorted by name."""
    place = Path(path)
    if not place.is_dir():
        return [place]
    found = sorted(place.rglob("*.parquet"))
    if not found:
        raise ValueError(f"{path} must be a file or hold Parquet files; it is a folder without any.")
    return found


def bytes_in_memory(path: str | Path) -> int:
    """Roughly what a fit in memory would need at its peak."""
    import polars as pl

    total = 0
    for file in table_files(path):
        with file.open("rb") as stream:
            packed = stream.read(4) == b"PAR1"
        try:
            if packed:
                lazy = pl.scan_parquet(file)
                total += lazy.select(pl.len()).collect().item() * len(lazy.collect_schema()) * 8 * COPIES
                continue
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            pass  # A damaged file is refused, with a sentence, when it is read.
        total += file.stat().st_size * TEXT_BYTES
    return total


def open_files(files: list[Path]) -> Iterator[tuple[TableFile, Any]]:
    """All chunks of the files, each with its file."""
    for path in files:
        file = open_table(path)
        for chunk in file.chunks:
            if len(chunk):
                yield file, chunk


def sampled_file(files: list[Path], size: int, seed: int, tell: Callable[[int], object]) -> tuple[TableFile, int]:
    """A table of rows drawn at random from all files, and how many rows there are: one pass.

    Args:
        files: of equal columns.
        size: how many rows to draw at most.
        seed: of the draw.
        tell: told how many rows were read so far.
    """
    import polars as pl

    kept: list[Any] = []
    keys = np.empty(0)
    limit, count, first, last = 1.0, 0, None, None
    for file, chunk in open_files(files):
        first = first or file
        own = row_keys(Part(count, chunk, None), seed)
        chosen = own < limit
        kept.append(chunk.filter(chosen))
        keys = np.concatenate([keys, own[chosen]])
        if len(keys) > 2 * size:
            limit = float(np.partition(keys, size - 1)[size - 1])
            kept, keys = [pl.concat(kept).filter(keys <= limit)], keys[keys <= limit]
        count, last = count + len(chunk), chunk.tail(1)
        tell(count)
    if first is None:
        raise ValueError(f"{files[0]} must hold rows under its header; there are none.")
    frame = pl.concat(kept)
    refuse_totals(frame, last, first.comma, str(files[-1]))
    if len(keys) > size:
        frame = frame.filter(keys <= np.partition(keys, size - 1)[size - 1])
    label = first.label if len(files) == 1 else f"{files[0].parent} ({len(files)} files)"
    return TableFile(label, first.names, iter([frame]), first.comma, first.notes), count


@dataclass(frozen=True, eq=False)
class FileParts:
    """Batches (X, y) of files, for `polyladder.tables.partitions.LocalPartitions`.

    Rows without a target, or with an unknown class, are left out.

    Attributes:
        files: of equal columns.
        kinds: of the columns to read.
        target: kind of the target.
        labels: known classes; None where the target is a number.
        tell: told how many rows were read in a chunk.
    """

    files: list[Path]
    kinds: tuple[ColumnKind, ...]
    target: ColumnKind
    labels: Any
    tell: Callable[[int], object]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        row = 1
        for file, chunk in open_files(self.files):
            yield rows_with_target(chunk, self.kinds, self.target, self.labels, file.comma, row)
            row += len(chunk)
            self.tell(len(chunk))


def rows_with_target(
    frame: Any,
    kinds: Iterable[ColumnKind],
    target: ColumnKind,
    labels: Any,
    comma: Comma,
    row: int = 1,
    say: Callable[[str], None] = lambda sentence: None,
) -> tuple[Any, Any]:
    """The columns of rows as a frame of numbers and texts, and their targets; rows without a known one are left out.

    Args:
        frame: of cells as they were read.
        kinds: of the columns.
        target: kind of the target.
        labels: known classes; None where the target is a number.
        comma: what a comma in a number means where the cells leave it open.
        row: number of the first row, for messages.
        say: told in a sentence what had to be converted.
    """
    y = convert(frame[target.name], target, comma, row, say)
    X = frame.select(convert(frame[kind.name], kind, comma, row, say) for kind in kinds)
    known = y.is_not_null() if labels is None else y.is_in(labels.tolist()).fill_null(False)
    values = y.filter(known).to_numpy()
    return X.filter(known), values if labels is None else values.astype(labels.dtype)
