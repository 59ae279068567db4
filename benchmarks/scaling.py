"""How fits grow with rows, workers and models, and what a cost model fitted to that predicts.

Each measurement is one line of results/scaling.jsonl; those that are there already are not run again, unless the first
argument is `again`. The last line of a measurement counts.

    python benchmarks/scaling.py rows            one sweep over 1e4 to 1e7 rows of Parquet, and its peak memory
    python benchmarks/scaling.py models          one sweep of 1 to 4,000 ladders at once
    python benchmarks/scaling.py workers         one sweep of settings without an engine, and on 1 and 2 dask workers
    python benchmarks/scaling.py messages        what a task and a kilobyte cost on dask
    python benchmarks/scaling.py equal           the error of a fit in parts beside that of the same fit in memory
    python benchmarks/scaling.py rivals [ROWS]   HistGradientBoosting in memory, XGBoost from external memory
    python benchmarks/scaling.py model           fit the cost model and print tables and predictions
    python benchmarks/scaling.py page            write them into docs/scaling.md

Files of rows are made in the folder SCALING_DATA (by default ./scaling_data) and kept.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from operator import add
from pathlib import Path

import numpy as np
import torch

from benchmarks.record import RESULTS, record

COLUMNS, ORDER, WIDTH, MODELS = 20, 4, 12, 2
FOLDER = Path(os.environ.get("SCALING_DATA", "scaling_data"))
PART_ROWS = 1_000_000
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
AGAIN = sys.argv[1:2] == ["again"]


def known() -> dict[str, dict]:
    path = RESULTS / "scaling.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return {f["key"]: f for f in (json.loads(line)["figures"] for line in lines)}


def once(key: str, measure) -> dict:
    found = known()
    if key not in found or AGAIN:
        figures = {"key": key, **measure()}
        record("scaling", figures, ("torch", "polars", "numpy", "scikit-learn"))
        found[key] = figures
    print(json.dumps(found[key]), flush=True)
    return found[key]


def make_file(n: int) -> Path:
    import polars as pl

    place = FOLDER / f"{n}"
    if place.exists():
        return place
    rng = np.random.default_rng(0)
    work = FOLDER / f"{n}.new"
    work.mkdir(parents=True, exist_ok=True)
    for start in range(0, n, 500_000):
        X, y = rows_of(rng, min(500_000, n - start))
        frame = pl.DataFrame({f"x{i:02d}": X[:, i] for i in range(COLUMNS)} | {"y": y})
        frame.write_parquet(work / f"{start:010d}.parquet", row_group_size=125_000)
    work.rename(place)
    return place


def rows_of(rng, n: int):
    X = rng.normal(size=(n, COLUMNS))
    y = 10 * np.sin(X[:, 0] * X[:, 1]) + 5 * (X[:, 2] - 0.5) ** 2 + 4 * X[:, 3] + 3 * X[:, 4] * X[:, 5] * X[:, 6]
    return X, y + 2 * X[:, 7:].sum(1) + rng.normal(size=n)


def parts_of(place: Path):
    from polyladder.tables.columns import ColumnKind
    from polyladder.tables.file_parts import FileParts, table_files
    from polyladder.tables.partitions import LocalPartitions

    kinds = tuple(ColumnKind(f"x{i:02d}", "number") for i in range(COLUMNS))
    return LocalPartitions(FileParts(table_files(place), kinds, ColumnKind("y", "number"), None, lambda rows: None))


def count(part) -> int:
    return len(part.X)


def one_sweep(n: int) -> dict:
    """In a process of its own, for its peak memory."""
    from polyladder.estimators.partitioned import CodeRows, ScanPart, target_of
    from polyladder.estimators.targets import NumberTarget
    from polyladder.fitted.features import Features
    from polyladder.fitted.whole_features import features_of
    from polyladder.tables.partitions import Coded
    from polyladder.training.partitions.fit import fit_partitions, passes
    from polyladder.training.solves.alternating import random_start

    torch.set_num_threads(1)
    rows = parts_of(make_file(n))
    began = time.perf_counter()
    assert rows.fold(count, add) == n
    reading = time.perf_counter() - began
    scan = rows.fold(ScanPart(10_000, False), add)
    scanning = time.perf_counter() - began - reading
    features = features_of(scan.columns, Features(missing="error"))
    coded = Coded(rows, CodeRows(features, target_of(scan, NumberTarget, "")))
    start = random_start(COLUMNS, (WIDTH,) * (ORDER - 1), 1, list(range(MODELS)), MODELS)
    began = time.perf_counter()
    fit_partitions(start, coded, alpha=1e-6, sweeps=1)
    seconds = time.perf_counter() - began
    return {
        "rows": n,
        "read": reading,
        "scan": scanning,
        "sweep": seconds,
        "passes": passes(ORDER - 1, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_process(function: str, *arguments: object) -> dict:
    code = f"import json; from benchmarks import scaling as s; print(json.dumps(s.{function}(*{arguments!r})))"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def sweep_of_models(models: int) -> dict:
    from polyladder.training.solves.alternating import fit_alternating, random_start

    torch.set_num_threads(1)
    x = torch.randn(500, 8, dtype=torch.float64)
    start = random_start(8, (5, 5), 1, list(range(models)), models)
    began = time.perf_counter()
    fit_alternating(start, x, x[:, 0] * x[:, 1], alpha=1e-4, sweeps=2, tolerance=0.0)
    return {"models": models, "seconds": (time.perf_counter() - began) / 2}


def warm_up() -> None:
    from polyladder import LPNNRegressor

    X, y = rows_of(np.random.default_rng(0), 300)
    LPNNRegressor(order=3, n_estimators=1, max_iter=2).fit(X, y)


def sweep_of_settings(workers: int) -> dict:
    """The same search without an engine, on one thread, and on dask workers of one thread each."""
    from polyladder import BatchedGridSearchCV, LPNNRegressor
    from polyladder_lab.experiments.engine.workers import engine_of

    torch.set_num_threads(1)
    X, y = rows_of(np.random.default_rng(0), 6000)
    model = LPNNRegressor(order=4, n_estimators=1, max_iter=24, solver="alternating", random_state=0)
    search = BatchedGridSearchCV(model, {"width": [8, 9, 10, 11], "alpha": [1e-5, 1e-3]}, cv=3, refit=False)
    with engine_of("dask" if workers else None, jobs=max(1, workers)):
        if workers:
            # Workers import everything at their first task: that is no part of a long sweep.
            import distributed

            distributed.get_client().run(warm_up)
        began = time.perf_counter()
        search.fit(X, y)
        seconds = time.perf_counter() - began
    return {"workers": workers, "seconds": seconds, "score": float(search.cv_results_["mean_test_score"].max())}


def size(numbers: int, part) -> np.ndarray:
    return np.zeros(numbers)


def messages(tasks: int, numbers: int) -> dict:
    import dask.array as da

    from polyladder.tables.dask_partitions import DaskPartitions
    from polyladder_lab.experiments.engine.workers import engine_of

    X = da.zeros((tasks, 1), chunks=(1, 1))
    with engine_of("dask", jobs=2):
        rows = DaskPartitions(X, X[:, 0])
        rows.fold(partial(size, 1), add)
        began = time.perf_counter()
        rows.fold(partial(size, numbers), add)
        seconds = time.perf_counter() - began
    return {"tasks": tasks, "numbers": numbers, "seconds": seconds}


def equal(n: int) -> dict:
    """Sweeps in parts beside the same sweeps in memory, from the same start, in single and in double precision."""
    from polyladder.tables.partitions import LocalPartitions
    from polyladder.training.partitions.fit import fit_partitions
    from polyladder.training.solves.alternating import fit_alternating, random_start

    torch.set_num_threads(1)
    X, y = rows_of(np.random.default_rng(1), n)
    x, y = torch.from_numpy(X), torch.from_numpy((y - y.mean()) / y.std())
    start = random_start(COLUMNS, (WIDTH,) * (ORDER - 1), 1, [0], 1)
    warm = fit_alternating(start, x, y, sweeps=12)
    rows = LocalPartitions(list(zip(x.split(37_000), y.split(37_000), strict=True)))
    found: dict = {"rows": n}
    for name, precision in (("single", torch.float32), ("double", torch.float64)):
        options = {"sweeps": 2, "tolerance": 0.0, "known_alpha": warm.alpha, "precision": precision}
        began = time.perf_counter()
        whole = fit_alternating(warm.polynomial, x, y, **options)
        between = time.perf_counter()
        parts = fit_partitions(warm.polynomial, rows, **options)
        ended = time.perf_counter()
        f = [fit.polynomial(x)[0, :, 0] for fit in (whole, parts)]
        error = [float((each - y).square().mean().sqrt()) for each in f]
        found[name] = {
            "memory_rmse": error[0],
            "parts_rmse": error[1],
            "apart_largest": float((f[0] - f[1]).abs().max()),
            "apart_rms": float((f[0] - f[1]).square().mean().sqrt()),
            "memory_seconds": between - began,
            "parts_seconds": ended - between,
        }
    return found


ORDERS_OF_ROWS = 3
"""The target holds a product of two columns that alone say nothing. Whether a hundred greedy rounds come upon it
depends on the last digits of sums, so on the order of the rows: a single run says little of a rival's error."""


