"""Writing files so that a path always holds either the whole old content or the whole new one."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO


def write_atomically(content: bytes, path: str | PathLike[str], new: bool = False) -> None:
    """Write a file so that its path always holds either the whole old content or the whole new one.

    Args:
        content: of the file.
        path: where it goes. A symbolic link stays one, and a file that is replaced keeps its permissions.
        new: whether a file that is there already is an error instead of being replaced.
    """
    with replacing(path, new) as file:
        file.write(content)


@contextmanager
def replacing(path: str | PathLike[str], new: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` when the block ends without an error.

    It is written as a hidden file in the same folder, ``.name.`` and some random digits, which is deleted if anything
    goes wrong. Only a killed process leaves it there, and nothing ever reads it. Where ``path`` is a symbolic link, the
    link stays and the file that it points to is replaced. A file that was there keeps its permissions. With ``new``, a
    file that exists at the end, whenever it was made, is kept, and that is an error.
    """
    # A rename would put the file where the link is.
    target = Path(os.path.realpath(path))
    mode = mode_of(target, path)
    # Short enough for any file system, whatever the name.
    beside = target.parent / f".{target.name[:40]}.{secrets.token_hex(4)}"
    try:
        opened = beside.open("xb")
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror}. Choose another folder.") from error
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(beside, mode)
        if new:
            # Only one of two processes can create the name, and it then replaces its own empty file.
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        os.replace(beside, target)
    except OSError as error:
        # Errors about the caller's own files name those files, and errors that are not the system's are clear already.
        if error.strerror is None or error.filename not in (None, str(beside), str(target)):
            raise
        raise OSError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        beside.unlink(missing_ok=True)


def mode_of(target: Path, path: str | PathLike[str]) -> int | None:
    """The permissions of the file that is to be replaced, None if there is none; anything but a file is refused."""
    try:
        found = target.stat()
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(f"{path} must be the name of a file; it is a folder. Add a name.")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} must be a file to be replaced; it is a device or a pipe. Choose another place.")
    return stat.S_IMODE(found.st_mode)
