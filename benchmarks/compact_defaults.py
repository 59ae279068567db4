"""What does it cost to put one small ladder in the place of the model that the defaults choose, and what is gained?

Twelve tables, five splits each: the published splits of eight regression sets, masks of three more, and Friedman's
function with noise. Of each split the defaults are fitted with and without a small ladder, one after the other, and
both are held against the test rows. Seconds are those of one processor core: other work beside it counts for little.

Run: POLYLADDER_DATA=... python -m benchmarks.compact_defaults        (what is stored already is not run again)
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from threadpoolctl import threadpool_limits

from benchmarks.record import RESULTS, record
from polyladder import LPNNRegressor, to_source

PUBLISHED = (
    *("bostonHousing", "concrete", "energy", "kin8nm", "naval-propulsion-plant"),
    *("power-plant", "wine-quality-red", "yacht"),
)
MASKED = ("airfoil", "autompg", "skillcraft")
SPLITS = 5
NAME = "compact_defaults"

Array = np.ndarray[Any, Any]


def split_of(name: str, split: int) -> tuple[Array, Array, Array, Array]:
    """Training rows and targets, test rows and targets."""
    folder = Path(os.environ["POLYLADDER_DATA"])
    if name == "friedman1":
        X, y = make_friedman1(2400, noise=0.5, random_state=split)
        return X[:400], y[:400], X[400:], y[400:]
    if (folder / "uci-more" / name).is_dir():
        data = np.loadtxt(folder / "uci-more" / name / "data.csv.gz", delimiter=",")
        held = np.loadtxt(folder / "uci-more" / name / "test_mask.csv.gz", delimiter=",")[:, split] > 0
        return data[~held, :-1], data[~held, -1], data[held, :-1], data[held, -1]
    folder = folder / name / "data" if (folder / name / "data").is_dir() else folder / name
    data = np.loadtxt(folder / "data.txt")
    inputs = np.loadtxt(folder / "index_features.txt").astype(int)
    target = int(np.loadtxt(folder / "index_target.txt"))
    train, test = (np.loadtxt(folder / f"index_{part}_{split}.txt").astype(int) for part in ("train", "test"))
    return data[train][:, inputs], data[train, target], data[test][:, inputs], data[test, target]


def measured(name: str, split: int) -> dict[str, Any]:
    """Both fits of one split."""
    X, y, X_test, y_test = split_of(name, split)
    found: dict[str, Any] = {"table": name, "split": split, "rows": len(X), "columns": X.shape[1]}
    for word, compact in (("large", False), ("compact", "auto")):
        start = time.process_time()
        model = LPNNRegressor(random_state=0, compact=compact).fit(X, y)
        seconds = time.process_time() - start
        start = time.process_time()
        predicted = model.predict(X_test)
        predicting = time.process_time() - start
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.ladder"
            model.save(path)
            size = path.stat().st_size
        found[word] = {
            "rmse": float(np.sqrt(np.mean((predicted - y_test) ** 2))),
            "seconds": seconds,
            "predict_seconds": predicting,
            "weights": model.polynomial_.n_weights,
            "order": model.order_,
            "file_bytes": size,
            "sql_bytes": len(str(to_source(model, "sql"))) if split == 0 else None,
        }
    return found | {"sentence": model.selection_.compact}


def main() -> None:
    """Measure what is not stored yet, and print the means."""
    threadpool_limits(1)
    torch.set_num_threads(1)
    path = RESULTS / f"{NAME}.jsonl"
    stored = [json.loads(line)["figures"] for line in path.read_text().splitlines()] if path.exists() else []
    done = {(each["table"], each["split"]) for each in stored}
    for split in range(SPLITS):
        for name in (*PUBLISHED, *MASKED, "friedman1"):
            if (name, split) not in done:
                figures = measured(name, split)
                record(NAME, figures, ("polyladder", "torch", "numpy", "scikit-learn"))
                stored.append(figures)
                show(figures)
    print(f"{'table':24} {'RMSE':>7} {'worst':>7} {'weights':>9} {'small':>6} {'time':>5} {'kB':>7} {'SQL kB':>7}")
    for name in (*PUBLISHED, *MASKED, "friedman1"):
        rows = [each for each in stored if each["table"] == name]
        ratios = [each["compact"]["rmse"] / each["large"]["rmse"] for each in rows]
        fewer = np.median([each["large"]["weights"] / each["compact"]["weights"] for each in rows])
        slower = sum(each["compact"]["seconds"] for each in rows) / sum(each["large"]["seconds"] for each in rows)
        files = np.median([each["compact"]["file_bytes"] for each in rows]) / 1e3
        sql = next((each["compact"]["sql_bytes"] for each in rows if each["compact"]["sql_bytes"]), 0) / 1e3
        small = np.median([each["compact"]["weights"] for each in rows])
        print(
            f"{name:24} {np.mean(ratios):7.3f} {max(ratios):7.3f} {fewer:8.0f}x {small:6.0f} {slower:5.2f} "
            f"{files:7.0f} {sql:7.0f}"
        )


def show(figures: dict[str, Any]) -> None:
    """One line of a split."""
    large, small = figures["large"], figures["compact"]
    print(
        f"{figures['table']:24} {figures['split']} {small['rmse'] / large['rmse']:.3f} "
        f"{large['seconds']:.1f} -> {small['seconds']:.1f} s, {figures['sentence']}",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    main()
