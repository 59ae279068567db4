"""What does `polyladder fit` take on a large table with its defaults, and how does it do beside boosted trees?

A table of 20 uniform columns with a smooth target of twelve of them is written as CSV and fitted by the command in a
process of its own, other models included. Computing is processor time over all threads; memory is the peak of the whole
process.

Run: python benchmarks/fit_large.py --rows 200000 --threads 2
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

COLUMNS = 20
COMMAND = "from polyladder.cli.start import run; run()"


def write_table(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (rows, COLUMNS))
    y = np.sin(3 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + np.exp(X[:, 3]) + X[:, 4] ** 2 * X[:, 5] + 0.5 * X[:, 6:12].sum(1)
    y += 0.1 * rng.normal(size=rows)
    pl.DataFrame({**{f"x{i}": X[:, i].round(5) for i in range(COLUMNS)}, "y": y.round(5)}).write_csv(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table, metrics = Path(folder) / "t.csv", Path(folder) / "m.json"
        write_table(table, options.rows)
        words = ["fit", table, "-t", "y", "-o", Path(folder) / "m.ladder", "--metrics", metrics, "--quiet"]
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", COMMAND, *map(str, words), "--threads", str(options.threads)],
            check=True,
            env=os.environ,
        )
        seconds = time.perf_counter() - began
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        scores = json.loads(metrics.read_text())["scores"]
    print(f"{options.rows:,} x {COLUMNS}, {options.threads} threads: {seconds:.0f} s, computing", end=" ")
    print(f"{used.ru_utime + used.ru_stime:.0f} s, peak memory {used.ru_maxrss / 2**20:.2f} GiB")
    for score in scores:
        fitted = f" on {score['rows']:,} rows" if "rows" in score else ""
        print(f"  {score['model']}{fitted}: RMSE {score['rmse']:.4f}, {score['seconds']:.1f} s")


if __name__ == "__main__":
    main()
