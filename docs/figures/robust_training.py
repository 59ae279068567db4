"""Draw robust_training.svg: what robustness costs in accuracy, from benchmarks/results/robust_training.jsonl."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

mpl.use("Agg")
mpl.rcParams.update(
    {"svg.hashsalt": "robust_training", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
)

HERE = Path(__file__).parent
RESULTS = HERE.parents[1] / "benchmarks" / "results" / "robust_training.jsonl"
WAYS = {
    "plain": ("plain", "#555555", "o"),
    "jacobian": ("penalty on derivatives", "#b8860b", "s"),
    "attack": ("attacked rows", "#c0392b", "^"),
    "bound": ("bounded rows", "#2456a6", "D"),
}


def main() -> None:
    """One panel for each radius: filled marks are proven, hollow ones stand the attack."""
    figures = json.loads(RESULTS.read_text(encoding="utf-8").splitlines()[-1])["figures"]
    radii = figures["radii"][1:]
    fig, axes = plt.subplots(1, len(radii), figsize=(7.6, 3.5), sharex=True, sharey=True, layout="constrained")
    for ax, radius in zip(axes, radii, strict=True):
        at = figures["radii"].index(radius)
        for way, (label, color, mark) in WAYS.items():
            own = [ladder for ladder in figures["ladders"] if ladder["way"] == way]
            x = [100 * ladder["accuracy"] for ladder in own]
            proven, attacked = ([100 * ladder[kind][at] for ladder in own] for kind in ("certified", "attacked"))
            for place, low, high in zip(x, proven, attacked, strict=True):
                ax.plot([place, place], [low, high], color=color, linewidth=0.8, alpha=0.6)
            ax.plot(x, attacked, mark, color=color, markerfacecolor="white", markersize=6)
            ax.plot(x, proven, mark, color=color, markersize=6, label=label)
        ax.set_title(f"pixels may move by {radius:g}", fontsize=9)
        ax.set_xlabel("right without moves, % of all test rows")
        ax.set_ylim(-4, 104)
        ax.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes[0].set_ylabel("still right, % of 150 test rows\nfilled: proven, hollow: under attack")
    axes[-1].legend(fontsize=8, frameon=False, loc="upper left")
    fig.savefig(HERE / "robust_training.svg", metadata={"Date": None})
    if len(sys.argv) > 1:
        fig.savefig(sys.argv[1], dpi=110)


if __name__ == "__main__":
    main()
