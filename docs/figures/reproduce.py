"""Figure 2 in one picture, from the stored rows: how far outputs under Gaussian weights are from a Gaussian."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from polyladder_lab.experiments.engine.compare import compare
from polyladder_lab.experiments.engine.declare import declared, results_folder
from polyladder_lab.experiments.engine.store import Store
from polyladder_lab.experiments.pages.page import rows_with
from polyladder_lab.experiments.pages.render import distributions

mpl.use("Agg")
mpl.rcParams.update({"svg.hashsalt": "polyladder", "font.size": 9, "svg.fonttype": "none"})

MEASURES = {"ks": "Kolmogorov-Smirnov distance", "kurtosis": "excess kurtosis"}
COLORS = ("#c2563b", "#2b6cb0")


def main() -> None:
    folder = results_folder("figure_2")
    assert folder is not None
    d = declared("figure_2")
    found = distributions(rows_with(compare(d, Store(folder).rows(d.name)), "distributions"))
    figure, axes = plt.subplots(1, 2, figsize=(7.4, 2.9), layout="constrained")
    for axis, (measure, label) in zip(axes, MEASURES.items(), strict=True):
        for color, model in zip(COLORS, dict.fromkeys(model for model, _, _ in found), strict=True):
            spans = [(variance, [each[measure] for each in all_]) for name, variance, all_ in found if name == model]
            middle = [sum(values) / len(values) for _, values in spans]
            axis.plot([variance for variance, _ in spans], middle, "o-", color=color, markersize=4, label=model)
            for variance, values in spans:
                axis.plot([variance] * 2, [min(values), max(values)], color=color, alpha=0.35, linewidth=5)
        axis.set_xscale("log")
        axis.set_xlabel("variance of the weights")
        axis.set_title(label, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
        axis.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axes[0].legend(frameon=False)
    target = Path(__file__).with_suffix(".svg")
    figure.savefig(target, metadata={"Date": None})
    print(f"Wrote {target}.")


if __name__ == "__main__":
    main()
