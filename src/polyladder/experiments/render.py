"""A compared table as text: for the terminal and as Markdown, ours beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polyladder.experiments.compare import Cell, Comparison, from_paper, verdict
from polyladder.experiments.declare import METRICS, Declaration, Departure
from polyladder.experiments.store import Row

if TYPE_CHECKING:
    from rich.table import Table


def number(value: float, metric: str) -> str:
    """Three digits, four for shares.

    >>> number(5.1234, "rmse"), number(0.09876, "rmse"), number(0.0171, "error"), number(41.9, "rmse")
    ('5.12', '0.0988', '0.0171', '41.9')
    """
    if not math.isfinite(value):
        return "blew up"
    if metric == "error":
        return f"{value:.4f}"
    return f"{value:.3g}" if abs(value) >= 100 else f"{value:.{max(0, 2 - exponent(value))}f}"


def exponent(value: float) -> int:
    """The decimal exponent of a number.

    >>> exponent(0.0988), exponent(5.1), exponent(0.0)
    (-2, 0, 0)
    """
    return math.floor(math.log10(abs(value))) if value else 0


def measured(cell: Cell, metric: str) -> str:
    """Mean ± deviation; empty if nothing was measured."""
    if not cell.values:
        return ""
    text = number(cell.mean, metric)
    if not math.isnan(cell.deviation):
        digits = max(0, 2 - exponent(cell.mean))
        text += f" ± {cell.deviation:.{digits}f}"
    return text


def in_paper(cell: Cell) -> str:
    """The published figure, as it was printed."""
    if cell.published is None:
        return ""
    mean, deviation = cell.published
    return f"{mean:g}" if deviation is None else f"{mean:g} ± {deviation:g}"


def interval(cell: Cell, metric: str) -> str:
    """The confidence interval."""
    low, high = cell.interval
    return "" if math.isnan(low) or math.isnan(high) else f"{number(low, metric)} to {number(high, metric)}"


def marks(d: Declaration, column: str, model: str) -> str:
    """Letters of the departures that touch a cell, unless they touch the whole table."""
    return ",".join(
        letter(i)
        for i, departure in enumerate(d.departures)
        if (departure.columns or departure.models) and departure.touches(column, model)
    )


def letter(i: int) -> str:
    """a, b, c, ..."""
    return "abcdefghijklmnopqrstuvwxyz"[i]


def notes(d: Declaration) -> list[tuple[str, Departure]]:
    """Departures with their letters; those of the whole table first need none."""
    return [(letter(i) if x.columns or x.models else "", x) for i, x in enumerate(d.departures)]


def missing_note(comparison: Comparison, column: str, cell: Cell) -> str:
    """What stands in a cell that was not measured, or not on all splits."""
    if cell.complete:
        return ""
    if cell.values:
        return f"{len(cell.values)} of {cell.wanted} splits"
    said = next(c.unavailable for c in comparison.declaration.columns if c.label == column)
    return said or "not run"


def markdown(comparison: Comparison) -> list[str]:
    """Lines of a table: in each cell ours, its marks, and the paper's below."""
    d = comparison.declaration
    lines = [f"| {METRICS[d.metric]} | " + " | ".join(c.label for c in d.columns) + " |"]
    lines.append("|---" * (len(d.columns) + 1) + "|")
    for model in d.models:
        texts = [markdown_cell(comparison, c.label, model.name) for c in d.columns]
        lines.append(f"| {model.name} | " + " | ".join(texts) + " |")
    return lines


def markdown_cell(comparison: Comparison, column: str, model: str) -> str:
    """One cell."""
    d, cell = comparison.declaration, comparison.cells[column, model]
    text = measured(cell, d.metric)
    if text and (column, model) in comparison.bold:
        text = f"**{text}**"
    if text and (column, model) in comparison.underlined:
        text = f"<u>{text}</u>"
    if text and (mark := marks(d, column, model)):
        text += f"<sup>{mark}</sup>"
    parts = [
        text,
        missing_note(comparison, column, cell),
        in_paper(cell) and f"paper {in_paper(cell)}",
    ]
    return "<br>".join(part for part in parts if part)


