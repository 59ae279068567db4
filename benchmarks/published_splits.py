"""Models measured on published splits, one JSON line a fit, appended as it is finished: an interrupted run goes on."""

from __future__ import annotations

import json
import math
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch

from polyladder import __version__, load_dataset

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parents[1] / "docs"


def read(store: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []


def run(store: Path, models: dict[str, Callable[[], Any]], sets: Iterable[str], splits: int | None) -> None:
    """Measure every model on the first so many splits of every data set, one thread, skipping what is in the store."""
    torch.set_num_threads(1)
    store.parent.mkdir(exist_ok=True)
    done = {(r["dataset"], r["split"], r["model"]) for r in read(store)}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    versions = {
        "polyladder": __version__,
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    for name in sets:
        data = load_dataset(name)
        for split in range(len(data.splits))[:splits]:
            for model, make in models.items():
                if (name, split, model) in done:
                    continue
                row = {"dataset": name, "split": split, "model": model} | measure(make(), data, split)
                with store.open("a") as file:
                    file.write(json.dumps(row | {"commit": commit, "versions": versions}) + "\n")
                print(f"{name:28s} {split:2d}  {model:24s} {row['rmse']:.5g}  {row['seconds']:.2f} s", flush=True)


def measure(model: Any, data: Any, split: int) -> dict[str, float]:
    """Test RMSE, and what the fit cost: seconds on the clock, and of the processor, for a machine with other work."""
    train, test = data.splits[split]
    clock, processor = time.perf_counter(), time.process_time()
    model.fit(data.features[train], data.target[train])
    seconds, used = time.perf_counter() - clock, time.process_time() - processor
    error = model.predict(data.features[test]) - data.target[test]
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "seconds": round(seconds, 4),
        "processor_seconds": round(used, 4),
    }


def collected(store: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The rows of each (data set, model)."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in read(store):
        found.setdefault((row["dataset"], row["model"]), []).append(row)
    return found


def paste(page: Path, name: str, table: str) -> None:
    """Replace what stands between <!-- name --> and <!-- end --> of a page."""
    before, rest = page.read_text().split(f"<!-- {name} -->\n")
    page.write_text(f"{before}<!-- {name} -->\n{table}\n<!-- end -->{rest[rest.index('<!-- end -->') + 12 :]}")


def cell(rows: list[dict[str, Any]] | None) -> str:
    """Mean RMSE, its standard error over the splits, and processor seconds a fit."""
    if not rows:
        return ""
    e = np.array([row["rmse"] for row in rows])
    seconds = f"({np.mean([row['processor_seconds'] for row in rows]):.2g} s)"
    if len(e) == 1:
        return f"{e[0]:.3g} {seconds}"
    error = e.std(ddof=1) / len(e) ** 0.5
    if e.mean() < 1e-2:
        return f"{e.mean():.2e} ± {error:.0e} {seconds}"
    # As many decimals as the standard error's second digit has.
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{e.mean():.{places}f} ± {error:.{places}f} {seconds}"
