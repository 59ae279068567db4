"""Contributions to one prediction, drawn: a waterfall with matplotlib, and a table with bars for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from polyladder.report.display import GRAY, axes, tidied
from polyladder.tables.number_style import counted, number_words

if TYPE_CHECKING:
    from polyladder.explain.contributions import Contributions
    from polyladder.explain.explanation import Explanation

UP = "#3b50d9"
"""Color of what raises an output."""

DOWN = "#d9480f"
"""Color of what lowers it."""

BARS = 12
"""Columns that have a bar of their own; the others share one."""

ROWS = 5
"""Rows that a notebook shows."""


def steps_of(parts: Contributions, row: int, output: int) -> list[tuple[str, float]]:
    """Names with cells, and contributions, the largest first; the last may be that of all others together."""
    order = parts.ranked(row, output)
    named = [(f"{parts.columns[i]} = {parts.cells[row][i]}", float(parts.values[row, i, output])) for i in order[:BARS]]
    if len(order) > BARS:
        rest = sum(float(parts.values[row, i, output]) for i in order[BARS:])
        named.append((counted(len(order) - BARS, "other column"), rest))
    return named


def plot_waterfall(explanation: Explanation, row: int = 0, output: int = 0, ax: Any = None) -> Any:
    """Draw the way from the start to the output of a row, one bar for each column; posterior intervals as whiskers."""
    parts = explanation.contributions
    if parts is None:
        raise ValueError("The explanation must be of rows to be drawn; it has none. Call model.explain(X).")
    if not 0 <= row < len(parts.outputs):
        raise ValueError(f"row must be from 0 to {len(parts.outputs) - 1}; got {row}.")
    ax = axes(ax)
    steps, at = steps_of(parts, row, output), float(parts.start[output])
    names = [parts.baseline, *(name for name, _ in steps), parts.output_names[output]]
    order = parts.ranked(row, output)
    ax.plot([at], [0], "o", color=GRAY)
    for k, (_, value) in enumerate(steps, 1):
        ax.barh(k, value, left=at, height=0.6, color=UP if value >= 0 else DOWN)
        ax.plot([at, at], [k - 1, k], color=GRAY, linewidth=0.8)
        if parts.lower is not None and parts.upper is not None and k <= min(BARS, len(order)):
            ends = [at + float(side[row, order[k - 1], output]) for side in (parts.lower, parts.upper)]
            ax.plot(ends, [k, k], color="black", linewidth=1)
        at += value
    ax.plot([at], [len(steps) + 1], "o", color="black")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.use_sticky_edges = False
    ax.margins(x=0.05)
    ax.set_xlabel(parts.output_names[output])
    return tidied(ax)


def explanation_html(explanation: Explanation) -> str:
    """The strongest columns and terms and, where rows were explained, the first few predictions."""
    strongest = ", ".join(
        f"{html.escape(name)} ({number_words(value)})" for name, value in explanation.strengths.columns[:6]
    )
    terms = " ".join(term_html(term) for term in explanation.terms)
    head = (
        f"<p><b>{html.escape(explanation.target)}</b>: a polynomial of order {explanation.order} in "
        f"{counted(explanation.inputs, 'input')}. Strongest: {strongest}.</p>"
        f"<p>Largest terms, in scaled inputs: {terms}</p>"
    )
    if explanation.contributions is None:
        return f"<div>{head}</div>"
    count = min(ROWS, len(explanation.contributions.outputs))
    more = len(explanation.contributions.outputs) - count
    tables = "".join(row_html(explanation.contributions, row) for row in range(count))
    rest = f"<p>and {counted(more, 'more row')}</p>" if more else ""
    return f"<div>{head}{tables}{rest}</div>"


def term_html(term: Any) -> str:
    """A monomial."""
    sign = "&minus;" if term.coefficient < 0 else "+"
    factors = "".join(
        f" <i>{html.escape(name)}</i>{f'<sup>{power}</sup>' if power > 1 else ''}" for name, power in term.powers
    )
    return f"{sign} {number_words(abs(term.coefficient))}{factors}"


def row_html(parts: Contributions, row: int) -> str:
    """One prediction: a line with a bar for each column."""
    lines = []
    for k, name in enumerate(parts.output_names):
        steps = steps_of(parts, row, k)
        widest = max((abs(value) for _, value in steps), default=0.0) or 1.0
        cells = "".join(
            f"<tr><td style='text-align:left'>{html.escape(label)}</td><td>{number_words(value, signed=True)}</td>"
            f"<td style='text-align:left'><span style='display:inline-block;height:9px;"
            f"width:{120 * abs(value) / widest:.0f}px;background:{UP if value >= 0 else DOWN}'></span></td></tr>"
            for label, value in steps
        )
        ends = (
            f"{html.escape(parts.baseline)}: {number_words(parts.start[k])}",
            f"{html.escape(name)}: {number_words(parts.outputs[row, k])}",
        )
        lines.append(f"<table><caption>Row {row}, from {ends[0]} to {ends[1]}</caption>{cells}</table>")
    return "".join(lines)