def judged(predict) -> dict:
    """A rival's error on other rows, and how much of the product it has left in its residuals."""
    X, y = rows_of(np.random.default_rng(99), 100_000)
    left, product = y - predict(X), np.sin(X[:, 0] * X[:, 1])
    return {"rmse": float(np.sqrt(np.mean(left**2))), "product_left": float(left @ product / (10 * product @ product))}


def boosted(n: int) -> dict:
    import polars as pl
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = pl.read_parquet(make_file(n) / "*.parquet")
    X, y = rows.drop("y").to_numpy(), rows["y"].to_numpy()
    seconds, found = [], []
    for seed in range(ORDERS_OF_ROWS):
        began = time.perf_counter()
        model = HistGradientBoostingRegressor(random_state=seed).fit(X, y)
        seconds.append(time.perf_counter() - began)
        found.append(judged(model.predict))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"rows": n, "seconds": float(np.median(seconds)), "peak_mib": peak, "runs": found}


def external(n: int) -> dict:
    """XGBoost reads the same files a batch at a time, and keeps its quantized copy on the disk."""
    import xgboost

    class Batches(xgboost.DataIter):
        def __init__(self, parts, folder, seed):
            self.source, self.live, self.seed = parts, None, seed
            super().__init__(cache_prefix=str(folder / f"cache{seed}"), on_host=False)

        def next(self, input_data):
            if self.live is None:
                self.live, self.rng = iter(self.source.batches), np.random.default_rng(self.seed)
            batch = next(self.live, None)
            if batch is None:
                return False
            order = self.rng.permutation(len(batch[1])) if self.seed else slice(None)
            input_data(data=batch[0].to_numpy()[order], label=batch[1][order])
            return True

        def reset(self):
            self.live = None

    rows = parts_of(make_file(n))
    seconds, found = [], []
    for seed in range(ORDERS_OF_ROWS):
        began = time.perf_counter()
        data = xgboost.ExtMemQuantileDMatrix(Batches(rows, FOLDER, seed), max_bin=256)
        model = xgboost.train({"tree_method": "hist", "nthread": 1}, data, num_boost_round=100)
        seconds.append(time.perf_counter() - began)
        found.append(judged(lambda X, model=model: model.predict(xgboost.DMatrix(X))))
        del data
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    own = {"xgboost": xgboost.__version__}
    return {"rows": n, "seconds": float(np.median(seconds)), "peak_mib": peak, "runs": found} | own


