"""
What does a ladder on sparse rows cost? Peak memory and seconds of a fit that could not be made dense.

200,000 rows of 20 ones among 100,000 columns; the target is a sum of column effects and of products of hidden
column features. Dense, the rows would take 160 GB. Held-out rows tell whether the fit has learned anything.
Run: python benchmarks/sparse_fit.py [--rows N] [--columns D] [--ones K]
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import torch
from scipy import sparse

from polyladder import FactorizationMachineRegressor, LPNNRegressor, PolynomialKernelRegressor

MODELS = {
    "LPNN": lambda: LPNNRegressor(order=3, random_state=0),
    "FM": lambda: FactorizationMachineRegressor(order=2, random_state=0),
    "PK": lambda: PolynomialKernelRegressor(degree=2, random_state=0),
}


def rows(n: int, d: int, ones: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """One-hot rows: as many categorical columns as ones, each with d / ones categories; and their target."""
    random = np.random.default_rng(0)
    size = d // ones
    # Categories as they come: a few frequent ones and many rare ones.
    category = (size * random.random((n, ones)) ** 2).astype(np.int64)
    columns = category + size * np.arange(ones)
    starts = np.arange(0, n * ones + 1, ones)
    X = sparse.csr_matrix((np.ones(n * ones), columns.ravel(), starts), shape=(n, d))
    effect, hidden = random.normal(size=d), random.normal(size=(d, 2))
    sums = hidden[columns].sum(1) / np.sqrt(ones)
    return X, effect[columns].sum(1) / np.sqrt(ones) + sums[:, 0] * sums[:, 1] + 0.1 * random.normal(size=n)


def peak() -> float:
    """Largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--ones", type=int, default=20)
    parser.add_argument("--model", choices=list(MODELS), default="LPNN", help="one a run: peak memory is the process's")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    held = arguments.rows // 10
    X, y = rows(arguments.rows + held, arguments.columns, arguments.ones)
    before = peak()
    clock, processor = time.perf_counter(), time.process_time()
    model = MODELS[arguments.model]().fit(X[held:], y[held:])
    seconds, used = time.perf_counter() - clock, time.process_time() - processor
    error = model.predict(X[:held]) - y[:held]
    print(f"{arguments.model} on {arguments.rows:,} x {arguments.columns:,} rows, {arguments.ones} ones each")
    print(f"fit             {used:8.1f} processor seconds, {seconds:.1f} on the clock, {model.n_iter_} epochs")
    print(f"peak resident   {peak():8.0f} MB, of which {before:.0f} MB before the fit (libraries and rows)")
    print(f"dense, the rows {8 * arguments.rows * arguments.columns / 1e6:8.0f} MB")
    print(f"held-out RMSE   {np.sqrt(np.mean(error**2)):8.3f}, of a constant {y[:held].std():.3f}")


if __name__ == "__main__":
    main()
