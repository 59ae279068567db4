"""Where data files are looked for: the folder the user names, then the user's cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from polyladder_lab.datasets.catalog import DataFile, Entry
from polyladder_lab.datasets.readers import SUFFIXES

VARIABLE = "POLYLADDER_DATA"


def cache_folder() -> Path:
    """The folder that downloads go to, below the platform's folder for caches."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "polyladder" / "data"


def data_folders(data_dir: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """The folders to search, in order.

    Args:
        data_dir: a folder with one folder per data set; None takes the one that POLYLADDER_DATA names, if it is set.

    Returns:
        That folder, which must exist, and the cache, which need not.
    """
    named = data_dir or os.environ.get(VARIABLE)
    if not named:
        return (cache_folder(),)
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise ValueError(
            f"{'data_dir' if data_dir else VARIABLE} must be an existing folder; got {str(named)!r}. "
            f"Create it, or leave it out to use {cache_folder()}."
        )
    return folder, cache_folder()


def copies(entry: Entry, file: DataFile, folders: tuple[Path, ...]) -> list[Path]:
    """Every copy of the file in the folders, compressed or not; the first one is read."""
    stems = [folder / entry.folder / file.name for folder in folders]
    candidates = [stem.with_name(stem.name + suffix) for stem in stems for suffix in SUFFIXES]
    return [path for path in candidates if path.is_file()]
