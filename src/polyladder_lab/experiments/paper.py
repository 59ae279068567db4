"""Where the paper's declarations are: in the package once it is installed, in the folder ``paper`` of a checkout."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
INSTALLED = PACKAGE / "paper"


def paper_folder() -> Path:
    """The folder that holds ``equations.toml``, ``table_1.toml`` and the others."""
    return INSTALLED if INSTALLED.is_dir() else PACKAGE.parent.parent / "paper"
