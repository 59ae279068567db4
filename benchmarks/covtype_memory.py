"""How much memory does a fit by block solves need beyond the data?

covtype: 500,000 rows x 54 columns, one class against the rest as a number.

Run: python benchmarks/covtype_memory.py [--rows 500000]   (POLYLADDER_DATA names the data folder)
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from polyladder import LPNNRegressor
from polyladder_lab import load_dataset


def peak_mebibytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--width", type=int, default=6)
    parser.add_argument("--members", type=int, default=2)
    parser.add_argument("--sweeps", type=int, default=5)
    arguments = parser.parse_args()
    data = load_dataset("covtype-b")
    X, y = data.features[: arguments.rows].copy(), data.target[: arguments.rows].astype(float)
    del data
    model = LPNNRegressor(
        order=arguments.order,
        width=arguments.width,
        n_estimators=arguments.members,
        max_iter=arguments.sweeps,
        solver="alternating",
        random_state=0,
    )
    # A small fit touches all code before the measurement; then the peak of loading is forgotten (Linux).
    model.fit(X[:1000], y[:1000])
    Path("/proc/self/clear_refs").write_text("5")
    current = peak_mebibytes()
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    peak = peak_mebibytes()
    error = 1 - (((model.predict(X[:20_000]) > 0.5) == (y[:20_000] > 0.5)).mean())
    print(f"data {X.nbytes / 2**20:.0f} MiB; resident before the fit {current:.0f} MiB")
    print(f"peak of the fit {peak:.0f} MiB: {peak - current:.0f} MiB beyond; {seconds:.0f} s, error {error:.3f}")


if __name__ == "__main__":
    main()
