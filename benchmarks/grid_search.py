"""How much faster is a whole grid as few programs than scikit-learn's GridSearchCV over the same estimator?

Two grids on concrete, split 0: Adam (20 settings x 5 folds of 50-50-50 networks) and block solves (10 ridge weights x 5
folds, width 10, 3 layers). Scores must agree. Both searches run in this process, in turn and on equal threads, several
times; the shortest time of each counts. The figures are appended to results/grid_search.jsonl.
Run: python benchmarks/grid_search.py [--threads 1] [--epochs 40] [--repeats 3]
(POLYLADDER_DATA names the data folder)
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from record import record
from sklearn.model_selection import GridSearchCV

from polyladder import BatchedGridSearchCV, GradientTraining, LPNNRegressor
from polyladder_lab import load_dataset


def compare(title: str, model: Any, grid: dict[str, list[Any]], X: Any, y: Any, repeats: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {"GridSearchCV": [], "BatchedGridSearchCV": []}
    scores = {}
    for _ in range(repeats):
        for search in (BatchedGridSearchCV, GridSearchCV):
            start = time.perf_counter()
            fitted = search(model, grid, cv=5, refit=False, scoring="neg_root_mean_squared_error").fit(X, y)
            seconds[search.__name__].append(time.perf_counter() - start)
            scores[search.__name__] = fitted.cv_results_["mean_test_score"]
    one_by_one, batched = (min(seconds[name]) for name in ("GridSearchCV", "BatchedGridSearchCV"))
    apart = float(np.abs(scores["BatchedGridSearchCV"] / scores["GridSearchCV"] - 1).max())
    print(
        f"{title:14s} {one_by_one:7.1f} s  {batched:6.2f} s  {one_by_one / batched:5.1f} x  "
        f"scores differ by {apart:.1e}, relatively",
        flush=True,
    )
    return {"one_by_one": one_by_one, "batched": batched, "ratio": one_by_one / batched, "scores_apart": apart}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    data = load_dataset("concrete")
    rows, _ = data.splits[0]
    X, y = data.features[rows], data.target[rows]
    print(f"{'':14s} {'GridSearchCV':>9s}  batched   ratio")
    settings = {"threads": arguments.threads, "epochs": arguments.epochs, "repeats": arguments.repeats}

    def measured(grid: str, *compared: Any) -> None:
        found = compare(grid, *compared, X, y, arguments.repeats)
        record("grid_search", {"grid": grid, **settings, **found}, ("torch", "scikit-learn", "numpy"))

    measured(
        "block solves",
        LPNNRegressor(order=4, width=10, n_estimators=1, random_state=0),
        {"alpha": list(np.logspace(-5, -1, 10))},
    )
    rates = (1e-3, 2e-3, 5e-3, 1e-2, 2e-2)
    measured(
        "Adam",
        LPNNRegressor(order=4, width=50, solver="adam", max_iter=arguments.epochs, random_state=0),
        {
            "alpha": [1e-6, 1e-5, 1e-4, 5e-4],
            "gradient": [GradientTraining(rate, batch_size=32, dropout=0.0) for rate in rates],
        },
    )


if __name__ == "__main__":
    main()
