"""The named data sets, declared in ``catalog.toml``: what each is, where it comes from and which files hold it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

Task = Literal["regression", "classification"]
Format = Literal["decimal-table", "integer-table", "letter-table", "idx", "svmlight", "scikit-learn"]


@dataclass(frozen=True)
class DataFile:
    """A file of a data set.

    Attributes:
        name: without the suffix of a compression.
        urls: where it can be downloaded, the best first; an address may end in .gz, .bz2, .xz or .zip.
        sha256: of the uncompressed content; None where none is known, and then nothing is downloaded.
    """

    name: str
    urls: tuple[str, ...]
    sha256: str | None


@dataclass(frozen=True)
class Entry:
    """What the catalog knows of a data set without opening it.

    Attributes:
        name: as in ``load_dataset(name)``.
        folder: the folder that holds its files inside a data folder.
        task: what the target is for.
        rows: n.
        features: d.
        origin: who made it, and when.
        license: terms of the data, or that none are stated.
        note: what to know before using it; empty where there is nothing.
        format: how ``readers.py`` reads the files.
        feature_names: d names.
        target_name: name of the target.
        class_names: one per class, in the order of the codes; empty for regression.
        positive_label: the label in the file that becomes class 1, all others class 0; None keeps every class.
        seeded_splits: number of published splits drawn from the published seed; 0 for none.
        test_rows: size of the published test set, which is the last rows; 0 for none.
        files: in the order the reader wants them; none if scikit-learn ships the table.
    """

    name: str
    folder: str
    task: Task
    rows: int
    features: int
    origin: str
    license: str
    note: str
    format: Format
    feature_names: tuple[str, ...] = field(repr=False)
    target_name: str
    class_names: tuple[str, ...] = field(repr=False)
    positive_label: int | None
    seeded_splits: int
    test_rows: int
    files: tuple[DataFile, ...] = field(repr=False)

    @property
    def splits(self) -> int:
        """Number of published splits."""
        return self.seeded_splits or int(self.test_rows > 0)


@cache
def catalog() -> tuple[Entry, ...]:
    """Every data set that ``load_dataset`` knows, those of the paper first.

    >>> [entry.name for entry in catalog()][:3]
    ['wine-quality-red', 'power-plant', 'kin8nm']
    """
    text = Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8")
    return tuple(declared(fields) for fields in tomllib.loads(text)["dataset"])


def find_entry(name: str) -> Entry:
    """The entry of that name; case, hyphens and underscores do not matter.

    >>> find_entry("bostonHousing").name
    'boston-housing'
    """
    entries = {plain(entry.name): entry for entry in catalog()}
    if plain(name) in entries:
        return entries[plain(name)]
    close = difflib.get_close_matches(plain(name), entries, n=1)
    advice = f"Did you mean {entries[close[0]].name!r}?" if close else "`polyladder datasets` lists them all."
    raise ValueError(f"name must be that of a data set in the catalog; got {name!r}. {advice}")


def plain(name: str) -> str:
    """The name without case, hyphens and underscores."""
    return re.sub("[-_]", "", name).casefold()


def declared(fields: dict[str, Any]) -> Entry:
    """An entry from its table in the file, with what it leaves out filled in."""
    files = tuple(DataFile(f["name"], tuple(f["urls"]), f.get("sha256")) for f in fields.get("files", ()))
    optional = {"folder": fields["name"], "note": "", "positive_label": None, "seeded_splits": 0, "test_rows": 0}
    names = {key: expand(fields.get(key, ())) for key in ("feature_names", "class_names")}
    return Entry(**{**optional, **fields, **names, "files": files})


def expand(names: Sequence[str]) -> tuple[str, ...]:
    """The names with ranges written out.

    >>> expand(["age", "soil_{1..3}"])
    ('age', 'soil_1', 'soil_2', 'soil_3')
    """
    result = []
    for name in names:
        if found := re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}", name):
            stem, first, last = found.groups()
            result += [f"{stem}{i}" for i in range(int(first), int(last) + 1)]
        else:
            result.append(name)
    return tuple(result)
