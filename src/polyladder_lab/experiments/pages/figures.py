"""The figures of the results page: one function per kind of figure, each from stored rows to an inline SVG."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np

from polyladder_lab.experiments.engine.compare import Cell, Comparison
from polyladder_lab.experiments.engine.rows import Row

INK, PAPER, OURS = "#1d2125", "#7d8791", "#3f83c9"
COLORS = ("#cf6a4e", "#9279c4", "#b8912a", "#559a59", OURS, "#1f9fa5")
"""Middle tones, which read on white and on black."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "polyladder",
    "font.size": 8,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    **dict.fromkeys(("text.color", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}


TITLE: dict[str, Any] = {"loc": "left", "fontsize": 8.5, "fontweight": "bold", "color": INK}


class Drawing:
    """A figure of equal panels, which becomes text.

    Args:
        down: rows of panels.
        across: panels in a row.
        size: width and height of a panel, in inches.
        **shared: as of `matplotlib.figure.Figure.subplots`.
    """

    def __init__(self, down: int, across: int, size: tuple[float, float], **shared: Any) -> None:
        try:
            import matplotlib as mpl
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError("Figures need matplotlib; install it with: pip install 'polyladder[plot]'") from error
        self.style = partial(mpl.rc_context, STYLE)
        with self.style():
            self.figure = Figure(figsize=(size[0] * across, size[1] * down), layout="constrained")
            self.axes = self.figure.subplots(down, across, squeeze=False, **shared)

    def svg(self, label: str) -> str:
        """The drawing as an element of a page, named for readers who do not see it."""
        file = io.StringIO()
        with self.style():
            self.figure.savefig(
                file, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
            )
        text = file.getvalue()
        # Without the prolog; its ink is that of the page, light or dark.
        text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S).replace(
            INK, "currentColor"
        )
        return text.replace("<svg", f'<svg role="img" aria-label="{escape(label, quote=True)}"', 1)


def dot_plots(comparison: Comparison) -> str:
    """A panel per column: a dot per split and a stroke at the mean of each model; the published figure below.

    Axes span what was measured here without the worst twentieth; what lies beyond is an arrow at the edge.
    """
    d = comparison.declaration
    names = [model.name for model in d.models]
    shown = [c for c in d.columns if any(comparison.cells[c.label, name].values for name in names)]
    across = min(3, len(shown))
    drawing = Drawing(math.ceil(len(shown) / across), across, (3.1, 0.6 + 0.24 * len(names)), sharey=True)
    for axis in drawing.axes.flat[len(shown) :]:
        axis.set_visible(False)
    for axis, column in zip(drawing.axes.flat, shown, strict=False):
        cells = [comparison.cells[column.label, name] for name in names]
        values = [v for cell in cells for v in cell.values.values() if math.isfinite(v)] or [0.0]
        low, high = min(values), float(np.quantile(values, 0.95))
        span = (high - low) or abs(low) or 1.0
        axis.set(xlim=(low - 0.08 * span, high + 0.12 * span), ylim=(len(names) - 0.5, -0.5))
        axis.set_title(column.label, **TITLE)
        axis.set_yticks(range(len(names)), names)
        axis.tick_params(axis="y", length=0)
        axis.locator_params(axis="x", nbins=4)
        for lane, cell in enumerate(cells):
            draw_splits(axis, lane, cell, COLORS[lane % len(COLORS)])
            draw_published(axis, lane + 0.27, cell.published)
    return drawing.svg(f"{d.title}: each split, and the {d.source}'s means")


def draw_splits(axis: Any, lane: float, cell: Cell, color: str) -> None:
    """A dot for each split inside the axis, an arrow for those beyond, a stroke at the mean."""
    edge = axis.get_xlim()[1]
    heights = {split: lane - 0.13 - 0.05 * (split % 3 - 1) for split in cell.values}
    inside = [split for split, value in cell.values.items() if value <= edge]
    beyond = [split for split in cell.values if split not in inside]
    dots = {"linestyle": "", "color": color, "markeredgewidth": 0, "alpha": 0.75, "gid": "split"}
    values = [cell.values[split] for split in inside]
    axis.plot(values, [heights[split] for split in inside], marker="o", markersize=3.6, **dots)
    for split in beyond:
        axis.plot(edge, heights[split], marker=">", markersize=4, clip_on=False, **dots)
    if cell.values and math.isfinite(cell.mean) and cell.mean <= edge:
        axis.plot([cell.mean] * 2, [lane - 0.36, lane + 0.1], color=color, linewidth=1.8)


def draw_published(axis: Any, lane: float, published: tuple[float, float | None] | None) -> None:
    """The published mean as a ring and its deviation as a line; a number at the edge where it lies beyond."""
    if published is None:
        return
    mean, deviation = published
    low, high = axis.get_xlim()
    style = {"color": PAPER, "gid": "published"}
    if low <= mean <= high:
        axis.errorbar(mean, lane, xerr=deviation or 0, color=PAPER, linewidth=1)
        axis.plot(mean, lane, "o", markersize=4.5, markerfacecolor="none", **style)
    else:
        text, place, side = (f"{mean:g} ▸", high, "right") if mean > high else (f"◂ {mean:g}", low, "left")
        axis.text(place, lane, text, horizontalalignment=side, verticalalignment="center", fontsize=7, **style)


