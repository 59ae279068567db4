"""The figures of the results page: one function a kind of figure, each from stored rows to an SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from polyladder.experiments.compare import Comparison
from polyladder.experiments.sampling import BINS
from polyladder.experiments.store import Row
from polyladder.experiments.svg import Panel, log_ticks, nice_ticks, picture, text


def dot_plots(comparison: Comparison) -> str:
    """A panel a column: a dot a split and a stroke at the mean for each model; the paper's mean ± deviation below.

    Axes span what was measured here without the worst twentieth; what lies beyond is an arrow at the edge.
    """
    d = comparison.declaration
    names = [model.name for model in d.models]
    width, row, gap, head = 270, 26, 18, 24
    height, parts = row * len(names), []
    shown = [c for c in d.columns if any(comparison.cells[c.label, name].values for name in names)]
    across = min(3, len(shown))
    for k, column in enumerate(shown):
        cells = [comparison.cells[column.label, name] for name in names]
        values = [v for cell in cells for v in cell.values.values() if math.isfinite(v)]
        low, high = min(values), float(np.quantile(values, 0.95))
        span = (high - low) or abs(low) or 1.0
        ranges = (low - 0.08 * span, high + 0.12 * span)
        left = 110 + (k % across) * (width + gap)
        top = head + (k // across) * (height + head + 34)
        panel = Panel(left, top, width, height, ranges, (0.0, float(len(names))))
        ticks = nice_ticks(*ranges, most=4)
        parts += [panel.frame(), panel.x_ticks(ticks), text(left, top - 8, column.label, "head")]
        for i, (name, cell) in enumerate(zip(names, cells, strict=True)):
            y = len(names) - i - 0.5
            if k % across == 0:
                parts.append(text(left - 6, panel.py(y) + 4, name, "tick end"))
            for split, value in cell.values.items():
                if value <= ranges[1]:
                    parts.append(panel.dot(value, y + 0.13 + 0.05 * (split % 3 - 1), 2.4, f"dot c{i}"))
                else:
                    parts.append(text(left + width - 2, panel.py(y + 0.1), "▸", f"edge c{i}"))
            if cell.values and ranges[0] <= cell.mean <= ranges[1]:
                parts.append(panel.line([(cell.mean, y - 0.1), (cell.mean, y + 0.36)], f"stroke c{i}"))
            parts += paper_mark(panel, y - 0.27, cell.published)
    rows = math.ceil(len(shown) / max(across, 1))
    size = 110 + across * (width + gap), rows * (height + head + 34) + 4
    return picture(*size, parts, f"{d.title}: each split, and the paper's means")


def paper_mark(panel: Panel, y: float, published: tuple[float, float | None] | None) -> list[str]:
    """The paper's mean as a ring and its deviation as a line, cut at the panel's edges."""
    if published is None:
        return []
    mean, deviation = published
    low, high = panel.x
    if mean > high:
        return [text(panel.left + panel.width - 2, panel.py(y) + 4, f"{mean:g} ▸", "edge paper")]
    if mean < low:
        return [text(panel.left + 2, panel.py(y) + 4, f"◂ {mean:g}", "edge start paper")]
    ends = [(max(low, mean - (deviation or 0)), y), (min(high, mean + (deviation or 0)), y)]
    return [panel.line(ends, "thin paper"), panel.dot(mean, y, 3, "ring paper")]


def depth_curves(comparison: Comparison) -> str:
    """A panel a row of the table: the metric against depth, ours with its interval, the paper's dashed."""
    d = comparison.declaration
    labels = [c.label for c in d.columns]
    everything = [cell.mean for cell in comparison.cells.values() if cell.values and math.isfinite(cell.mean)]
    everything += [cell.published[0] for cell in comparison.cells.values() if cell.published]
    low, high = 0.9 * min(everything), 1.1 * max(everything)
    width, height, gap, left, parts = 190.0, 170.0, 26.0, 46.0, []
    for i, model in enumerate(d.models):
        start = left + i * (width + gap)
        panel = Panel(start, 26.0, width, height, (-0.3, len(labels) - 0.7), (low, high), log_y=True)
        ticks = log_ticks(low, high) if high / low > 3 else nice_ticks(low, high)
        parts += [panel.y_ticks(ticks), panel.frame(), panel.x_ticks(range(len(labels)), labels)]
        parts.append(text(start, 16, model.name, "head"))
        cells = [comparison.cells[label, model.name] for label in labels]
        theirs = [(k, cell.published[0]) for k, cell in enumerate(cells) if cell.published]
        ours = [(k, cell.mean) for k, cell in enumerate(cells) if cell.values and math.isfinite(cell.mean)]
        for k, cell in enumerate(cells):
            ends = [min(max(v, low), high) for v in cell.interval]
            if not any(math.isnan(v) for v in ends):
                parts.append(panel.line([(k, ends[0]), (k, ends[1])], "band c4"))
        if theirs:
            parts += [panel.line(theirs, "dashed paper"), *(panel.dot(*point, 3, "ring paper") for point in theirs)]
        if ours:
            parts += [panel.line(ours, "stroke c4"), *(panel.dot(*point, 3.2, "dot c4") for point in ours)]
    size = left + len(d.models) * (width + gap), 26 + height + 24
    return picture(*size, parts, f"{d.title}: the metric against depth")


