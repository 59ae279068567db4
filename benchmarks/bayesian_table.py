"""Test RMSE, log-likelihood and coverage of the Bayesian regressor on the nine published-split sets, with its defaults.

Nothing is tuned: what the estimator chooses it chooses on the training rows. One JSON line a split is appended to
benchmarks/results/bayesian_table.jsonl as it is finished; what is there already is not run again.

Run:  python benchmarks/bayesian_table.py run [--only DATA] [--splits K]     (POLYLADDER_DATA names the data folder)
      python benchmarks/bayesian_table.py show
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from published_splits import RESULTS, read

from polyladder import __version__, load_dataset
from polyladder.estimators.bayesian import BayesianLPNNRegressor

STORE = RESULTS / "bayesian_table.jsonl"
SETS = (
    "boston-housing",
    "concrete",
    "energy",
    "kin8nm",
    "naval-propulsion-plant",
    "power-plant",
    "protein-tertiary-structure",
    "wine-quality-red",
    "yacht",
)
CHEAP_FIRST = ("yacht", "boston-housing", "energy", "wine-quality-red", "concrete", *SETS[3:6], SETS[6])
ANCHORS = {
    "PBP": (-2.57, -3.16, -2.04, 0.90, 3.73, -2.84, -2.97, -0.97, -1.63),
    "MC dropout": (-2.46, -3.04, -1.99, 0.95, 3.80, -2.80, -2.89, -0.93, -1.55),
    "deep ensembles": (-2.41, -3.06, -1.38, 1.20, 5.63, -2.79, -2.83, -0.94, -1.18),
    "DVI": (-2.41, -3.06, -1.01, 1.13, 6.29, -2.80, -2.85, -0.90, -0.47),
    "tuned dropout": (-2.40, -2.93, -1.21, 1.14, 4.45, -2.80, -2.87, -0.93, -1.25),
}
"""Published mean log-likelihoods on the same splits, in the order of `SETS`: Hernandez-Lobato and Adams (2015), Gal and
Ghahramani (2016), Lakshminarayanan et al. (2017), Wu et al. (2019), Mukhoti et al. (2018)."""


def measure(data: Any, split: int) -> dict[str, Any]:
    train, test = data.splits[split]
    model = BayesianLPNNRegressor(random_state=0)
    clock, processor = time.perf_counter(), time.process_time()
    model.fit(data.features[train], data.target[train])
    seconds, used = time.perf_counter() - clock, time.process_time() - processor
    X, y = data.features[test], data.target[test]
    error = model.predict(X) - y
    low, high = model.predict_interval(X, 0.9)
    return {
        "rmse": float(np.sqrt(np.mean(error**2))),
        "log_likelihood": float(model.log_likelihood(X, y).mean()),
        "coverage": float(np.mean((low < y) & (y < high))),
        "width": float(np.mean(high - low)),
        "order": model.order_,
        "rhat": float(np.nanmedian(model.diagnostics_.rhat)),
        "seconds": round(seconds, 3),
        "processor_seconds": round(used, 3),
    }


def run(only: str | None, splits: int | None) -> None:
    torch.set_num_threads(1)
    STORE.parent.mkdir(exist_ok=True)
    done = {(r["dataset"], r["split"]) for r in read(STORE)}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    versions = {
        "polyladder": __version__,
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    for name in CHEAP_FIRST if only is None else only.split(","):
        data = load_dataset(name)
        for split in range(len(data.splits))[:splits]:
            if (name, split) in done:
                continue
            row = {"dataset": name, "split": split} | measure(data, split)
            with STORE.open("a") as file:
                file.write(json.dumps(row | {"commit": commit, "versions": versions}) + "\n")
            print(
                f"{name:28s} {split:2d}  {row['rmse']:.5g}  {row['log_likelihood']:.3f}  {row['coverage']:.3f}  "
                f"{row['processor_seconds']:.1f} s",
                flush=True,
            )


def table(store: Path = STORE) -> str:
    """The results as Markdown, the published log-likelihoods beside; the best figure of each row is marked."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in read(store):
        found.setdefault(row["dataset"], []).append(row)
    head = ["data (splits)", "RMSE", "90 % covers", "seconds", "log-likelihood", *ANCHORS]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for i, name in enumerate(SETS):
        if name not in found:
            continue
        rows = found[name]

        def mean(key: str, rows: list[dict[str, Any]] = rows) -> tuple[float, float]:
            values = np.array([row[key] for row in rows])
            return float(values.mean()), float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else np.nan

        rmse, ll, covered = mean("rmse"), mean("log_likelihood"), mean("coverage")
        published = {anchor: values[i] for anchor, values in ANCHORS.items()}
        best = max(round(ll[0], 2), *published.values())
        cells = [f"{value:.2f}" for value in published.values()]
        cells = [f"**{c}**" if float(c) == best else c for c in cells]
        mine = f"{ll[0]:.2f} ± {ll[1]:.2f}"
        lines.append(
            f"| {name} ({len(rows)}) | {rmse[0]:.3g} ± {rmse[1]:.1g} | {covered[0]:.3f} | "
            f"{mean('processor_seconds')[0]:.2g} | {f'**{mine}**' if round(ll[0], 2) == best else mine} | "
            + " | ".join(cells)
            + " |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show"])
    parser.add_argument("--only", help="data sets, separated by commas")
    parser.add_argument("--splits", type=int, help="only the first so many")
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(arguments.only, arguments.splits)
    print(table())


if __name__ == "__main__":
    main()
