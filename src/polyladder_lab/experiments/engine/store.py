"""The store of measured rows: JSON lines that are only ever appended, and survive being cut off anywhere."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from polyladder_lab.experiments.engine.rows import Row, parsed


class Store:
    """The rows of a folder, one file per table, read once and appended to.

    Args:
        folder: need not exist yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[str, dict[str, Row]] = {}

    def rows(self, table: str) -> dict[str, Row]:
        """The rows of a table by key. Where a key comes twice, the first row counts.

        A line that is not a row is left out with a warning that names the file, the line and the reason.
        """
        if table not in self.tables:
            self.tables[table] = read_rows(self.path(table))
        return self.tables[table]

    def append(self, table: str, rows: Iterable[Row]) -> None:
        """Write rows whose keys are new, all in one go, and have them on the disk before returning."""
        known = self.rows(table)
        fresh = [row for row in rows if row["key"] not in known]
        if not fresh:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path(table).open("ab") as file:
            # A run that was killed while writing leaves half a line; what comes next must not continue it.
            torn = file.tell() > 0 and not ends_with_newline(self.path(table))
            text = "".join(json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n" for row in fresh)
            file.write(b"\n" * torn + text.encode())
            file.flush()
            os.fsync(file.fileno())
        known.update({row["key"]: row for row in fresh})

    def path(self, table: str) -> Path:
        """The file of a table."""
        return self.folder / f"{table}.jsonl"


def read_rows(path: Path) -> dict[str, Row]:
    """The rows of a file by key; none if there is no file."""
    found: dict[str, Row] = {}
    # Bytes, line by line: damage in one line must not affect the next.
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parsed(line)
        except ValueError as error:
            if number == len(lines):
                said = f"{path} ends in half a line, as a killed run leaves it; the next run measures it again."
            else:
                said = f"{path}, line {number}: {error}. It does not count; the next run measures it again."
            warnings.warn(said, stacklevel=3)
        else:
            found.setdefault(row["key"], row)
    return found


def ends_with_newline(path: Path) -> bool:
    """Whether the last byte of a file that is not empty ends a line."""
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


@cache
def provenance() -> dict[str, str]:
    """Which code measures: its commit, where there is one, and the versions of packages."""
    import numpy
    import sklearn
    import torch

    from polyladder import __version__

    versions = {
        "polyladder": __version__,
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    return {"commit": commit(), "versions": ", ".join(f"{name} {version}" for name, version in versions.items())}


def commit() -> str:
    """The commit of the checkout that this code stands in; empty outside of one."""
    folder = Path(__file__).resolve().parent
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""
