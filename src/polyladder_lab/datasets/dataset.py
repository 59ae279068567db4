"""`load_dataset`: rows of a named data set, from the user's folder, the cache or the network."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from polyladder_lab.datasets.catalog import DataFile, Entry, Task, find_entry
from polyladder_lab.datasets.download import download
from polyladder_lab.datasets.folders import VARIABLE, cache_folder, copies, data_folders
from polyladder_lab.datasets.readers import read_content, read_features_target
from polyladder_lab.datasets.splits import Split, last_rows_split, seeded_splits, stored_splits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set in memory.

    Attributes:
        name: its name in the catalog.
        task: what the target is for.
        features: as published, nothing scaled. Shape (n, d), float64.
        target: shape (n,). float64 for regression, class codes 0, 1, ... in int64 for classification.
        feature_names: d names.
        target_name: name of the target.
        class_names: the class of each code; empty for regression.
        splits: the published splits into training and test rows; empty if none were published.
    """

    name: str
    task: Task
    features: NDArray[np.float64] = field(repr=False)
    target: NDArray[np.generic] = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    target_name: str
    class_names: tuple[str, ...] = field(repr=False)
    splits: tuple[Split, ...] = field(repr=False)


def load_dataset(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """A named data set, with its published splits.

    Files are taken from ``data_dir``, or else from the folder that the variable POLYLADDER_DATA names, then from the
    user's cache; what is in neither is downloaded into the cache. Every file is compared with its published checksum.

    Args:
        name: as ``polyladder datasets`` lists it; case, hyphens and underscores do not matter.
        data_dir: a folder with one folder per data set.

    Raises:
        ValueError: there is no such data set, or a file is damaged.
        OSError: a file is missing and could not be downloaded; the message says which to put where.

    >>> iris = load_dataset("iris")
    >>> iris.features.shape, iris.class_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    entry = find_entry(name)
    folders = data_folders(data_dir) if entry.files else ()
    paths = [obtain(entry, file, folders) for file in entry.files]
    contents = [read_content(path, file.sha256) for path, file in zip(paths, entry.files, strict=True)]
    features, target = read_features_target(entry, contents)
    return Dataset(
        name=entry.name,
        task=entry.task,
        features=features,
        target=target,
        feature_names=entry.feature_names,
        target_name=entry.target_name,
        class_names=entry.class_names,
        splits=published_splits(entry, paths[0].parent if paths else None),
    )


def obtain(entry: Entry, file: DataFile, folders: tuple[Path, ...]) -> Path:
    """The file's path: the first copy found, or that of a download."""
    found = copies(entry, file, folders)
    if found:
        return found[0]
    if file.sha256 is None:
        addresses = " and ".join(url for f in entry.files for url in f.urls)
        raise FileNotFoundError(
            f"{entry.name} must be fetched by hand, because no checksum of its files is known: "
            f"put {addresses} into {folders[0] / entry.folder}."
        )
    target = cache_folder() / entry.folder / file.name
    try:
        return download(file.urls, target, file.sha256)
    except OSError as error:
        raise OSError(
            f"{entry.name} is in none of {', '.join(map(str, folders))}, and {error} Put {file.name} (as it is, or as "
            f".gz, .xz or .bz2) at {target}, or into the folder {entry.folder} of a folder named by --data-dir, "
            f"data_dir or {VARIABLE}."
        ) from error


def published_splits(entry: Entry, folder: Path | None) -> tuple[Split, ...]:
    """The splits of a data set: those stored beside its table, or else drawn from the seed."""
    if entry.test_rows:
        return (last_rows_split(entry.rows, entry.test_rows),)
    if folder is not None and entry.seeded_splits:
        stored = stored_splits(folder, entry.rows, entry.seeded_splits)
        return seeded_splits(entry.rows, entry.seeded_splits) if stored is None else stored
    return ()
