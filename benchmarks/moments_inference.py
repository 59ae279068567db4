"""What does maximizing the marginal likelihood by the output's moments give, beside the sampler and the bound?

Six regression tables, the first five published splits of each, one of kin8nm. Order, width and chains are the defaults
of `BayesianLPNNRegressor` for all three inferences. Noise of one level and noise that follows the inputs are both run
for the sampler, since the other two are without the latter.

Run: POLYLADDER_DATA=... python -m benchmarks.moments_inference [table ...]      (what is stored is not run again)
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import torch

from benchmarks.compact_defaults import split_of
from benchmarks.record import RESULTS, record
from polyladder import BayesianLPNNRegressor

SPLITS = {"yacht": 5, "bostonHousing": 5, "energy": 5, "concrete": 5, "wine-quality-red": 5, "kin8nm": 1}
INFERENCES: dict[str, dict[str, Any]] = {
    "gibbs": {},
    "gibbs, one noise": {"noise": "gaussian", "heteroscedastic": False},
    "variational": {"inference": "variational"},
    "moments": {"inference": "moments"},
}
NAME = "moments_inference"


def measured(table: str, split: int, inference: str) -> dict[str, Any]:
    """One fit, held against the test rows."""
    X, y, X_test, y_test = split_of(table, split)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BayesianLPNNRegressor(random_state=0, **INFERENCES[inference]).fit(X, y)
    seconds = time.process_time() - began
    center, std = model.predict(X_test, return_std=True)
    low, high = model.predict_interval(X_test, level=0.9)
    error = np.abs(center - y_test)
    return {
        "table": table,
        "split": split,
        "inference": inference,
        "rmse": float(np.sqrt(np.mean(error**2))),
        "log_likelihood": float(model.log_likelihood(X_test, y_test).mean()),
        "coverage": float(((low <= y_test) & (y_test <= high)).mean()),
        "std_and_error": float(np.corrcoef(std, error)[0, 1]) if np.ptp(std) else 0.0,
        "processor_seconds": seconds,
    }


def main(tables: tuple[str, ...]) -> None:
    """Measure what is not stored yet, and print the means."""
    torch.set_num_threads(1)
    path = RESULTS / f"{NAME}.jsonl"
    stored = [json.loads(line)["figures"] for line in path.read_text().splitlines()] if path.exists() else []
    done = {(each["table"], each["split"], each["inference"]) for each in stored}
    for split in range(max(SPLITS.values())):
        for table in tables:
            for inference in INFERENCES:
                if split < SPLITS[table] and (table, split, inference) not in done:
                    figures = measured(table, split, inference)
                    record(NAME, figures, ("polyladder", "torch", "numpy", "scikit-learn"))
                    stored.append(figures)
                    print(figures, file=sys.stderr, flush=True)
    print(as_markdown(stored))


def as_markdown(stored: list[dict[str, Any]]) -> str:
    """The table of means over the splits that all inferences were run on, as `docs/bayesian.md` has it."""
    fields = ("rmse", "log_likelihood", "coverage", "std_and_error", "processor_seconds")
    lines = [
        "| data | inference | splits | RMSE | log-likelihood | in 90 % | std and error | processor s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for table in SPLITS:
        runs = [
            {each["split"]: each for each in stored if (each["table"], each["inference"]) == (table, inference)}
            for inference in INFERENCES
        ]
        shared_splits = sorted(set.intersection(*(set(run) for run in runs)))
        for inference, run in zip(INFERENCES, runs, strict=True):
            if shared_splits:
                rmse, density, coverage, shared, used = (
                    float(np.mean([run[split][field] for split in shared_splits])) for field in fields
                )
                lines.append(
                    f"| {table} | {inference} | {len(shared_splits)} | {rmse:#.3g} | {density:.3f} | {coverage:.2f} "
                    f"| {shared:.2f} | {used:.1f} |"
                )
    return "\n".join(lines)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or tuple(SPLITS))
