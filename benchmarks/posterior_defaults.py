"""Is the posterior as good as the selection, and are its error bars as good as those of the sampled ladders alone?

The first published splits of nine regression sets and masks of three more: 5 splits where a table has few rows, 1 where
it has many. On each, three fits with their defaults, one after the other: the selection, the posterior that begins with
one, and the posterior of sampled ladders alone (``selection=False``).

Run: POLYLADDER_DATA=... python -m benchmarks.posterior_defaults [names]     (what is stored already is not run again)
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.compact_defaults import split_of
from benchmarks.record import RESULTS, record
from polyladder import BayesianLPNNRegressor, LPNNRegressor

SPLITS = {
    **dict.fromkeys(("yacht", "bostonHousing", "concrete", "energy", "wine-quality-red", "autompg", "airfoil"), 5),
    **dict.fromkeys(("skillcraft", "power-plant", "kin8nm", "naval-propulsion-plant"), 1),
    "protein-tertiary-structure": 1,
}
LEVEL = 0.9
NAME = "posterior_defaults"


def measured(name: str, split: int) -> dict[str, Any]:
    """The three fits of one split."""
    X, y, X_test, y_test = split_of(name, split)
    found: dict[str, Any] = {"table": name, "split": split, "rows": len(X), "columns": X.shape[1]}
    models = {
        "selection": LPNNRegressor(random_state=0),
        "posterior": BayesianLPNNRegressor(random_state=0),
        "sampled": BayesianLPNNRegressor(selection=False, random_state=0),
    }
    for word, model in models.items():
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
        start = time.process_time()
        predicted = model.predict(X_test)
        figures: dict[str, Any] = {
            "rmse": float(np.sqrt(np.mean((predicted - y_test) ** 2))),
            "seconds": seconds,
            "predict_seconds": time.process_time() - start,
        }
        if isinstance(model, BayesianLPNNRegressor):
            low, high = model.predict_interval(X_test, LEVEL)
            figures["log_likelihood"] = float(model.log_likelihood(X_test, y_test).mean())
            figures["coverage"] = float(((low < y_test) & (y_test < high)).mean())
            figures["disagreeing"] = model.diagnostics_.disagreeing
            figures["weights"] = model.posterior_.weights.n_weights
        found[word] = figures
    return found


def main() -> None:
    """Measure what is not stored yet, and print the means."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    path = RESULTS / f"{NAME}.jsonl"
    stored = [json.loads(line)["figures"] for line in path.read_text().splitlines()] if path.exists() else []
    done = {(each["table"], each["split"]) for each in stored}
    for name in sys.argv[1:] or SPLITS:
        for split in range(SPLITS[name]):
            if (name, split) not in done:
                stored.append(measured(name, split))
                record(NAME, stored[-1], ("polyladder", "torch", "numpy", "scikit-learn"))
    print("| table | splits | RMSE | | | log-likelihood | | in 90 % intervals | | seconds | | |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    print(
        "| | | selection | posterior | sampled | posterior | sampled | posterior | sampled | sel. | post. | sampled |"
    )
    for name in SPLITS:
        rows = [each for each in stored if each["table"] == name]
        if rows:
            print(line_of(name, rows))


def line_of(name: str, rows: list[dict[str, Any]]) -> str:
    """The means of one table, as a line of Markdown."""

    def mean(word: str, figure: str) -> float:
        return float(np.mean([each[word][figure] for each in rows]))

    both, every = ("posterior", "sampled"), ("selection", "posterior", "sampled")
    cells = [f"{mean(word, 'rmse'):.3g}" for word in every]
    cells += [f"{mean(word, 'log_likelihood'):.3f}" for word in both]
    cells += [f"{mean(word, 'coverage'):.3f}" for word in both]
    cells += [f"{mean(word, 'seconds'):.0f}" for word in every]
    return f"| {name} | {len(rows)} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
