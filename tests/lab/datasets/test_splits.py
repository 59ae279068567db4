import gzip

import numpy as np
import pytest

from polyladder_lab.datasets.catalog import catalog
from polyladder_lab.datasets.splits import Split, last_rows_split, seeded_splits, stored_splits
from tests.real_data import data_folder, needs_data

REGRESSION = [entry for entry in catalog() if entry.seeded_splits]


def write(folder, splits, compressed=False):
    for k, split in enumerate(splits):
        for part, rows in split._asdict().items():
            text = "".join(f"{row}\n" for row in rows).encode()
            name = f"index_{part}_{k}.txt"
            (folder / (name + ".gz" * compressed)).write_bytes(gzip.compress(text) if compressed else text)


@needs_data(*(entry.name for entry in REGRESSION))
@pytest.mark.parametrize("entry", REGRESSION, ids=lambda entry: entry.name)
def test_the_seed_gives_the_published_splits_row_for_row(entry):
    stored = stored_splits(data_folder() / entry.folder, entry.rows, entry.seeded_splits)
    assert stored is not None, "the folder has the table without its index files"
    drawn = seeded_splits(entry.rows, entry.seeded_splits)
    assert len(stored) == len(drawn) == entry.seeded_splits
    for one, other in zip(stored, drawn, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)


def test_seeded_splits_are_those_of_the_published_recipe():
    np.random.seed(1)  # noqa: NPY002
    for split in seeded_splits(506, 20):
        order = np.random.choice(range(506), 506, replace=False)  # noqa: NPY002
        np.testing.assert_array_equal(split.train, order[:455])
        np.testing.assert_array_equal(split.test, order[455:])


def test_the_seed_of_the_user_is_left_alone():
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    seeded_splits(100, 3)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_last_rows_are_the_test_rows():
    split = last_rows_split(5, 2)
    np.testing.assert_array_equal(split.train, [0, 1, 2])
    np.testing.assert_array_equal(split.test, [3, 4])


@pytest.mark.parametrize("compressed", [False, True])
def test_stored_splits_are_read_as_they_are(tmp_path, compressed):
    splits = [Split(np.array([3, 0]), np.array([1, 2])), Split(np.array([1, 2, 3]), np.array([0]))]
    write(tmp_path, splits, compressed)
    found = stored_splits(tmp_path, rows=4, count=2)
    for one, other in zip(found, splits, strict=True):
        np.testing.assert_array_equal(one.train, other.train)
        np.testing.assert_array_equal(one.test, other.test)


def test_a_folder_without_index_files_has_no_stored_splits(tmp_path):
    assert stored_splits(tmp_path, rows=4, count=2) is None
    assert stored_splits(tmp_path / "nowhere", rows=4, count=2) is None


@pytest.mark.parametrize(
    "second",
    [
        Split([0, 1], [2]),
        Split([0, 1, 2], [2, 3]),
        Split([0, 1, 2], [4]),
        Split([], []),
    ],
    ids=["row lost", "row twice", "row out of range", "empty"],
)
def test_index_files_that_are_no_partition_are_refused(tmp_path, second):
    write(tmp_path, [Split([0, 1, 2], [3]), second])
    with pytest.raises(ValueError, match=r"index_train_1\.txt and .* must hold each of the 4 rows once"):
        stored_splits(tmp_path, rows=4, count=2)


def test_a_missing_index_file_beside_others_is_refused(tmp_path):
    write(tmp_path, [Split([0, 1, 2], [3]), Split([0, 1, 3], [2])])
    (tmp_path / "index_test_0.txt").unlink()
    with pytest.raises(ValueError, match=r"index_train_0\.txt and index_test_0\.txt"):
        stored_splits(tmp_path, rows=4, count=2)
