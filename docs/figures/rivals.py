"""Draw rivals.svg from the stored results: five models relative to the ladder, rivals beside the classic fits."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from polyladder_lab.experiments.engine.compare import Comparison, compare
from polyladder_lab.experiments.engine.declare import declared
from polyladder_lab.experiments.engine.store import Store

HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"

mpl.use("Agg")
mpl.rcParams.update({"svg.hashsalt": "rivals", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
from matplotlib import pyplot as plt  # noqa: E402

COLORS = {"FFR": "#b2182b", "FFQ": "#ef8a62", "FM": "#7b3294", "PK": "#5aae61", "LPNN": "#2166ac"}
SHORT = {"naval-propulsion-plant": "naval", "protein-tertiary-structure": "protein", "wine-quality-red": "wine red"}


def stored(name: str) -> Comparison:
    """A table of the benchmarks."""
    return compare(declared(str(BENCHMARKS / f"{name}.toml")), Store(BENCHMARKS / "results").rows(name))


def five(axis: plt.Axes) -> None:
    """RMSE over the ladder's."""
    comparison = stored("five_models")
    names, cells = [column.label for column in comparison.declaration.columns], comparison.cells
    # A lane per model, so that equal results do not hide each other.
    for lane, (model, color) in zip(np.linspace(-0.28, 0.28, len(COLORS)), COLORS.items(), strict=True):
        ratios = [cells[name, model].mean / cells[name, "LPNN"].mean for name in names]
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
    comparison = stored("rivals")
    names, cells = [column.label for column in comparison.declaration.columns], comparison.cells
    colors = ("#5aae61", "#1b7837", "#c2a5cf", "#7b3294")
    for lane, model, color in zip(np.linspace(-0.24, 0.24, 4), comparison.declaration.models, colors, strict=True):
        found = [cells[name, model.name] for name in names]
        ratios = [cell.mean / cell.published[0] for cell in found if cell.published]
        axis.plot(ratios, np.arange(len(names)) + lane, "o", color=color, label=model.name, markersize=5)
    axis.axvline(1, color="#777777", linewidth=0.8)
    axis.set(xlim=(0, 1.1), xlabel="test RMSE / that of coordinate descent", yticks=range(len(names)))
    axis.set_yticklabels([SHORT.get(name, name) for name in names])
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
