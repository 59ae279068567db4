"""Test RMSE on the nine published-split regression sets: ladders tuned and untuned beside three well-known rivals.

Every choice is made on training rows alone. One JSON line a (data set, split, model) is appended to
benchmarks/results/regression_table.jsonl as it is finished; what is there already is not run again.

Run:  python benchmarks/regression_table.py run [--only DATA] [--models M ...]   (POLYLADDER_DATA names the data folder)
      python benchmarks/regression_table.py show
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
import torch
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from polyladder import BatchedGridSearchCV, LPNNRegressor, __version__, load_dataset

STORE = Path(__file__).parent / "results" / "regression_table.jsonl"
SETS = (
    "yacht",
    "boston-housing",
    "energy",
    "concrete",
    "wine-quality-red",
    "kin8nm",
    "power-plant",
    "naval-propulsion-plant",
    "protein-tertiary-structure",
)
LARGE = 4000
"""From so many training rows on, grids are smaller: tuning costs in proportion to the rows, and helps less."""
FOLDS = KFold(5, shuffle=True, random_state=0)
SCORING = "neg_root_mean_squared_error"


def ladder_tuned(n: int) -> Any:
    if n < LARGE:
        return Tuned({"features": ["standard", "yeo-johnson"]}, members=4, sweeps=20)
    return Tuned({"order": [6, 8]}, members=1, sweeps=10)


class Tuned:
    """Grid search with smaller ensembles, then a fit with the default number of ladders and sweeps."""

    def __init__(self, grid: dict[str, list[Any]], members: int, sweeps: int) -> None:
        self.grid, self.members, self.sweeps = grid, members, sweeps

    def fit(self, X: Any, y: Any) -> Tuned:
        model = LPNNRegressor(n_estimators=self.members, max_iter=self.sweeps, random_state=0)
        search = BatchedGridSearchCV(model, self.grid, cv=FOLDS, scoring=SCORING, refit=False).fit(X, y)
        self.best_params_ = search.best_params_
        start = time.perf_counter()
        self.model_ = LPNNRegressor(**search.best_params_, random_state=0).fit(X, y)
        self.refit_time_ = time.perf_counter() - start
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


def searched(model: Any, grid: dict[str, list[Any]]) -> GridSearchCV:
    return GridSearchCV(model, grid, cv=FOLDS, scoring=SCORING)


MODELS: dict[str, Callable[[int], Any]] = {
    "ladder, defaults": lambda n: LPNNRegressor(random_state=0),
    "ladder, tuned": ladder_tuned,
    "boosting, defaults": lambda n: HistGradientBoostingRegressor(random_state=0),
    "boosting, tuned": lambda n: searched(
        HistGradientBoostingRegressor(random_state=0),
        {"max_iter": [100, 300], "max_leaf_nodes": [15, 31]} if n < LARGE else {"max_iter": [100, 300]},
    ),
    "cubic ridge, tuned": lambda n: searched(
        make_pipeline(StandardScaler(), PolynomialFeatures(3, include_bias=False), StandardScaler(), Ridge()),
        {"ridge__alpha": [0.1, 1.0, 10.0, 100.0]},
    ),
    "mlp, tuned": lambda n: searched(
        make_pipeline(
            StandardScaler(), MLPRegressor(hidden_layer_sizes=(50, 50, 50), early_stopping=n >= LARGE, random_state=0)
        ),
        {"mlpregressor__alpha": [1e-4, 1e-1]},
    ),
}


def measure(name: str, split: int, model_name: str, data: Any) -> dict[str, Any]:
    train, test = data.splits[split]
    X, y = data.features, data.target
    # A network needs scaled targets; for the others it changes nothing.
    mean, scale = y[train].mean(), y[train].std()
    model = MODELS[model_name](len(train))
    start = time.perf_counter()
    model.fit(X[train], (y[train] - mean) / scale)
    seconds = time.perf_counter() - start
    error = model.predict(X[test]) * scale + mean - y[test]
    return {
        "data": name,
        "split": split,
        "model": model_name,
        "rmse": float(np.sqrt(np.mean(error**2))),
        "worst": float(np.abs(error).max()),
        "seconds": round(seconds, 3),
        "seconds_of_last_fit": round(float(getattr(model, "refit_time_", seconds)), 3),
        "chosen": str(getattr(model, "best_params_", "")),
    }


def run(only: str | None, models: list[str], splits: int | None) -> None:
    torch.set_num_threads(1)
    done = {(r["data"], r["split"], r["model"]) for r in rows()}
    versions = {
        "polyladder": __version__,
        "torch": torch.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    STORE.parent.mkdir(exist_ok=True)
    for model_name in models:
        for name in SETS if only is None else only.split(","):
            data = load_dataset(name)
            for split in range(len(data.splits) if splits is None else min(splits, len(data.splits))):
                if (name, split, model_name) in done:
                    continue
                row = measure(name, split, model_name, data) | {"commit": commit, "versions": versions}
                with STORE.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(f"{name:28s} {split:2d}  {model_name:20s} {row['rmse']:.5g}  {row['seconds']:.1f} s", flush=True)


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORE.read_text().splitlines()] if STORE.exists() else []


def table() -> str:
    """The results as Markdown: mean RMSE and its standard error, seconds of one fit; then the worst rows."""
    by: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for r in rows():
        by.setdefault((r["data"], r["model"]), []).append(r)
    lines = ["| data (splits) | " + " | ".join(MODELS) + " |", "|---" * (len(MODELS) + 1) + "|"]
    for name in SETS:
        counts = {len(by.get((name, m), ())) for m in MODELS}
        cells = []
        for m in MODELS:
            found = by.get((name, m))
            if not found:
                cells.append("")
                continue
            e = np.array([r["rmse"] for r in found])
            spread = e.std(ddof=1) / len(e) ** 0.5 if len(e) > 1 else float("nan")
            seconds = np.mean([r["seconds_of_last_fit"] for r in found])
            note = f", {len(e)} splits" if len(e) != max(counts) else ""
            cells.append(f"{e.mean():.3g} ± {spread:.1g} ({seconds:.2g} s{note})")
        lines.append(f"| {name} ({max(counts)}) | " + " | ".join(cells) + " |")
    lines += ["", "| data | " + " | ".join(MODELS) + " |", "|---" * (len(MODELS) + 1) + "|"]
    for name in SETS:
        worst = [max((r["worst"] for r in by.get((name, m), ())), default=float("nan")) for m in MODELS]
        lines.append(f"| {name} | " + " | ".join(f"{w:.3g}" for w in worst) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show"])
    parser.add_argument("--only", help="data sets, separated by commas")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--splits", type=int, help="only the first so many")
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(arguments.only, arguments.models, arguments.splits)
    print(table())


if __name__ == "__main__":
    main()
