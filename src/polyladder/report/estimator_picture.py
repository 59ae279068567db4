"""What a notebook shows of a fitted estimator below its parameters: how it was chosen, how it did, and its curves."""

from __future__ import annotations

import html

from polyladder.explain.curve import Curve, curve
from polyladder.explain.strengths import strengths
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel, HasModel
from polyladder.tables.columns import write_value
from polyladder.tables.number_style import number_words

SHOWN = 8
"""Columns that are drawn, the strongest."""

WIDTH, HEIGHT = 190, 110
"""Pixels of a chart."""

EDGE = 8
"""Pixels around the curve of a chart."""

BASE = HEIGHT - 18
"""Height of the horizontal axis from above, which leaves room for a line of text below it."""


def estimator_html(estimator: HasModel) -> str:
    """A picture of a fitted estimator as HTML with inline SVG; empty where there is no ladder over a dense table."""
    try:
        model = estimator.model_
    except (TypeError, ValueError):
        return ""
    found = strengths(model)
    numeric = [model.columns[i] for i in found.positions if model.columns[i].role == "numeric"][:SHOWN]
    curves = [(column, curve(model, column)) for column in numeric]
    held = [clamped(line) for _, line in curves]
    low, high = min(map(min, held), default=0.0), max(map(max, held), default=1.0)
    charts = "".join(chart(column, line, low, high) for column, line in curves)
    name = html.escape(model.output_names[0])
    words = f"<p>{sentence(model)}</p>" if model.card.get("scores") else ""
    ends = f"from {number_words(low)} to {number_words(high)}"
    scale = f"<small>{name} along each column, the others typical; {ends}.</small>"
    grid = f'<div style="display:flex;flex-wrap:wrap;gap:10px 14px">{charts}</div>{scale}' if charts else ""
    return f'<div style="margin-top:8px">{words}{grid}</div>'


def sentence(model: FittedModel) -> str:
    """How the settings were chosen and how the model did, as far as its card says."""
    selection = (model.card.get("selection") or {}).get("sentence") or ""
    scores = model.card.get("scores") or [{}]
    measure = next((m for m in ("rmse", "error") if m in scores[0]), None)
    said = "" if measure is None else f" Held out: {measure.upper()} {number_words(scores[0][measure])}."
    return html.escape(f"{selection}{said}".strip())


def clamped(line: Curve) -> list[float]:
    """The values of a curve, held to the range of predictions."""
    low, high = line.held_to or (min(line.y), max(line.y))
    return [min(max(y, low), high) for y in line.y]


def chart(column: Column, line: Curve, low: float, high: float) -> str:
    """A small chart over the column's training range: its density, the curve, its lowest and its highest point."""
    span = (high - low) or 1.0
    width = (column.high - column.low) or 1.0

    def x(value: float) -> float:
        return EDGE + (value - column.low) / width * (WIDTH - 2 * EDGE)

    def y(value: float) -> float:
        return BASE - EDGE - (min(max(value, low), high) - low) / span * (BASE - 2 * EDGE)

    top = max(column.counts, default=0.0) or 1.0
    bars = "".join(
        f'<rect x="{x(a):.1f}" y="{BASE - 24 * (n / top) ** 0.5:.1f}" width="{max(0.5, x(b) - x(a) - 0.5):.1f}" '
        f'height="{24 * (n / top) ** 0.5:.1f}" fill="currentColor" fill-opacity=".15"/>'
        for a, b, n in zip(column.edges, column.edges[1:], column.counts, strict=False)
        if n
    )
    path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(line.x, clamped(line), strict=True))
    marks = "".join(
        f'<circle cx="{x(at):.1f}" cy="{y(value):.1f}" r="2.6" fill="#d9480f"/>'
        for at, value in (line.minimum, line.maximum)
    )
    ends = [html.escape(write_value(end, column.written)) for end in (column.low, column.high)]
    label = html.escape(column.name)
    return (
        f'<div style="width:{WIDTH}px"><div style="font-size:12px;overflow-wrap:anywhere">{label}</div>'
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="curve along {label}">{bars}'
        f'<polyline points="{path}" fill="none" stroke="#4a5fe0" stroke-width="1.8"/>{marks}'
        f'<text x="2" y="{HEIGHT - 4}" font-size="10" fill="currentColor">{ends[0]}</text>'
        f'<text x="{WIDTH - 2}" y="{HEIGHT - 4}" font-size="10" text-anchor="end" fill="currentColor">{ends[1]}</text>'
        "</svg></div>"
    )
