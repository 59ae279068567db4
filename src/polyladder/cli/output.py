"""Where results go: places that are checked before any work is done, and what is said of them afterwards."""

from __future__ import annotations

from pathlib import Path


def check_place(option: str, path: Path, no_clobber: bool = False) -> bool:
    """Refuse a place that cannot be written to, before hours of work; say whether something is there already.

    Args:
        option: that named the place.
        path: of a file.
        no_clobber: whether an existing file is refused.
    """
    if not path.parent.is_dir():
        raise ValueError(f"{option} must lie in an existing folder; got {path}. Make {path.parent} first.")
    if path.is_dir():
        raise ValueError(f"{option} must be a file; {path} is a folder. Choose a name inside of it.")
    if path.exists() and no_clobber:
        raise ValueError(f"{option} must be a new file with --no-clobber; {path} exists. Choose another name.")
    return path.exists()


def place_words(label: str, path: Path, replaced: bool) -> str:
    """Where something is, how large, and whether it took another file's place."""
    size = path.stat().st_size / 1024
    return f"{label} {path} ({size:.0f} kB{', replaced the file that was there' if replaced else ''})."
