"""
The paper's five models with default settings, side by side on the nine published-split data sets.

Test RMSE and processor seconds a fit, on one thread: all 20 splits of the sets below 2,000 rows, 5 of those of some
10,000, 2 of the largest. One JSON line a fit goes to benchmarks/results/five_models.jsonl.

Run:  python benchmarks/five_models.py run [--only DATA,DATA] [--models M ...]   (POLYLADDER_DATA names the data folder)
      python benchmarks/five_models.py show | paste     (paste: into docs/rivals.md)
"""

from __future__ import annotations

import argparse

from published_splits import DOCS, RESULTS, cell, collected, paste, run

from polyladder import LPNNRegressor
from polyladder.estimators.factorization_machine import FactorizationMachineRegressor
from polyladder.estimators.feedforward import FeedforwardRegressor
from polyladder.estimators.polynomial_kernel import PolynomialKernelRegressor

STORE = RESULTS / "five_models.jsonl"
SETS = {
    "yacht": 20,
    "boston-housing": 20,
    "energy": 20,
    "concrete": 20,
    "wine-quality-red": 20,
    "kin8nm": 5,
    "power-plant": 5,
    "naval-propulsion-plant": 5,
    "protein-tertiary-structure": 2,
}
"""The first so many splits of each."""
MODELS = {
    "FFR": lambda: FeedforwardRegressor(random_state=0),
    "FFQ": lambda: FeedforwardRegressor(activation="quadratic", random_state=0),
    "FM": lambda: FactorizationMachineRegressor(random_state=0),
    "PK": lambda: PolynomialKernelRegressor(random_state=0),
    "LPNN": lambda: LPNNRegressor(random_state=0),
}


def table() -> str:
    """Markdown: RMSE, its standard error and processor seconds a fit, over the splits that all models were run on."""
    found = collected(STORE)
    lines = ["| data (splits) | " + " | ".join(MODELS) + " |", "|---" * (len(MODELS) + 1) + "|"]
    for name, splits in SETS.items():
        by_model = [found.get((name, model), []) for model in MODELS]
        # Splits differ more than models do: only those that all models were run on are compared.
        common = set.intersection(*({row["split"] for row in rows} for rows in by_model))
        cells = [cell([row for row in rows if row["split"] in common]) for rows in by_model]
        count = f"{splits}" if len(common) == splits else f"{len(common)} of {splits}"
        lines.append(f"| {name} ({count}) | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show", "paste"])
    parser.add_argument("--only", help="data sets, separated by commas")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    arguments = parser.parse_args()
    if arguments.action == "run":
        chosen = {model: MODELS[model] for model in arguments.models}
        names = list(SETS) if arguments.only is None else arguments.only.split(",")
        # Breadth first: a run that is cut short has something of every set.
        for most in (1, 2, 5, 20):
            for name in names:
                run(STORE, chosen, [name], min(most, SETS[name]))
    elif arguments.action == "paste":
        paste(DOCS / "rivals.md", "five models", table())
    print(table())


if __name__ == "__main__":
    main()
