"""
Do factorization machines and polynomial kernels fitted by exact steps reach the classic coordinate-descent fits?

Test RMSE over the published splits with untuned defaults, beside the figures of the classic implementation at ranks of
about 5, which took 0.2 to 6.8 seconds a fit. One JSON line a fit goes to benchmarks/results/relatives.jsonl.

Run:  python benchmarks/relatives.py run [--splits N]     (POLYLADDER_DATA names the data folder)
      python benchmarks/relatives.py show | paste     (paste: into docs/rivals.md)
"""

from __future__ import annotations

import argparse

import numpy as np
from published_splits import DOCS, RESULTS, cell, collected, paste, run

from polyladder.estimators.factorization_machine import FactorizationMachineRegressor
from polyladder.estimators.polynomial_kernel import PolynomialKernelRegressor

STORE = RESULTS / "relatives.jsonl"
SETS = ("boston-housing", "concrete", "energy", "yacht", "wine-quality-red")
MODELS = {
    "kernels, degree 2": lambda: PolynomialKernelRegressor(degree=2, random_state=0),
    "kernels, degree 3": lambda: PolynomialKernelRegressor(degree=3, random_state=0),
    "machine, order 2": lambda: FactorizationMachineRegressor(order=2, random_state=0),
    "machine, order 3": lambda: FactorizationMachineRegressor(order=3, random_state=0),
}
CLASSIC = {
    "kernels, degree 2": (3.58, 7.76, 1.08, 4.39, 0.655),
    "kernels, degree 3": (10.1, 6.37, 0.54, 1.63, 0.827),
    "machine, order 2": (3.33, 8.86, 1.34, 9.46, 0.654),
    "machine, order 3": (3.99, 8.50, 1.06, 10.3, 0.717),
}


def table() -> str:
    """Markdown: for each model our RMSE (processor seconds a fit), and the classic one."""
    found = collected(STORE)
    lines = ["| | " + " | ".join(SETS) + " |", "|---" * (len(SETS) + 1) + "|"]
    for model in MODELS:
        ours = [found.get((name, model)) for name in SETS]
        lines.append(f"| {model} | " + " | ".join(cell(rows) for rows in ours) + " |")
        marks = []
        for rows, classic in zip(ours, CLASSIC[model], strict=True):
            worse = rows is not None and np.mean([row["rmse"] for row in rows]) > classic
            marks.append(f"{classic:g}{' (better)' if worse else ''}")
        lines.append("| coordinate descent | " + " | ".join(marks) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show", "paste"])
    parser.add_argument("--splits", type=int, help="only the first so many")
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(STORE, MODELS, SETS, arguments.splits)
    elif arguments.action == "paste":
        paste(DOCS / "rivals.md", "relatives", table())
    print(table())


if __name__ == "__main__":
    main()