def depth_curves(comparison: Comparison) -> str:
    """A panel per row of the table: the metric against depth, ours with its interval, the published one dashed."""
    d = comparison.declaration
    labels = [c.label for c in d.columns]
    drawing = Drawing(1, len(d.models), (10 / len(d.models), 2.2), sharey=True)
    for axis, model in zip(drawing.axes[0], d.models, strict=True):
        cells = [comparison.cells[label, model.name] for label in labels]
        ours = {k: cell.mean for k, cell in enumerate(cells) if cell.values and math.isfinite(cell.mean)}
        theirs = {k: cell.published[0] for k, cell in enumerate(cells) if cell.published}
        spans = {k: cells[k].interval for k in ours if not math.isnan(cells[k].interval[0])}
        for k, span in spans.items():
            axis.plot([k, k], span, color=OURS, linewidth=5, alpha=0.3, solid_capstyle="butt")
        axis.plot(
            list(theirs),
            list(theirs.values()),
            "o--",
            color=PAPER,
            markersize=4,
            markerfacecolor="none",
            linewidth=1.1,
            gid="published",
        )
        axis.plot(list(ours), list(ours.values()), "o-", color=OURS, markersize=4.5, gid="ours")
        axis.set(yscale="log", xlim=(-0.4, len(labels) - 0.6))
        axis.set_title(model.name.replace("(", "\n("), **TITLE)  # a call is longer than a panel is wide
        axis.set_xticks(range(len(labels)), labels, fontsize=7)
        axis.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    means = [value for cell in comparison.cells.values() for value in (cell.mean, *(cell.published or ())[:1])]
    means = [value for value in means if math.isfinite(value)]
    low, high = 0.9 * min(means), 1.1 * max(means)
    # Labels of 1, 2 and 5 leave a short axis almost bare.
    steps = (1, 2, 5) if high > 4 * low else range(1, 10)
    ticks = [k * 10.0**power for power in range(-9, 10) for k in steps if low <= k * 10.0**power <= high]
    first = drawing.axes[0, 0]
    first.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    first.minorticks_off()
    first.set_ylim(low, high)
    return drawing.svg(f"{d.title}: the metric against depth")


def activation_plots(row: Row) -> str:
    """Figure 1 as an element of a page."""
    return draw_activations(row).svg("Response against input of units")


def draw_activations(row: Row) -> Drawing:
    """Figure 1: the response h of units against their input u, a row of panels per layer."""
    layers = row["layers"]
    drawing = Drawing(len(layers), max(len(units) for units in layers), (2.1, 2.0))
    for l, (axes, units) in enumerate(zip(drawing.axes, layers, strict=True), 1):
        for axis, unit in zip(axes, units, strict=False):
            axis.plot(unit["u"], unit["h"], "o", color=OURS, markersize=2.6, markeredgewidth=0, alpha=0.45, gid="row")
            axis.set_title(f"layer {l}, unit {unit['unit']}", **TITLE)
            axis.locator_params(nbins=5)
    for axis in drawing.axes[-1]:
        axis.set_xlabel("input u", color=INK)
    for axis in drawing.axes[:, 0]:
        axis.set_ylabel("response h", color=INK)
    return drawing


def histograms(found: Sequence[dict[str, Any]], most: int = 3) -> str:
    """Figure 2: sampled outputs in the Gaussian's standard deviations, with its density; a row per variance."""
    variances = list(dict.fromkeys(each["variance"] for each in found))
    rows = [[each for each in found if each["variance"] == variance][:most] for variance in variances]
    drawing = Drawing(len(rows), max(len(row) for row in rows), (3.2, 1.9), sharex=True)
    z = np.linspace(-5, 5, 101)
    for axes, row in zip(drawing.axes, rows, strict=True):
        for axis, each in zip(axes, row, strict=False):
            counts = np.array(each["histogram"])
            density = counts * len(counts) / 10 / (counts.sum() + each["outside"])
            axis.stairs(
                density,
                np.linspace(-5, 5, len(counts) + 1),
                fill=True,
                color=OURS,
                alpha=0.55,
            )
            axis.plot(z, np.exp(-z * z / 2) / math.sqrt(2 * math.pi), color=PAPER, gid="density")
            said = f"KS {each['ks']:.3f}, skewness {each['skewness']:.2f}, kurtosis {each['kurtosis']:.1f}"
            axis.set_title(f"σ² = {each['variance']:g}, test row {each['input']:g}\n{said}", **TITLE)
            axis.set_yticks([])
    return drawing.svg("Sampled outputs and the Gaussian of the same moments")
