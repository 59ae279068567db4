"""Draw robustness.svg: certified and attacked error of a model of the concrete data against the radius."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib as mpl
import torch

from polyladder import LPNNRegressor, plot_robustness, robustness_curve
from polyladder_lab import load_dataset

mpl.use("Agg")
mpl.rcParams.update(
    {"svg.hashsalt": "robustness", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
)

HERE = Path(__file__).parent


def main() -> None:
    """Fit, certify, attack and draw."""
    torch.set_num_threads(1)
    data = load_dataset("concrete", os.environ.get("POLYLADDER_DATA"))
    split = data.splits[0]
    model = LPNNRegressor(order=4, n_estimators=1, random_state=0).fit(
        data.features[split.train], data.target[split.train]
    )
    X, y = data.features[split.test], data.target[split.test]
    curve = robustness_curve(model, X, y, [0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05])
    ax = plot_robustness(curve)
    ax.set_title("concrete, order 4: mean error in MPa of 103 test rows", fontsize=9)
    ax.figure.savefig(HERE / "robustness.svg", metadata={"Date": None})
    if len(sys.argv) > 1:
        ax.figure.savefig(sys.argv[1], dpi=110)
    print(curve)


if __name__ == "__main__":
    main()
