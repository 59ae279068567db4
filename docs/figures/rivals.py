"""Draw rivals.svg from the stored results: five models relative to the ladder, relatives beside the classic fits."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np

HERE = Path(__file__).parent
sys.path.append(str(HERE.parents[1] / "benchmarks"))
import five_models  # noqa: E402
import relatives  # noqa: E402
from published_splits import collected  # noqa: E402

mpl.use("Agg")
mpl.rcParams.update({"svg.hashsalt": "rivals", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
from matplotlib import pyplot as plt  # noqa: E402

COLORS = {"FFR": "#b2182b", "FFQ": "#ef8a62", "FM": "#7b3294", "PK": "#5aae61", "LPNN": "#2166ac"}
SHORT = {"naval-propulsion-plant": "naval", "protein-tertiary-structure": "protein", "wine-quality-red": "wine red"}


def five(axis: plt.Axes) -> None:
    """RMSE over the ladder's, on the splits that both were run on."""
    found = collected(five_models.STORE)
    by_split = {key: {row["split"]: row["rmse"] for row in rows} for key, rows in found.items()}
    names = list(five_models.SETS)
    # A lane a model, so that equal results do not hide each other.
    for lane, (model, color) in zip(np.linspace(-0.28, 0.28, len(COLORS)), COLORS.items(), strict=True):
        ratios = []
        for name in names:
            ours, theirs = by_split.get((name, "LPNN"), {}), by_split.get((name, model), {})
            both = sorted(ours.keys() & theirs.keys())
            means = [np.mean([own[split] for split in both]) if both else np.nan for own in (theirs, ours)]
            ratios.append(means[0] / means[1])
        marker = "D" if model == "LPNN" else "o"
        axis.plot(ratios, np.arange(len(names)) + lane, marker, color=color, label=model, markersize=5)
    axis.axvline(1, color=COLORS["LPNN"], linewidth=0.8)
    axis.set(xscale="log", xlabel="test RMSE / that of LPNN", yticks=range(len(names)))
    axis.set_yticklabels([SHORT.get(name, name) for name in names])
    axis.set_xticks([1, 2, 5, 10, 20, 50], labels=["1", "2", "5", "10", "20", "50"])
    axis.set_xticks([], minor=True)
    axis.invert_yaxis()
    axis.legend(frameon=False, loc="center right")
    axis.set_title("five models, default settings", loc="left", fontsize=10)


def against_classic(axis: plt.Axes) -> None:
    """RMSE over that of the classic coordinate descent."""
    found = collected(relatives.STORE)
    colors = ("#5aae61", "#1b7837", "#c2a5cf", "#7b3294")
    for lane, model, color in zip(np.linspace(-0.24, 0.24, 4), relatives.MODELS, colors, strict=True):
        means = [np.mean([row["rmse"] for row in found[name, model]]) for name in relatives.SETS]
        ratios = np.divide(means, relatives.CLASSIC[model])
        axis.plot(ratios, np.arange(len(means)) + lane, "o", color=color, label=model, markersize=5)
    axis.axvline(1, color="#777777", linewidth=0.8)
    axis.set(xlim=(0, 1.1), xlabel="test RMSE / that of coordinate descent", yticks=range(len(relatives.SETS)))
    axis.set_yticklabels([SHORT.get(name, name) for name in relatives.SETS])
    axis.invert_yaxis()
    axis.legend(frameon=False, loc="lower left")
    axis.set_title("machines and kernels beside the classic fits", loc="left", fontsize=10)


def main() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 4.2), layout="constrained")
    five(left)
    against_classic(right)
    figure.savefig(HERE / "rivals.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
