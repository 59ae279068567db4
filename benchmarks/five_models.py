"""
The paper's five models with default settings, side by side on the nine published-split data sets.

Test RMSE and processor seconds a fit, on one thread. One JSON line a fit goes to benchmarks/results/five_models.jsonl.

Run:  python benchmarks/five_models.py run [--only DATA,DATA] [--splits N]     (POLYLADDER_DATA names the data folder)
      python benchmarks/five_models.py show
"""

from __future__ import annotations

import argparse

from published_splits import RESULTS, cell, collected, run

from polyladder import LPNNRegressor
from polyladder.estimators.factorization_machine import FactorizationMachineRegressor
from polyladder.estimators.feedforward import FeedforwardRegressor
from polyladder.estimators.polynomial_kernel import PolynomialKernelRegressor

STORE = RESULTS / "five_models.jsonl"
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
MODELS = {
    "FFR": lambda: FeedforwardRegressor(random_state=0),
    "FFQ": lambda: FeedforwardRegressor(activation="quadratic", random_state=0),
    "FM": lambda: FactorizationMachineRegressor(random_state=0),
    "PK": lambda: PolynomialKernelRegressor(random_state=0),
    "LPNN": lambda: LPNNRegressor(random_state=0),
}


def table() -> str:
    """Markdown: RMSE, its standard error over the splits, and processor seconds a fit."""
    found = collected(STORE)
    lines = ["| data (splits) | " + " | ".join(MODELS) + " |", "|---" * (len(MODELS) + 1) + "|"]
    for name in SETS:
        splits = max(len(found.get((name, model), ())) for model in MODELS)
        if splits:
            cells = [cell(found.get((name, model))) for model in MODELS]
            lines.append(f"| {name} ({splits}) | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show"])
    parser.add_argument("--only", help="data sets, separated by commas")
    parser.add_argument("--splits", type=int, help="only the first so many")
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(STORE, MODELS, SETS if arguments.only is None else arguments.only.split(","), arguments.splits)
    print(table())


if __name__ == "__main__":
    main()
