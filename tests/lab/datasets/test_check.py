import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from polyladder_lab.datasets.catalog import DataFile, Entry, catalog
from polyladder_lab.datasets.check import check_content, check_files, check_splits
from polyladder_lab.datasets.splits import Split, seeded_splits
from tests.lab.datasets.test_splits import write

CONTENT = b"1 2 3\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def entry(rows: int = 10, splits: int = 2) -> Entry:
    known = next(each for each in catalog() if each.seeded_splits)
    file = DataFile("data.txt", (), SHA256)
    return replace(known, name="small", folder="small", rows=rows, seeded_splits=splits, files=(file,))


def test_content_is_compared_with_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(CONTENT)
    assert (check_content(path, SHA256).result, check_content(path, SHA256).damaged) == ("as published", False)
    unknown = check_content(path, None)
    assert (unknown.result, unknown.damaged) == ("no checksum is known", False)
    path.write_bytes(CONTENT + b"4")
    found = check_content(path, SHA256)
    assert found.damaged
    assert found.path == path
    assert str(path) in found.result


def test_compressed_content_is_what_it_unpacks_to(tmp_path: Path) -> None:
    path = tmp_path / "data.txt.gz"
    path.write_bytes(gzip.compress(CONTENT))
    assert not check_content(path, SHA256).damaged
    path.write_bytes(gzip.compress(CONTENT)[:-4])
    assert check_content(path, SHA256).damaged


def test_splits_are_those_of_the_seed(tmp_path: Path) -> None:
    assert list(check_splits(entry(), tmp_path)) == []
    splits = list(seeded_splits(10, 2))
    write(tmp_path, splits)
    (found,) = check_splits(entry(), tmp_path)
    assert (found.result, found.damaged) == ("2 splits as published", False)
    write(tmp_path, [splits[0], Split(splits[1].train[::-1], splits[1].test)])
    (found,) = check_splits(entry(), tmp_path)
    assert (found.result, found.damaged) == ("splits [1] differ from those of the seed", True)
    write(tmp_path, [splits[0], Split(np.arange(9), np.arange(9))])
    (found,) = check_splits(entry(), tmp_path)
    assert found.damaged
    assert "must hold each of the 10 rows once" in found.result


def test_every_copy_is_checked_once(tmp_path: Path) -> None:
    """Two entries that share a file, in two folders, one of them with splits."""
    for folder in ("one", "two"):
        (tmp_path / folder / "small").mkdir(parents=True)
        (tmp_path / folder / "small" / "data.txt").write_bytes(CONTENT)
    write(tmp_path / "two" / "small", seeded_splits(10, 2))
    folders = (tmp_path / "one", tmp_path / "two", tmp_path / "nowhere")
    sharing = replace(entry(), name="sharing", seeded_splits=0)
    found = list(check_files([entry(), sharing], folders))
    assert [(each.path.relative_to(tmp_path).as_posix(), each.damaged) for each in found] == [
        ("one/small/data.txt", False),
        ("two/small/data.txt", False),
        ("two/small", False),
    ]
