"""How fast does `polyladder predict` go through a file that would not fit in memory, beside boosted trees?

A CSV file of ten uniform columns is written a million rows at a time and predicted twice, each time in a process of its
own that reads the file in chunks of about 100,000 rows: by `polyladder predict`, and by scikit-learn's
HistGradientBoostingRegressor behind pandas' chunked reader. Both write their predictions as CSV. Peak memory is that of
the whole process, libraries included; a ten times shorter file shows what of it grows with the rows.

Run: python benchmarks/predict_stream.py --rows 5000000
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from polyladder import LPNNRegressor

NAMES = [f"x{i}" for i in range(10)]

LADDER = "import sys; sys.argv = ['polyladder', 'predict', *sys.argv[1:]]; from polyladder.cli.main import app; app()"

TREES = """
import pickle, sys
import pandas as pd
model, source, _, target = sys.argv[1:]
forest = pickle.load(open(model, "rb"))
with open(target, "w") as sink:
    sink.write("prediction\\n")
    for chunk in pd.read_csv(source, chunksize=100_000):
        pd.Series(forest.predict(chunk.to_numpy())).to_csv(sink, header=False, index=False)
"""

MEASURED = """
import resource, runpy, sys
code, *sys.argv[1:] = sys.argv[1:]
try:
    exec(compile(code, "measured", "exec"), {"__name__": "measured"})
except SystemExit as stop:
    if stop.code:
        raise
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_maxrss, used.ru_utime, used.ru_stime, file=sys.stderr)
"""


def write_rows(path: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("wb") as sink:
        for start in range(0, rows, 1_000_000):
            block = rng.uniform(size=(min(1_000_000, rows - start), 10)).round(6)
            pl.DataFrame(block, schema=NAMES, orient="row").write_csv(sink, include_header=start == 0)


def measured(code: str, *arguments: object) -> tuple[float, float, float]:
    """Seconds, seconds of computing and peak memory in MiB of a process of its own."""
    began = time.perf_counter()
    command = [sys.executable, "-c", MEASURED, code, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    memory, *computing = map(float, done.stderr.strip().splitlines()[-1].split())
    return time.perf_counter() - began, sum(computing), memory / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--folder", type=Path, default=None, help="for the files; by default a temporary one")
    options = parser.parse_args()
    X, y = make_friedman1(2000, noise=1.0, random_state=0)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        LPNNRegressor(order=6, random_state=0).fit(pl.DataFrame(X, schema=NAMES, orient="row"), y).save(
            folder / "m.ladder"
        )
        with threadpool_limits(1):
            forest = HistGradientBoostingRegressor(random_state=0).fit(X, y)
        (folder / "m.pickle").write_bytes(pickle.dumps(forest))
        print(f"{'model':<24}{'rows':>10}{'seconds':>9}{'computing':>11}{'rows a second':>15}{'peak MiB':>10}")
        for rows in (options.rows // 10, options.rows):
            write_rows(folder / "rows.csv", rows)
            for label, code, model in (
                ("polyladder predict", LADDER, folder / "m.ladder"),
                ("HistGradientBoosting", TREES, folder / "m.pickle"),
            ):
                seconds, computing, memory = measured(code, model, folder / "rows.csv", "--output", folder / "out.csv")
                lines = sum(block.count(b"\n") for block in iter((folder / "out.csv").open("rb").read, b""))
                assert lines == rows + 1, lines
                speed = f"{seconds:>9.1f}{computing:>11.1f}{rows / seconds:>15,.0f}"
                print(f"{label:<24}{rows:>10,}{speed}{memory:>10.0f}", flush=True)
            size = os.path.getsize(folder / "rows.csv") / 2**20
            print(f"  ({size:,.0f} MiB)", flush=True)


if __name__ == "__main__":
    main()
