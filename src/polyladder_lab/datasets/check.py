"""Checks of the data files that are present against what was published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polyladder_lab.datasets.catalog import Entry
from polyladder_lab.datasets.folders import copies
from polyladder_lab.datasets.readers import read_content
from polyladder_lab.datasets.splits import seeded_splits, stored_splits


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        path: a file, or the folder of a data set for its index files.
        result: in a few words.
        damaged: whether it differs from what was published.
    """

    path: Path
    result: str
    damaged: bool


def check_files(entries: Iterable[Entry], folders: tuple[Path, ...]) -> Iterator[Checked]:
    """Compare every file of the data sets in the folders with its checksum, and every stored split with its seed."""
    seen = set()
    for entry in entries:
        for file in entry.files:
            for path in copies(entry, file, folders):
                # covtype and covtype-b share a file.
                if path not in seen:
                    seen.add(path)
                    yield check_content(path, file.sha256)
        for folder in folders:
            if entry.seeded_splits:
                yield from check_splits(entry, folder / entry.folder)


def check_content(path: Path, sha256: str | None) -> Checked:
    """Compare a file's content with its checksum."""
    try:
        read_content(path, sha256)
    except (ValueError, OSError) as error:
        return Checked(path, str(error), damaged=True)
    return Checked(path, "no checksum is known" if sha256 is None else "as published", damaged=False)


def check_splits(entry: Entry, folder: Path) -> Iterator[Checked]:
    """Compare the splits stored in a data set's folder, if any, with those of the published seed."""
    try:
        stored = stored_splits(folder, entry.rows, entry.seeded_splits)
    except (ValueError, OSError) as error:
        yield Checked(folder, str(error), damaged=True)
        return
    if stored is None:
        return
    pairs = enumerate(zip(stored, seeded_splits(entry.rows, entry.seeded_splits), strict=True))
    wrong = [k for k, (found, drawn) in pairs if not all(map(np.array_equal, found, drawn))]
    result = f"splits {wrong} differ from those of the seed" if wrong else f"{len(stored)} splits as published"
    yield Checked(folder, result, damaged=bool(wrong))
