"""Pictures of predictive distributions: the density or the probabilities of a row, and a table of the first rows."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from polyladder.predictive.class_predictive import ClassPredictive
from polyladder.predictive.number_predictive import NumberPredictive
from polyladder.predictive.predictive import Predictive
from polyladder.report.display import GRAY, LINE, POINT, axes, tidied
from polyladder.tables.number_style import counted

Array = np.ndarray[Any, Any]

LEVEL = 0.9
"""Probability of the intervals and sets that are shown."""

ROWS = 6
"""Rows of the table."""

OUTPUTS = 4
"""Outputs, or most probable classes, that are shown for a row."""

POINTS = 201
"""Points of a density; with more it is smoother and slower."""

TAIL = 0.002
"""Probability on each side of a density that is not drawn."""

WIDTH, HEIGHT = 160, 12
"""Pixels of an interval's picture."""

CELL = "<td style='text-align:left'>"


def plot_distribution(predictive: Predictive, row: int = 0, ax: Any = None) -> Any:
    """Draw the density of a row with its mean and 90 % interval, or the probabilities of its classes.

    Args:
        predictive: of numbers or of classes.
        row: counted from 0.
        ax: matplotlib axes; new ones by default.

    Returns:
        The axes.
    """
    ax = axes(ax)
    one = predictive[int(row)]
    if isinstance(one, ClassPredictive):
        draw_classes(one, ax)
    else:
        assert isinstance(one, NumberPredictive)
        draw_density(one, ax)
    ax.set_title(f"row {row}", loc="left", fontsize=9)
    return tidied(ax)


def draw_density(one: NumberPredictive, ax: Any) -> None:
    """The density of each output of one row; the interval is shaded and the mean marked."""
    ends, bounds = one.quantile([TAIL, 1 - TAIL]), one.interval(LEVEL)
    grid = ends[0] + np.linspace(0, 1, POINTS).reshape(-1, *[1] * one.mean.ndim) * (ends[1] - ends[0])
    density, middle = one.pdf(grid), one.pdf(one.mean)
    m = one.mean.size
    grid, density = grid.reshape(-1, m), density.reshape(-1, m)
    low, high = (side.ravel() for side in bounds)
    for k, (mean, top) in enumerate(zip(one.mean.ravel(), middle.ravel(), strict=True)):
        color = LINE if k == 0 else f"C{k}"
        ax.plot(grid[:, k], density[:, k], color=color, label=f"output {k + 1}" if m > 1 else None)
        inside = (grid[:, k] >= low[k]) & (grid[:, k] <= high[k])
        shade = {"color": color, "alpha": 0.15, "linewidth": 0}
        ax.fill_between(
            grid[:, k], density[:, k], where=inside, **shade, label=f"{LEVEL:.0%} interval" if m == 1 else None
        )
        ax.plot([mean, mean], [0, top], color=POINT if m == 1 else color, linewidth=1, label="mean" if m == 1 else None)
    ax.set_ylim(bottom=0)
    ax.set(xlabel="target", ylabel="density")
    ax.legend(frameon=False, fontsize=8)


def draw_classes(one: ClassPredictive, ax: Any) -> None:
    """The probability of each class of one row; those of the set stand out."""
    inside = one.sets(LEVEL)[0]
    names = [str(label) for label in one.labels.tolist()]
    for wanted, color, label in ((True, LINE, f"{LEVEL:.0%} set"), (False, GRAY, "other classes")):
        chosen = np.flatnonzero(inside == wanted)
        if len(chosen):
            ax.barh(chosen, one.mean[0, chosen], color=color, label=label)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set(xlabel="probability", xlim=(0, 1))
    ax.legend(frameon=False, fontsize=8)


def distribution_html(predictive: Predictive) -> str:
    """The first rows as a table, with a picture of each interval, or of each set of classes."""
    first = predictive[:ROWS]
    if isinstance(first, ClassPredictive):
        head, lines = ["row", "class", "probability", "", f"{LEVEL:.0%} set"], class_lines(first)
    else:
        assert isinstance(first, NumberPredictive)
        head, lines = ["row", "mean", f"{LEVEL:.0%} interval", ""], number_lines(first)
    names = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in head)
    rows = "".join(f"<tr>{''.join(f'{CELL}{cell}</td>' for cell in line)}</tr>" for line in lines)
    more, outputs = len(predictive) - len(first), first.mean[0].size if len(first) else 0
    rest = f"<p>and {counted(more, 'more row')}</p>" if more else ""
    if isinstance(first, NumberPredictive) and outputs > OUTPUTS:
        rest += f"<p>The first {OUTPUTS} of {outputs} outputs are shown.</p>"
    return f"<div><code>{html.escape(repr(predictive))}</code><table><tr>{names}</tr>{rows}</table>{rest}</div>"


def number_lines(first: NumberPredictive) -> list[list[str]]:
    """Cells of each row and output; the pictures of an output share their scale."""
    if not len(first):
        return []
    mean, low, high = (side.reshape(len(first), -1) for side in (first.mean, *first.interval(LEVEL)))
    left, right = low.min(0), high.max(0)
    lines = []
    for row, means in enumerate(mean):
        for k, value in enumerate(means[:OUTPUTS]):
            ends = (low[row, k], value, high[row, k])
            name = f"{row}" if len(means) == 1 else f"{row}, output {k + 1}"
            words = f"{ends[0]:.4g} to {ends[2]:.4g}"
            places = (np.array(ends) - left[k]) / max(right[k] - left[k], np.finfo(float).tiny)
            lines.append([name, f"{value:.4g}", words, interval_svg(places, words)])
    return lines


def interval_svg(places: Array, words: str) -> str:
    """A line from the lower to the upper end with a dot at the mean; places (3,) in [0, 1]."""
    x = 4 + places * (WIDTH - 8)
    y = HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{html.escape(words)}">'
        f'<line x1="{x[0]:.1f}" x2="{x[2]:.1f}" y1="{y}" y2="{y}" stroke="{LINE}" stroke-width="2"/>'
        f'<circle cx="{x[1]:.1f}" cy="{y}" r="3" fill="{POINT}"/></svg>'
    )


def class_lines(first: ClassPredictive) -> list[list[str]]:
    """Cells of each row: its most probable class, and which others belong to the set."""
    sets = first.sets(LEVEL)
    lines = []
    for row, probabilities in enumerate(first.mean):
        order = np.argsort(-probabilities, kind="stable")
        inside = [html.escape(str(first.labels[c])) for c in order if sets[row, c]]
        more = f" and {len(inside) - OUTPUTS} more" if len(inside) > OUTPUTS else ""
        best = float(probabilities[order[0]])
        bar = f"<span style='display:inline-block;height:9px;width:{WIDTH * best:.0f}px;background:{LINE}'></span>"
        name = html.escape(str(first.labels[order[0]]))
        lines.append([str(row), name, f"{best:.3f}", bar, ", ".join(inside[:OUTPUTS]) + more])
    return lines
