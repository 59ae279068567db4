"""Options that commands share, and where results go: what may be replaced, and the sentence about a written file."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

ModelPath = Annotated[Path, typer.Argument(help="A file that fit or save wrote.")]
Sheet = Annotated[
    str | None, typer.Option(help="The sheet of a workbook (.xlsx), by name or number; by default the first.")
]
Keep = Annotated[list[str] | None, typer.Option(help="Use this column even if it looks like an id; may be repeated.")]
CsvPath = Annotated[Path | None, typer.Option("--output", "-o", help="A CSV file; by default standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file even if polyladder did not write it.")]
NoClobber = Annotated[bool, typer.Option("--no-clobber", help="Refuse to replace any existing file.")]


def place_words(label: str, path: Path, replaced: bool) -> str:
    """Where a file is, its size, and whether it replaced another."""
    size = path.stat().st_size / 1024
    return f"{label} {path} ({size:.0f} kB{', replaced the file that was there' if replaced else ''})."


def old_option(old: str, new: str, value: float) -> float:
    """The value of an option that was given by its name of version 0.1; the new name is printed."""
    typer.echo(f"{old} is called {new}; the old name ends with version 0.3.", err=True)
    return value


def write_whole() -> None:
    """Make standard output write everything or fail.

    Without a buffer (PYTHONUNBUFFERED, python -u) a file on a full disk is cut, and Python does not report it. A buffer
    continues until everything is written or the system refuses.
    """
    shown = sys.stdout
    if isinstance(shown, io.TextIOWrapper) and isinstance(shown.buffer, io.RawIOBase):
        raw, encoding, errors = shown.buffer, shown.encoding, shown.errors
        shown.detach()  # or it would close the file when it is forgotten
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=True)


def drop_unwritten() -> None:
    """Discard what standard output could not write; otherwise Python tries again at exit and complains."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