def activation_plots(row: Row) -> str:
    """Figure 1: the response h of units against their input u, a row of panels a layer."""
    size, gap, parts = 150.0, 34.0, []
    for l, units in enumerate(row["layers"]):
        for k, unit in enumerate(units):
            x, y = padded(unit["u"]), padded(unit["h"])
            panel = Panel(44 + k * (size + gap), 24 + l * (size + gap + 6), size, size, x, y)
            parts += [panel.y_ticks(nice_ticks(*y)), panel.frame(), panel.x_ticks(nice_ticks(*x))]
            parts.append(text(panel.left, panel.top - 7, f"layer {l + 1}, unit {unit['unit']}", "head"))
            points = zip(unit["u"], unit["h"], strict=True)
            parts += [panel.dot(u, h, 1.6, "dot c4 faint") for u, h in points]
    across, down = max(len(units) for units in row["layers"]), len(row["layers"])
    return picture(44 + across * (size + gap), 24 + down * (size + gap + 6), parts, "Response against input of units")


def padded(values: Sequence[float]) -> tuple[float, float]:
    """The range of values with a little room."""
    low, high = min(values), max(values)
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room


def histograms(found: Sequence[dict[str, Any]], samples: int, most: int = 3) -> str:
    """Figure 2: sampled outputs in the Gaussian's standard deviations, with its density; a row of panels a variance."""
    variances = list(dict.fromkeys(each["variance"] for each in found))
    width, height, gap, parts = 230.0, 120.0, 26.0, []
    edges = np.linspace(-5.0, 5.0, BINS + 1)
    for r, variance in enumerate(variances):
        for k, each in enumerate([e for e in found if e["variance"] == variance][:most]):
            density = np.array(each["histogram"]) / samples / (edges[1] - edges[0])
            panel = Panel(
                34 + k * (width + gap),
                40 + r * (height + 62),
                width,
                height,
                (-5.0, 5.0),
                (0.0, max(0.45, 1.05 * density.max())),
            )
            bars = [panel.bar((edges[i], edges[i + 1]), float(y), "bar c4") for i, y in enumerate(density) if y > 0]
            z = np.linspace(-5, 5, 101)
            curve = zip(z.tolist(), (np.exp(-z * z / 2) / math.sqrt(2 * math.pi)).tolist(), strict=True)
            parts += [*bars, panel.line(curve, "stroke paper"), panel.frame(), panel.x_ticks([-4, -2, 0, 2, 4])]
            parts.append(text(panel.left, panel.top - 18, f"σ² = {variance:g}, test row {each['input']}", "head"))
            said = f"KS {each['ks']:.3f}, skewness {each['skewness']:.2f}, kurtosis {each['kurtosis']:.1f}"
            parts.append(text(panel.left, panel.top - 5, said, "small"))
    shown = min(most, max(sum(e["variance"] == v for e in found) for v in variances))
    size = 34 + shown * (width + gap), 40 + len(variances) * (height + 62)
    return picture(*size, parts, "Sampled outputs and the Gaussian of the same moments")
