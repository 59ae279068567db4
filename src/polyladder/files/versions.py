"""The versions of everything that numbers in a file depend on."""

from __future__ import annotations

import platform
from importlib.metadata import version

import numpy as np
import torch


def versions() -> dict[str, str]:
    """What the file was made with."""
    return {
        "polyladder": version("polyladder"),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "scikit-learn": version("scikit-learn"),
    }
