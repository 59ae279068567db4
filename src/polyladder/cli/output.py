"""Options that commands share, and where results go: what may be replaced, and the sentence about a written file."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from polyladder.files.kinds import Kind
from polyladder.files.outputs import Output, check_outputs
from polyladder.files.replace_file import replacing

ModelPath = Annotated[Path, typer.Argument(help="A file that fit or save wrote.")]
RowsPath = Annotated[
    str, typer.Argument(help="CSV, TSV, JSON lines, Parquet or .xlsx, compressed or not; - for standard input.")
]
Sheet = Annotated[
    str | None, typer.Option(help="The sheet of a workbook (.xlsx), by name or number; by default the first.")
]
Keep = Annotated[list[str] | None, typer.Option(help="Use this column even if it looks like an id; may be repeated.")]
CsvPath = Annotated[Path | None, typer.Option("--output", "-o", help="A CSV file; by default standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file even if polyladder did not write it.")]
NoClobber = Annotated[bool, typer.Option("--no-clobber", help="Refuse to replace any existing file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


def check(
    inputs: Iterable[str | Path | None], force: bool, no_clobber: bool, *outputs: tuple[str, Path | None, Kind]
) -> list[bool]:
    """Refuse outputs that may not be written, and return for each that is asked for whether it replaces a file.

    Args:
        inputs: files that the command reads.
        force: whether files of others may be replaced.
        no_clobber: whether no file may be.
        *outputs: the option that names a file, the file or None where it is not asked for, and its kind.
    """
    asked = [Output(option, path, kind) for option, path, kind in outputs if path is not None]
    return check_outputs(asked, inputs, force=force, no_clobber=no_clobber)


@contextmanager
def opened(path: Path | None) -> Iterator[IO[bytes]]:
    """Standard output, or a file that appears only when it is whole."""
    if path is None:
        stream = typer.get_binary_stream("stdout")
        yield stream
        stream.flush()
        return
    with replacing(path) as sink:
        yield sink


def write_frame(frame: Any, path: Path | None) -> None:
    """Write a frame as CSV to a file, or to standard output."""
    with opened(path) as sink:
        sink.write(frame.write_csv().encode())


def place_words(label: str, path: Path, replaced: bool) -> str:
    """Where a file is, its size, and whether it replaced another."""
    size = path.stat().st_size / 1024
    return f"{label} {path} ({size:.0f} kB{', replaced the file that was there' if replaced else ''})."


def pairs(option: str, given: Iterable[str] | None, form: str) -> list[tuple[str, str]]:
    """What stands before and behind the equals sign of each text; ``form`` says what an option must be."""
    found = []
    for text in given or ():
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise ValueError(f"{option} must {form}; got {text!r}.")
        found.append((name, value))
    return found


def share_of(option: str, text: str) -> float:
    """A share such as 1% or 0.01 as a number."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise ValueError(f"{option} must be a share such as 1% or 0.01; got {text!r}.") from None


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
