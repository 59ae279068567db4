"""Published splits into training and test rows: read from index files, or drawn again from the published seed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from polyladder_lab.datasets.readers import SUFFIXES, numbers, read_content

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 1
TRAINING_SHARE = 0.9


class Split(NamedTuple):
    """Row numbers counted from 0, in the published order, which mini-batches may depend on.

    Attributes:
        train: shape (n_train,).
        test: shape (n_test,).
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def seeded_splits(rows: int, count: int) -> tuple[Split, ...]:
    """The splits of the published regression benchmark, without its index files.

    One permutation of the rows after the other, all from one seed; nine tenths of each, rounded, are for training.

    Args:
        rows: n, of the whole table.
        count: number of splits.
    """
    # The splits were drawn with NumPy's legacy generator: its stream is frozen, that of default_rng is not.
    random = np.random.RandomState(SEED)
    size = round(TRAINING_SHARE * rows)
    permutations = [random.permutation(rows) for _ in range(count)]
    return tuple(Split(order[:size], order[size:]) for order in permutations)


def last_rows_split(rows: int, test_rows: int) -> Split:
    """The split of a table that lists its test rows last."""
    return Split(np.arange(rows - test_rows), np.arange(rows - test_rows, rows))


def stored_splits(folder: Path, rows: int, count: int) -> tuple[Split, ...] | None:
    """The splits in a folder's ``index_train_0.txt``, ``index_test_0.txt``, ..., compressed or not.

    Args:
        folder: of one data set.
        rows: n, of the whole table.
        count: number of splits that the data set was published with.

    Returns:
        All of them, or None if not one index file is there.

    Raises:
        ValueError: a file is missing beside others, or a split is not a partition of the rows.
    """
    paths = [[index_file(folder, f"index_{part}_{k}.txt") for part in Split._fields] for k in range(count)]
    if not any(path for pair in paths for path in pair):
        return None
    splits = []
    for k, pair in enumerate(paths):
        found = [numbers(read_content(path, None), np.int64) for path in pair if path is not None]
        if len(found) < 2 or not np.array_equal(np.sort(np.concatenate(found)), np.arange(rows)):
            raise ValueError(
                f"index_train_{k}.txt and index_test_{k}.txt in {folder} must hold each of the {rows} rows once; "
                f"got {[index.size for index in found]} row numbers. Delete every index file there to have the splits "
                "drawn again from their seed."
            )
        splits.append(Split(*(index.astype(np.int64) for index in found)))
    return tuple(splits)


def index_file(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder, compressed or not."""
    return next((path for suffix in SUFFIXES if (path := folder / (name + suffix)).is_file()), None)