def pass_operations(n: float) -> float:
    """Of the mean pass of a sweep: pairs of a block's derivatives times pairs of what it reads, for each ladder."""
    reads = [COLUMNS + 1] * ORDER + [WIDTH + 1] * (ORDER - 2)
    blocks = sum(WIDTH * (WIDTH + 1) / 2 * q * (q + 1) for q in reads)
    return n * MODELS * blocks / (2 * (ORDER - 1) + 2)


@dataclass(frozen=True)
class Cost:
    """Seconds of a byte read, an operation, a task and a byte moved."""

    reading: float
    computing: float
    task: float
    moved: float

    def terms(self, workers: int, n: int) -> tuple[float, float, float, float]:
        """Seconds of one pass: reading, computing, tasks, sums."""
        p, share = WIDTH * (COLUMNS + 1), n / workers
        parts = max(workers, n // PART_ROWS)
        # Results are joined eight at a time: what waits is one join of each level.
        levels = max(1, math.ceil(math.log(max(parts, 2), 8)))
        sums = self.moved * 8 * levels * MODELS * p * (p + 1) * 8
        read = self.reading * share * (COLUMNS + 1) * 8
        return read, self.computing * pass_operations(share), self.task * parts, sums


def fitted_cost(found: dict[str, dict]) -> Cost:
    from scipy.optimize import nnls

    if not {"rows 1000000", "messages 1000 1", "messages 200 600000"} <= set(found):
        sys.exit("Run `rows` and `messages` first.")
    # Large tables only: below, a pass is the start of its threads.
    big = [f for k, f in found.items() if k.startswith("rows ") and f["rows"] >= 100_000]
    bytes_of = np.array([f["rows"] * (COLUMNS + 1) * 8 for f in big])
    reading = float(nnls(bytes_of[:, None], np.array([f["read"] for f in big]))[0][0])
    left = np.array([f["sweep"] / f["passes"] for f in big]) - reading * bytes_of
    computing = float(nnls(np.array([[pass_operations(f["rows"])] for f in big]), left)[0][0])
    told = [f for k, f in found.items() if k.startswith("messages ")]
    matrix = np.array([[f["tasks"], f["tasks"] * f["numbers"] * 8] for f in told])
    task, moved = nnls(matrix, np.array([f["seconds"] for f in told]))[0]
    return Cost(reading, computing, float(task), float(moved))


def page() -> str:
    """The measured part of docs/scaling.md, from what is stored."""
    found = known()
    cost = fitted_cost(found)
    lines = [
        "| rows | a pass that only reads | one sweep (8 passes) | rows/s in a pass | peak memory |",
        "|---|---|---|---|---|",
    ]
    for n in ROWS:
        if f := found.get(f"rows {n}"):
            rate = n * f["passes"] / f["sweep"]
            lines.append(f"| {n:,} | {f['read']:.2f} s | {f['sweep']:.1f} s | {rate:,.0f} | {f['peak_mib']:.0f} MiB |")
    lines += ["", "| ladders at once | seconds of a sweep | ms per ladder |", "|---|---|---|"]
    for k, f in found.items():
        if k.startswith("models "):
            lines.append(f"| {f['models']:,} | {f['seconds']:.3f} | {1e3 * f['seconds'] / f['models']:.2f} |")
    if "workers 2" in found:
        lines += ["", "| a search of 24 fits | seconds |", "|---|---|"]
    for k, f in found.items():
        if k.startswith("workers "):
            where = ("without an engine, one thread", "one dask worker", "two dask workers")[f["workers"]]
            lines.append(f"| {where} | {f['seconds']:.2f} |")
    if (f := found.get("equal 200000")) and "single" in f:
        lines += [
            "",
            "| Gram matrices, 200,000 rows | error in memory | in parts | predictions apart, largest | root mean "
            "square | seconds of two sweeps in memory | in parts |",
            "|---|---|---|---|---|---|---|",
        ]
        for name in ("single", "double"):
            e = f[name]
            cells = f"{e['memory_rmse']:.9f} | {e['parts_rmse']:.9f} | {e['apart_largest']:.1e} | {e['apart_rms']:.1e}"
            lines.append(f"| {name} precision | {cells} | {e['memory_seconds']:.1f} | {e['parts_seconds']:.1f} |")
    names = {"boosted": "HistGradientBoosting, in memory", "external": "XGBoost, external memory"}
    rivals = [(names[k.split()[0]], f) for k, f in found.items() if k.split()[0] in names and "runs" in f]
    if rivals:
        lines += [
            "",
            "| rival, 100 rounds, one thread, three runs | rows | seconds | errors | of the product left "
            "| peak memory |",
            "|---|---|---|---|---|---|",
        ]
        for name, f in rivals:
            errors = ", ".join(f"{run['rmse']:.2f}" for run in f["runs"])
            left = ", ".join(f"{100 * run['product_left']:.0f} %" for run in f["runs"])
            lines.append(
                f"| {name} | {f['rows']:,} | {f['seconds']:.0f} | {errors} | {left} | {f['peak_mib']:.0f} MiB |"
            )
    lines += [
        "",
        f"Fitted to these: a worker reads {1e-9 / cost.reading:.2f} GB/s and does",
        f"{1e-9 / cost.computing:.1f} G operations/s;",
        f"{1e3 * cost.task:.1f} ms for the tasks of a part, {1e-6 / max(cost.moved, 1e-15):.0f} MB/s for moving sums.",
        "",
        "| workers | rows | read | compute | tasks | sums | a pass | two sweeps |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for workers, n in ((1, 10**7), (2, 10**7), (100, 10**9), (100, 10**10), (1000, 10**10)):
        terms = cost.terms(workers, n)
        cells = " | ".join(f"{t:.1f} s" for t in (*terms, sum(terms)))
        lines.append(
            f"| {workers:,} | {n:.0e} | {cells} | {(2 * (2 * ORDER - 1) + 1) * sum(terms) / 60:.0f} min |".replace(
                "e+", "e"
            )
        )
    return "\n".join(lines)


def write_page() -> None:
    place = Path(__file__).parent.parent / "docs" / "scaling.md"
    text = place.read_text()
    head, rest = text.split("<!-- measured -->")
    tail = rest.split("<!-- end of measured -->")[1]
    place.write_text(f"{head}<!-- measured -->\n\n{page()}\n\n<!-- end of measured -->{tail}")


def main(what: str, *more: str) -> None:
    if what == "rows":
        for n in [int(float(m)) for m in more] or ROWS:
            make_file(n)
            once(f"rows {n}", partial(in_process, "one_sweep", n))
    elif what == "models":
        for models in (1, 10, 100, 1000, 4000):
            once(f"models {models}", partial(in_process, "sweep_of_models", models))
    elif what == "workers":
        for workers in (0, 1, 2):
            once(f"workers {workers}", partial(in_process, "sweep_of_settings", workers))
    elif what == "messages":
        for tasks, numbers in ((100, 1), (1000, 1), (200, 60_000), (200, 600_000)):
            once(f"messages {tasks} {numbers}", partial(in_process, "messages", tasks, numbers))
    elif what == "equal":
        once("equal 200000", partial(in_process, "equal", 200_000))
    elif what == "rivals":
        for n in [int(float(m)) for m in more] or [1_000_000]:
            once(f"boosted {n}", partial(in_process, "boosted", n))
            once(f"external {n}", partial(in_process, "external", n))
    elif what == "model":
        print(page())
    elif what == "page":
        write_page()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*([word for word in sys.argv[1:] if word != "again"] or [""]))
