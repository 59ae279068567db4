"""Which files a command may write: new ones and its own earlier ones, others only with --force, and never its inputs.

A command checks all of its outputs before it does any work, including files that it writes besides the named ones.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyladder.files.kinds import Kind


@dataclass(frozen=True)
class Output:
    """A file that is going to be written.

    Attributes:
        name: what a message calls it: the option that named it.
        path: where it goes.
        kind: what it will hold.
    """

    name: str
    path: Path
    kind: Kind


def check_outputs(
    outputs: Sequence[Output],
    inputs: Iterable[str | Path | None] = (),
    *,
    force: bool = False,
    no_clobber: bool = False,
) -> list[bool]:
    """Refuse what may not be written, and return for each output whether it will replace a file.

    Args:
        outputs: of one run.
        inputs: files that the same run reads; "-" is standard input, None is nothing. They are never replaced.
        force: whether files of others may be replaced.
        no_clobber: whether no file may be.
    """
    if force and no_clobber:
        raise ValueError("--force must come without --no-clobber, which says the opposite; got both.")
    read = [found for place in inputs if (found := identity(place)) is not None]
    for k, output in enumerate(outputs):
        check_place(output)
        for other in outputs[:k]:
            if os.path.realpath(other.path) == os.path.realpath(output.path):
                raise ValueError(f"{output.name} must be another file than {other.name}; both are {output.path}.")
        here = identity(output.path)
        if here is None:
            continue
        if any(os.path.samestat(here, there) for there in read):
            raise ValueError(
                f"{output.name} must not be a file that this command reads; got {output.path}. Choose another name."
            )
        if no_clobber:
            raise ValueError(
                f"{output.name} must be a new file with --no-clobber; {output.path} exists. Choose another name."
            )
        if output.kind.lasting:
            raise ValueError(
                f"{output.name} must be a new file, as {output.kind.words} cannot be made again; {output.path} exists. "
                "Choose another name."
            )
        if not force:
            refuse_foreign(output)
    return [output.path.exists() for output in outputs]


def check_output(
    name: str,
    path: Path | None,
    *,
    words: str,
    mark: re.Pattern[bytes],
    inputs: Iterable[str | Path | None] = (),
    force: bool = False,
    no_clobber: bool = False,
) -> bool:
    """Refuse to write a file where another one would be lost; for commands that other packages add.

    A new file may be written, and one that an earlier run of the same command left.

    Args:
        name: what a message calls the file: the option that named it.
        path: where it goes; None where no file was asked for, and then the options alone are checked.
        words: what it will hold, such as "a page of results".
        mark: what the first bytes of such files match, and those of other files do not.
        inputs: files that the same run reads, which are never replaced; "-" is standard input, None is nothing.
        force: whether any other file may be replaced too.
        no_clobber: whether no file may be replaced.

    Returns:
        Whether a file is going to be replaced.

    Raises:
        ValueError: the file may not be written; the message says why, and what to do.
    """
    outputs = [] if path is None else [Output(name, path, Kind(words, mark))]
    return any(check_outputs(outputs, inputs, force=force, no_clobber=no_clobber))


def check_place(output: Output) -> None:
    """Refuse a place that no file can have."""
    name, path = output.name, output.path
    if not path.parent.is_dir():
        raise ValueError(f"{name} must lie in an existing folder; got {path}. Make {path.parent} first.")
    if path.is_dir():
        raise ValueError(f"{name} must be a file; {path} is a folder. Choose a name inside of it.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{name} must be a file; {path} is a device or a pipe. Choose another name.")


def refuse_foreign(output: Output) -> None:
    """Refuse to replace a file unless it is recognizably of the same kind."""
    kind, path = output.kind, output.path
    if kind.recognizes(path):
        return
    if kind.mark is None:
        said = f"must be a new file, as {kind.words} does not show who wrote it; {path} exists"
    else:
        said = f"must be a new file or {kind.words} that polyladder wrote; {path} is neither"
    raise ValueError(f"{output.name} {said}. Choose another name, or replace it with --force.")


def identity(place: str | Path | None) -> os.stat_result | None:
    """What identifies a file under any of its names; None if it does not exist."""
    try:
        return None if place is None else os.fstat(0) if str(place) == "-" else os.stat(place)
    except (OSError, ValueError):
        return None
