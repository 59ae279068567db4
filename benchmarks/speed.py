"""How long do fits and predictions take, and how much memory, beside boosted trees, a small network and linear models?

One command, one table: every rival is fitted in this run, one after the other, on the same threads and rows (by default
one thread). Seconds are those of the processor, so that others on the machine disturb them less. Memory is the peak
beyond what was there before the fit, each in a process of its own. Beside ours stand the operations of the block
solves, as the cost model counts them, and what share of this processor's measured peak (float32 products) they reach.
"ladders, fixed" have a given order and features, "ladders, default" choose both. A fit that has no end after --limit
seconds is given up, and the table says so. With --out a run goes on from what the file holds of this commit.
Run: python benchmarks/speed.py [--sizes 300x6 15000x18] [--threads 1] [--task regression] [--out file.json]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import resource
import subprocess
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

SIZES = ["277x6", "500x10", "2000x10", "15000x18", "36000x8", "2300x128", "2300x500", "200000x54"]
HOPELESS = 5_000_000
"""Rows times columns above which ladders are not selected here: that takes minutes."""

FIXED, DEFAULT = "ladders, fixed", "ladders, default"
MODELS = ["boosted trees", FIXED, DEFAULT, "network", "linear"]

Row = dict[str, Any]


def table(task: str, n: int, d: int) -> tuple[Any, Any]:
    """Friedman's function of five columns with noise, the others idle, or whether it is above its median."""
    import numpy as np
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n, max(5, d), noise=0.5, random_state=0)
    return X[:, :d], (y > np.median(y)).astype(int) if task == "classification" else y


def rivals(task: str) -> dict[str, Any]:
    """The estimators by name, with defaults but for a network that stops early."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from polyladder import LPNNClassifier, LPNNRegressor

    fast: dict[str, Any] = {"early_stopping": True, "n_iter_no_change": 5, "batch_size": 256, "random_state": 0}
    if task == "classification":
        return {
            "boosted trees": HistGradientBoostingClassifier(random_state=0),
            FIXED: LPNNClassifier(order=4, features="standard", random_state=0),
            DEFAULT: LPNNClassifier(random_state=0),
            "network": make_pipeline(StandardScaler(), MLPClassifier(hidden_layer_sizes=(64, 64), **fast)),
            "linear": make_pipeline(StandardScaler(), LogisticRegression()),
        }
    return {
        "boosted trees": HistGradientBoostingRegressor(random_state=0),
        FIXED: LPNNRegressor(order=6, features="standard", random_state=0),
        DEFAULT: LPNNRegressor(random_state=0),
        "network": make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(64, 64), **fast)),
        "linear": make_pipeline(StandardScaler(), RidgeCV()),
    }


def peak_operations() -> float:
    """Operations a second of a large float32 product, the best of five."""
    import torch

    a = torch.randn(1500, 1500)
    best = 0.0
    for _ in range(5):
        start = time.process_time()
        a @ a
        best = max(best, 2 * 1500**3 / (time.process_time() - start))
    return best


def measure(task: str, name: str, n: int, d: int, threads: int) -> dict[str, Any]:
    """Fit and predict once, in this process."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(threads)
    warnings.simplefilter("ignore")
    X, y = table(task, n + 10_000, d)
    train, test = (X[:n], y[:n]), (X[n:], y[n:])
    model = rivals(task)[name]
    with threadpool_limits(threads):
        rivals(task)[name].fit(*(t[:200] for t in train))  # what is loaded and compiled at the first call
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        model.fit(*train)
        seconds = time.process_time() - start
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        times = {rows: best_time(lambda rows=rows: model.predict(test[0][:rows])) for rows in (1, 10_000)}
        found = {"task": task, "rows": n, "columns": d, "model": name, "fit_seconds": seconds, "peak_mib": memory}
        found |= {"rows_a_second": 10_000 / times[10_000], "one_row_ms": 1e3 * times[1], "score": model.score(*test)}
        if name == FIXED:
            found |= work_of(model, n, d, seconds)
    return found