def markdown_notes(d: Declaration) -> list[str]:
    """Departures as a list."""
    return [f"- {f'<sup>{mark}</sup> ' if mark else ''}{x.what} {x.why}" for mark, x in notes(d)]


def verdicts(comparison: Comparison) -> list[str]:
    """Sentences: each model beside the paper's figures for it, and our recipes beside the two that a table is about."""
    d, cells, lines = comparison.declaration, comparison.cells, []
    for model in d.models:
        found = {c.label: from_paper(cells[c.label, model.name]) for c in d.columns}
        lines.append(sentence(f"{model.name}, beside the paper's", found, ("better", "as good", "worse")))
    # A part of a table may lack them.
    there = len(d.better_than) == 2 and {m.name for m in d.models}.issuperset(d.better_than)
    for model in (m for m in d.models if m.ours and there):
        ladder, rival = d.better_than
        found = {c.label: beside_published(cells[c.label, model.name], cells[c.label, ladder]) for c in d.columns}
        lines.append(sentence(f"{model.name}, beside the paper's {ladder}", found, ("lower", "not lower")))
        found = {c.label: verdict(cells[c.label, model.name], cells[c.label, rival]) for c in d.columns}
        words = ("better", "not told apart", "worse")
        lines.append(sentence(f"{model.name}, beside {rival} by a paired t-test", found, words))
    return [line for line in lines if line]


def sentence(subject: str, found: Mapping[str, str], words: Sequence[str]) -> str:
    """In which columns which word holds; empty if none does.

    >>> sentence("it", {"a": "better", "b": "", "c": "better", "d": "worse"}, ("better", "worse"))
    'it: better in a, c; worse in d.'
    """
    columns = {word: [label for label, said in found.items() if said == word] for word in words}
    parts = [f"{word} in {', '.join(labels)}" for word, labels in columns.items() if labels]
    return f"{subject}: {'; '.join(parts)}." if parts else ""


def beside_published(ours: Cell, theirs: Cell) -> str:
    """Whether the mean is lower than the figure that the paper printed for another model."""
    if not ours.complete or theirs.published is None:
        return ""
    return "lower" if ours.mean < theirs.published[0] else "not lower"


def terminal(comparison: Comparison) -> Table:
    """A rich table: ours, and the paper's below it in a fainter color."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    d = comparison.declaration
    table = Table(title=d.title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(METRICS[d.metric])
    for column in d.columns:
        table.add_column(column.label, justify="right")
    for model in d.models:
        cells = []
        for column in d.columns:
            cell = comparison.cells[column.label, model.name]
            place = column.label, model.name
            style = " ".join(["bold"] * (place in comparison.bold) + ["underline"] * (place in comparison.underlined))
            text = Text(measured(cell, d.metric), style=style)
            for extra in (missing_note(comparison, column.label, cell), in_paper(cell)):
                if extra:
                    text.append(f"\n{extra}" if len(text) else extra, style="not bold not underline dim")
            cells.append(text)
        table.add_row(model.name, *cells)
    return table


def distributions(rows: Sequence[Row]) -> list[tuple[str, float, list[dict[str, Any]]]]:
    """Figure 2's distributions by model and variance."""
    found: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in rows:
        for each in row["distributions"]:
            found.setdefault((row["model"], each["variance"]), []).append(each)
    return [(model, variance, each) for (model, variance), each in found.items()]


def distribution_lines(rows: Sequence[Row]) -> list[str]:
    """Figure 2 as a Markdown table: for each variance the smallest and the largest distance over the inputs."""
    lines = ["| ladder | sigma^2 | KS distance | skewness | excess kurtosis |", "|---|---|---|---|---|"]
    for model, variance, found in distributions(rows):
        spans = []
        for name in ("ks", "skewness", "kurtosis"):
            values = [each[name] for each in found]
            spans.append(f"{min(values):.3g} to {max(values):.3g}")
        lines.append(f"| {model} | {variance:g} | " + " | ".join(spans) + " |")
    return lines
