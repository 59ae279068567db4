"""Draw bounds.svg: the three Lipschitz bounds beside the largest gradient found, over the radius and over the order."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import torch

from polyladder import lipschitz_bound

HERE = Path(__file__).parent
sys.path.append(str(HERE.parents[1] / "benchmarks"))
from bounds_tightness import INPUTS, METHODS, largest_gradient, trained_ladders  # noqa: E402

mpl.use("Agg")
mpl.rcParams.update({"svg.hashsalt": "bounds", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
from matplotlib import pyplot as plt  # noqa: E402

COLORS = {"paper": "#b2182b", "recursive": "#ef8a62", "local": "#2166ac"}
SEEDS, STEPS = 5, 1500


def main() -> None:
    """Train, search, bound and draw."""
    torch.set_num_threads(1)
    origin = torch.zeros(INPUTS, dtype=torch.float64)
    trained = {order: trained_ladders(order, SEEDS, STEPS) for order in range(2, 7)}
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.3), layout="constrained")

    net = trained[4][0]
    radii = torch.logspace(-1.5, 0.6, 22).tolist()
    for method in METHODS:
        values = [float(lipschitz_bound(net, r, origin, method)) for r in radii]
        left.plot(radii, values, color=COLORS[method], label=method)
    found = [float(largest_gradient(net, origin, r)) for r in radii]
    left.plot(radii, found, "k.", markersize=4, label="found by search")
    left.set(xscale="log", yscale="log", xlabel="radius", ylabel="gradient norm", title="one trained ladder of order 4")
    left.legend(frameon=False)

    largest = {order: largest_gradient(p, origin, 1.0) for order, p in trained.items()}
    for method in METHODS:
        ratios = torch.stack([lipschitz_bound(p, 1.0, origin, method) / largest[order] for order, p in trained.items()])
        right.plot(list(trained), ratios.median(-1).values, "o-", markersize=4, color=COLORS[method], label=method)
    right.axhline(1, color="k", linewidth=0.8, linestyle=":")
    right.set(yscale="log", xlabel="order", ylabel="bound / found", title="unit ball, median of 5 trained ladders")
    right.set_xticks(list(trained))
    figure.savefig(HERE / "bounds.svg", metadata={"Date": None})
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], dpi=110)


if __name__ == "__main__":
    main()