def best_time(run: Any) -> float:
    """The least processor time of a few runs."""
    run()
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def work_of(model: Any, n: int, d: int, seconds: float) -> dict[str, Any]:
    """What our fit decided, its operations and the share of the processor's peak."""
    import torch

    from polyladder.estimators.cost import Shape
    from polyladder.estimators.rows import TrainingRows
    from polyladder.estimators.work import work_for

    decided = {"solver": model.solver_, "ladders": len(model.members_), "sweeps": model.n_iter_}
    if model.solver_ != "alternating":
        return decided
    outputs, width, order = model.members_.out_features, model.members_.hidden[0], model.order_
    rows = TrainingRows(torch.zeros(1, 1).expand(n, d), torch.zeros(1, 1).expand(n, outputs), None, outputs, "squared")
    shape, left, operations = Shape(n, d, width, order, outputs), model.n_iter_, 0.0
    for stage in work_for("auto", rows, width, order, None, None).stages:
        operations += len(model.members_) * min(left, stage.sweeps) * shape.sweep_operations(stage.share)
        left = max(0, left - stage.sweeps)
    return decided | {"operations": operations, "share_of_peak": operations / seconds / peak_operations()}


def measured_apart(key: Row, limit: float, threads: int) -> Row:
    """Measure in a fresh process, whose peak memory is its own; or say why not."""
    if key["model"] == DEFAULT and key["rows"] * key["columns"] > HOPELESS:
        return key | {"left_out": "a selection on so large a table takes minutes"}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            arguments = (key["task"], key["model"], key["rows"], key["columns"], threads)
            return pool.apply_async(measure, arguments).get(limit)
        except multiprocessing.TimeoutError:
            return key | {"left_out": f"no end after {limit:g} s"}


def circumstances(threads: int) -> dict[str, Any]:
    """The commit, the machine and the versions that are measured."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    versions = {name: version(name) for name in ("torch", "scikit-learn", "numpy")}
    return {"commit": commit, "threads": threads, "machine": platform.machine(), "versions": versions}


def measured_before(path: Path | None, now: dict[str, Any]) -> list[Row]:
    """What the file holds, if it was measured under the same circumstances."""
    if path is None or not path.exists():
        return []
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows: list[Row] = record.pop("rows")
    return rows if record == now else []


def store(found: list[Row], now: dict[str, Any], path: Path) -> None:
    """Write what has been measured so far."""
    from polyladder.files.replace_file import write_atomically

    write_atomically((json.dumps(now | {"rows": found}, indent=1) + "\n").encode(), path)


def line(row: Row) -> str:
    """One line of the table."""
    what = f"{row['task']:14s} {row['rows']:7d} x {row['columns']:<3d} {row['model']:16s}"
    if "left_out" in row:
        return f"{what} not measured: {row['left_out']}"
    share = f"{row['share_of_peak']:5.2f}" if "share_of_peak" in row else ""
    ratio = f"{row['ratio']:6.1f}" if "ratio" in row else 6 * " "
    return (
        f"{what} {row['fit_seconds']:6.2f}  {ratio}  {row['peak_mib']:8.0f}  {row['rows_a_second']:8.0f}  "
        f"{row['one_row_ms']:10.2f}  {row['score']:6.3f}  {share}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--task", nargs="+", default=["regression", "classification"])
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a fit and its predictions may take")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    now = circumstances(arguments.threads)
    found = measured_before(arguments.out, now)
    names = f"{'task':14s} {'rows x cols':13s} {'model':16s}"
    print(f"{names}  fit s   ratio  peak MiB    rows/s  one row ms   score  share")
    for task in arguments.task:
        for size in arguments.sizes:
            n, d = map(int, size.split("x"))
            for name in arguments.models:
                key = {"task": task, "rows": n, "columns": d, "model": name}
                known = [row for row in found if key.items() <= row.items()]
                if not known:
                    known = [measured_apart(key, arguments.limit, arguments.threads)]
                    found += known
                trees = [r for r in found if (key | {"model": MODELS[0]}).items() <= r.items() and "fit_seconds" in r]
                if trees and "fit_seconds" in known[0]:
                    known[0]["ratio"] = known[0]["fit_seconds"] / trees[0]["fit_seconds"]
                print(line(known[0]), flush=True)
                if arguments.out is not None:
                    store(found, now, arguments.out)


if __name__ == "__main__":
    main()
