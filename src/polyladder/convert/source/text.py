"""Source text: files that belong together, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from polyladder.files.kinds import HEADER
from polyladder.files.replace_file import write_atomically


@dataclass(frozen=True)
class Source:
    """The text of an export; ``str()`` gives it.

    Attributes:
        text: of the file itself.
        header: of the header that belongs to it, for C; else None.
        bound: for fixed point, the largest possible difference between an output and the exact ladder; else None.
    """

    text: str
    header: str | None = None
    bound: tuple[float, ...] | None = None

    def __str__(self) -> str:
        return self.text

    def write(self, path: str | PathLike[str], force: bool = False) -> Path:
        """Write the file and, if there is a header, that next to it under the same name with the ending ``.h``.

        Args:
            path: where to; an existing file is replaced.
            force: replace an existing header even if polyladder did not write it.
        """
        place = Path(path)
        if self.header is not None:
            beside, content = place.with_suffix(".h"), self.header.encode()
            if beside == place:
                raise ValueError(f"path must not end in .h, which is the header's name; got {place}. End it in .c.")
            if not force and beside.exists() and not HEADER.recognizes(beside) and beside.read_bytes() != content:
                raise ValueError(
                    f"The header must be a new file or {HEADER.words} that polyladder wrote; {beside} is neither. "
                    "Choose another name, or replace it with force=True."
                )
            write_atomically(content, beside)
        write_atomically(self.text.encode(), place)
        return place
