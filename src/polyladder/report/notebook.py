"""What a notebook shows of a polynomial: a grid of small curves, as HTML that needs nothing else."""

from __future__ import annotations

import html
from collections.abc import Sequence

import torch
from torch import Tensor

from polyladder.analysis.line import line_polynomial
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.names import input_names
from polyladder.tables.number_style import counted

REACH = 2.0
"""Each input goes from minus to plus this: two standard deviations of a scaled feature."""

SHOWN = 12
"""Inputs that are drawn; the steepest ones if there are more."""

MEMBERS = 24
"""Polynomials of a batch that are drawn, one pale line each."""

STEPS = 48
"""Parts of a line; with more it is smoother and longer."""

WIDTH, HEIGHT = 150, 84
"""Pixels of a chart."""

EDGE = 6
"""Pixels around the lines of a chart."""


def curve_grid(polynomial: LadderPolynomial, names: Sequence[str] | None = None) -> str:
    """The polynomial along each of its inputs, the others at 0, as a grid of small charts.

    All charts share the vertical scale, so that flat curves belong to inputs that matter little. Each of several
    outputs has its line; of a batch some members are drawn.

    Args:
        polynomial: any ``batch_shape``.
        names: of the d inputs, all different; x0, x1, ... if not given.

    Returns:
        HTML with inline SVG, in the text color of where it is shown.
    """
    labels = input_names(names, polynomial.in_features)
    t = torch.linspace(-REACH, REACH, STEPS + 1, dtype=torch.float64)
    curves = values_along(polynomial, t)
    swing = (curves.amax(-1) - curves.amin(-1)).amax(0)
    order = swing.argsort(descending=True, stable=True).tolist()
    shown = sorted(order[:SHOWN])
    low, high = float(curves[:, shown].min()), float(curves[:, shown].max())
    charts = "".join(chart(labels[i], curves[:, i], t, low, high) for i in shown)
    left = polynomial.in_features - len(shown)
    rest = f" {counted(left, 'flatter input')} {'is' if left == 1 else 'are'} left out." if left else ""
    return (
        f'<div><code>{html.escape(repr(polynomial))}</code><div style="display:flex;flex-wrap:wrap;gap:10px 14px;'
        f'margin-top:8px">{charts}</div><small>Each input from {-REACH:g} to {REACH:g}, the others at 0; values from '
        f"{low:.4g} to {high:.4g}.{rest}</small></div>"
    )


def values_along(polynomial: LadderPolynomial, t: Tensor) -> Tensor:
    """Values along every input, the others at 0. Shape (lines, d, steps): one line for each member and output."""
    p = polynomial.to("cpu", torch.float64).map(Tensor.detach)
    if p.batch_shape:
        p = p.map(lambda w: w.flatten(0, len(p.batch_shape) - 1))
        p = p[:: -(-len(p) // MEMBERS)]
    else:
        p = p.map(lambda w: w.unsqueeze(0))
    d = p.in_features
    lines = line_polynomial(p, torch.zeros(d, d, dtype=torch.float64), torch.eye(d, dtype=torch.float64))
    # Coefficients are (members, d, m, powers): powers of t come first for one product.
    powers = t.unsqueeze(0) ** torch.arange(lines.degree + 1, dtype=torch.float64).unsqueeze(1)
    return (lines.coefficients @ powers).transpose(1, 2).flatten(0, 1)


def chart(name: str, lines: Tensor, t: Tensor, low: float, high: float) -> str:
    """One small chart of several lines. Shapes (lines, steps), (steps,)."""
    x = EDGE + (t + REACH) / (2 * REACH) * (WIDTH - 2 * EDGE)
    y = HEIGHT - EDGE - (lines - low) / ((high - low) or 1.0) * (HEIGHT - 2 * EDGE)
    opacity = 1.0 if len(lines) == 1 else 0.45
    paths = "".join(
        f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), row, strict=True))}" '
        f'fill="none" stroke="#4a5fe0" stroke-width="1.6" stroke-opacity="{opacity}"/>'
        for row in y.tolist()
    )
    label = html.escape(name)
    return (
        f'<div style="width:{WIDTH}px"><div style="font-size:12px;white-space:nowrap;overflow:hidden;'
        f'text-overflow:ellipsis" title="{label}">{label}</div>'
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="curve along {label}">'
        f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="5" fill="none" stroke="currentColor" '
        f'stroke-opacity=".2"/><line x1="{WIDTH / 2}" x2="{WIDTH / 2}" y1="{EDGE}" y2="{HEIGHT - EDGE}" '
        f'stroke="currentColor" stroke-opacity=".15"/>{paths}</svg></div>'
    )
