"""Where results go: the options that say what may be replaced, and what is said of a place afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Replace an existing file even if polyladder did not write it.")]
NoClobber = Annotated[bool, typer.Option("--no-clobber", help="Refuse to replace any existing file.")]


def place_words(label: str, path: Path, replaced: bool) -> str:
    """Where something is, how large, and whether it took another file's place."""
    size = path.stat().st_size / 1024
    return f"{label} {path} ({size:.0f} kB{', replaced the file that was there' if replaced else ''})."
