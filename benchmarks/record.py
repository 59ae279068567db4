"""Keeping what a benchmark measured: one JSON line per run, with the commit and the versions measured on."""

from __future__ import annotations

import json
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"

COMMIT = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
"""Read when a benchmark starts, as that is the code it runs; another may be there when it ends."""


def record(name: str, figures: dict[str, Any], packages: tuple[str, ...]) -> None:
    """Append the figures of one run to ``results/<name>.jsonl``."""
    line = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": COMMIT or None,
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        "figures": figures,
    }
    with open(RESULTS / f"{name}.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
