"""Draw sparse.svg: what a fit to sparse rows adds to the memory, over the number of columns, one process a fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib as mpl

HERE = Path(__file__).parent
sys.path.append(str(HERE.parents[1] / "benchmarks"))

mpl.use("Agg")
mpl.rcParams.update({"svg.hashsalt": "sparse", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})

COLUMNS = (1_000, 3_000, 10_000, 30_000, 100_000)
ROWS = 20_000
ONE_FIT = """
import re, sys, torch
from pathlib import Path
from sparse_fit import rows
from polyladder import LPNNRegressor

def memory(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

torch.set_num_threads(1)
model = LPNNRegressor(order=3, max_iter=1, random_state=0)
model.fit(*rows(2000, 200, 20))  # loads the libraries that a first fit needs
X, y = rows(int(sys.argv[1]), int(sys.argv[2]), 20)
before = memory("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # Linux: forget the peak so far
model.fit(X, y)
print(memory("VmHWM") - before)
"""


def added_memory(columns: int) -> float:
    """Peak resident memory of one epoch above what was there before, in MB."""
    command = [sys.executable, "-c", ONE_FIT, str(ROWS), str(columns)]
    folder = HERE.parents[1] / "benchmarks"
    return float(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    from matplotlib import pyplot as plt

    found = [added_memory(columns) for columns in COLUMNS]
    dense = [8 * ROWS * columns / 2**20 for columns in COLUMNS]
    figure, axis = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    axis.plot(COLUMNS, dense, "--", color="#999999", label="the rows, were they dense")
    axis.plot(COLUMNS, found, "o-", color="#2166ac", label="added by the fit of a ladder")
    axis.set(xscale="log", yscale="log", xlabel=f"columns ({ROWS:,} rows, 20 ones each)", ylabel="MB")
    axis.legend(frameon=False)
    figure.savefig(HERE / "sparse.svg", metadata={"Date": None})
    for columns, memory, full in zip(COLUMNS, found, dense, strict=True):
        print(f"{columns:,} columns: {memory:.0f} MB, dense {full:.0f} MB")


if __name__ == "__main__":
    main()
