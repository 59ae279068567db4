"""How much faster is a whole grid as few programs than scikit-learn's GridSearchCV over the same estimator?

Two grids on concrete, split 0: Adam (20 settings x 5 folds of 50-50-50 networks) and block solves (10 ridge weights x 5
folds, width 10, 3 layers). Scores must agree. Both searches run in this process, one after the other, on equal threads.
Run: python benchmarks/grid_search.py [--epochs 40]   (POLYLADDER_DATA names the data folder)
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV

from polyladder import BatchedGridSearchCV, LPNNRegressor, load_dataset


def compare(title: str, model: Any, grid: dict[str, list[Any]], X: Any, y: Any) -> None:
    seconds, scores = {}, {}
    for search in (BatchedGridSearchCV, GridSearchCV):
        start = time.perf_counter()
        fitted = search(model, grid, cv=5, refit=False, scoring="neg_root_mean_squared_error").fit(X, y)
        seconds[search.__name__] = time.perf_counter() - start
        scores[search.__name__] = fitted.cv_results_["mean_test_score"]
    apart = np.abs(scores["BatchedGridSearchCV"] / scores["GridSearchCV"] - 1).max()
    ratio = seconds["GridSearchCV"] / seconds["BatchedGridSearchCV"]
    print(
        f"{title:14s} {seconds['GridSearchCV']:7.1f} s  {seconds['BatchedGridSearchCV']:6.1f} s  {ratio:5.1f} x  "
        f"scores differ by {apart:.1e}, relatively",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    data = load_dataset("concrete")
    rows, _ = data.splits[0]
    X, y = data.features[rows], data.target[rows]
    print(f"{'':14s} {'GridSearchCV':>9s}  batched   ratio")
    compare(
        "block solves",
        LPNNRegressor(order=4, width=10, n_estimators=1, random_state=0),
        {"alpha": list(np.logspace(-5, -1, 10))},
        X,
        y,
    )
    compare(
        "Adam",
        LPNNRegressor(
            order=4, width=50, solver="adam", dropout=0.0, max_iter=arguments.epochs, batch_size=32, random_state=0
        ),
        {"alpha": [1e-6, 1e-5, 1e-4, 5e-4], "learning_rate": [1e-3, 2e-3, 5e-3, 1e-2, 2e-2]},
        X,
        y,
    )


if __name__ == "__main__":
    main()
