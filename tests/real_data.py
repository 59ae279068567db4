"""Where the tests find real data: the folder in POLYLADDER_DATA, or ``shared/data`` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from polyladder_lab.datasets.catalog import find_entry
from polyladder_lab.datasets.dataset import Dataset, load_dataset
from polyladder_lab.datasets.folders import copies

BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder() -> Path:
    """The folder of real data sets, which may not exist."""
    return Path(os.environ.get("POLYLADDER_DATA") or BESIDE_CHECKOUT)


def missing(name: str) -> list[str]:
    """The files of a data set that the folder lacks."""
    entry = find_entry(name)
    return [f"{entry.folder}/{file.name}" for file in entry.files if not copies(entry, file, (data_folder(),))]


def needs_data(*names: str) -> pytest.MarkDecorator:
    """Mark a test that needs these data sets; where one is missing it is skipped, and the reason names the files."""
    lacking = [file for name in names for file in missing(name)]
    return pytest.mark.skipif(
        bool(lacking), reason=f"real data missing in {data_folder()} (set POLYLADDER_DATA): {', '.join(lacking)}"
    )


def real_dataset(name: str) -> Dataset:
    """Load a data set from the folder of real data, never from the network; skip the test if it is missing."""
    if lacking := missing(name):
        pytest.skip(f"real data missing in {data_folder()} (set POLYLADDER_DATA): {', '.join(lacking)}")
    return load_dataset(name, data_folder() if find_entry(name).files else None)
