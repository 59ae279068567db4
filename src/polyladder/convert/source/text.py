"""Source text: files that belong together, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from polyladder.files.replace_file import write_atomically


@dataclass(frozen=True)
class Source:
    """The text of an export; ``str()`` gives it.

    Attributes:
        text: of the file itself.
        header: of the header that belongs to it, for C; else None.
        bound: for fixed point, what the difference of an output to the exact ladder cannot exceed; else None.
    """

    text: str
    header: str | None = None
    bound: tuple[float, ...] | None = None

    def __str__(self) -> str:
        return self.text

    def write(self, path: str | PathLike[str]) -> Path:
        """Write the file, and a header beside it under the same name with the ending ``.h`` where there is one."""
        place = Path(path)
        if self.header is not None:
            write_atomically(self.header.encode(), place.with_suffix(".h"))
        write_atomically(self.text.encode(), place)
        return place
