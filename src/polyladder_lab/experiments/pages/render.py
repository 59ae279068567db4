"""A compared table as text: for the terminal and as Markdown, ours beside the published figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, Any, TypeVar

from polyladder_lab.experiments.engine.compare import Cell, Comparison, beside_published, verdict
from polyladder_lab.experiments.engine.declare import METRICS, Declaration, Departure
from polyladder_lab.experiments.engine.rows import Row
from polyladder_lab.experiments.engine.rows import number as is_number

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text as RichText

Text = TypeVar("Text")
Place = tuple[str, str]
"""A column's label and a model's name."""

PUBLISHED_WORDS = ("better", "as good", "worse")
PAIRED_WORDS = ("better", "not told apart", "worse")


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


def measured(cell: Cell, d: Declaration) -> str:
    """Mean ± deviation or standard error, as declared; empty if nothing was measured."""
    if not cell.values:
        return ""
    text, spread = number(cell.mean, d.metric), cell.error if d.spread == "error" else cell.deviation
    if not math.isnan(spread):
        digits = max(0, 2 - exponent(cell.mean))
        text += f" ± {spread:.{digits}f}"
    return text


def published(cell: Cell, source: str = "") -> str:
    """The published figure, as it was printed; after its source, where one of ours stands above it."""
    if cell.published is None:
        return ""
    middle, deviation = cell.published
    text = f"{middle:g}" if deviation is None else f"{middle:g} ± {deviation:g}"
    return f"{source} {text}" if source and cell.wanted else text


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
    """Departures with their letters; those that touch the whole table have none."""
    return [(letter(i) if x.columns or x.models else "", x) for i, x in enumerate(d.departures)]


def missing_note(comparison: Comparison, column: str, cell: Cell) -> str:
    """What stands in a cell that was not measured, or not on all splits."""
    if cell.complete:
        return ""
    if cell.values:
        return f"{len(cell.values)} of {cell.wanted} splits"
    said = next(c.unavailable for c in comparison.declaration.columns if c.label == column)
    return said or "not run"


def table_rows(d: Declaration, texts: Mapping[Place, Text]) -> list[tuple[str, list[Text]]]:
    """Each model that has something to show, and its cells."""
    rows = [(model.name, [texts[column.label, model.name] for column in d.columns]) for model in d.models]
    return [(name, cells) for name, cells in rows if any(cells)]


def markdown_table(d: Declaration, corner: str, texts: Mapping[Place, str]) -> list[str]:
    """Lines of a table with a row per model that has something to show."""
    lines = [
        f"| {corner}".rstrip() + " | " + " | ".join(c.label for c in d.columns) + " |",
        "|---" * (len(d.columns) + 1) + "|",
    ]
    for name, cells in table_rows(d, texts):
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def markdown(comparison: Comparison) -> list[str]:
    """Lines of a table: in each cell ours, its marks, and the published figure below."""
    d = comparison.declaration
    return markdown_table(
        d, METRICS[d.metric], {place: markdown_cell(comparison, *place) for place in comparison.cells}
    )


def markdown_cell(comparison: Comparison, column: str, model: str) -> str:
    """One cell."""
    d, cell = comparison.declaration, comparison.cells[column, model]
    text = measured(cell, d)
    if text and (column, model) in comparison.bold:
        text = f"**{text}**"
    if text and (column, model) in comparison.underlined:
        text = f"<u>{text}</u>"
    if text and (mark := marks(d, column, model)):
        text += f"<sup>{mark}</sup>"
    parts = [text, missing_note(comparison, column, cell), published(cell, d.source)]
    return "<br>".join(part for part in parts if part)


@dataclass(frozen=True)
class MeasureTable:
    """A number besides the metric, for every cell.

    Attributes:
        label: what it is.
        texts: the number of each cell; empty where there is none.
        bold: the best cells of each column, if the measure has a best.
    """

    label: str
    texts: dict[Place, str]
    bold: frozenset[Place]

    @property
    def marked(self) -> dict[Place, str]:
        """The texts in Markdown."""
        return {place: f"**{text}**" if place in self.bold else text for place, text in self.texts.items()}


def measures(comparison: Comparison) -> list[MeasureTable]:
    """What else was declared to be shown."""
    tables = []
    for measure in comparison.declaration.measures:
        found = {}
        for place, cell in comparison.cells.items():
            numbers = [row[measure.field] for row in cell.rows.values() if is_number(row.get(measure.field))]
            if numbers:
                found[place] = max(numbers) if measure.over_splits == "largest" else mean(numbers)
        texts = {place: number(found[place], "rmse") if place in found else "" for place in comparison.cells}
        label = f"{measure.label}, {measure.over_splits} over splits"
        tables.append(MeasureTable(label, texts, best_places(comparison, found, measure.best)))
    return tables


def best_places(comparison: Comparison, found: Mapping[Place, float], best: str) -> frozenset[Place]:
    """The best number of each column, among two or more models that were measured on equally many splits, the most."""
    places: set[Place] = set()
    for column in comparison.declaration.columns if best else ():
        splits = {place: len(comparison.cells[place].rows) for place in found if place[0] == column.label}
        rivals = {place: found[place] for place, count in splits.items() if count == max(splits.values())}
        if len(rivals) > 1:
            wanted = min(rivals.values()) if best == "lowest" else max(rivals.values())
            places |= {place for place, value in rivals.items() if value == wanted}
    return frozenset(places)


def markdown_notes(d: Declaration) -> list[str]:
    """Departures as a list."""
    return [f"- {f'<sup>{mark}</sup> ' if mark else ''}{x.what} {x.why}" for mark, x in notes(d)]


def lost_note(comparison: Comparison) -> str:
    """How many stored rows cannot be traced to the code that measured them; empty if there are none."""
    if not comparison.lost:
        return ""
    parts = []
    for field, kind in (("value", "last fits"), ("folds", "comparisons of settings")):
        counts = Counter(row["model"] for row in comparison.lost if field in row)
        parts += [f"{kind} ({', '.join(f'{name} {n:,}' for name, n in counts.most_common())})"] if counts else []
    commits = ", ".join(dict.fromkeys(row["commit"] for row in comparison.lost))
    lost, stored = f"{len(comparison.lost):,}", f"{comparison.stored:,}"
    return (
        f"{lost} of the {stored} stored rows were measured by commits that are no longer in the repository "
        f"({commits}), so the code behind them cannot be looked at: {' and '.join(parts)}."
    )


def verdicts(comparison: Comparison) -> list[str]:
    """Sentences: each model beside its published figures, and our recipes beside the two that a table is about."""
    d, cells, lines = comparison.declaration, comparison.cells, []
    for model in d.models:
        own = {c.label: cells[c.label, model.name] for c in d.columns}
        found = {label: beside_published(cell, cell.published) for label, cell in own.items()}
        lines.append(sentence(f"{model.name}, beside the {d.source}'s", found, PUBLISHED_WORDS))
    # A part of a table may lack them.
    there = {m.name for m in d.models}
    ladders, rivals = ([name for name in named if name in there] for named in (d.better_than[:1], d.beside))
    for model in (m for m in d.models if m.ours):
        for ladder in ladders:
            found = {
                c.label: beside_published(cells[c.label, model.name], cells[c.label, ladder].published)
                for c in d.columns
            }
            lines.append(sentence(f"{model.name}, beside the {d.source}'s {ladder}", found, PUBLISHED_WORDS))
        for rival in rivals:
            found = {c.label: verdict(cells[c.label, model.name], cells[c.label, rival]) for c in d.columns}
            lines.append(sentence(f"{model.name}, beside {rival} by a paired t-test", found, PAIRED_WORDS))
    return [line for line in lines if line]


def sentence(subject: str, found: Mapping[str, str], words: Sequence[str]) -> str:
    """In which columns which word holds; empty if none does.

    >>> sentence("it", {"a": "better", "b": "", "c": "better", "d": "worse"}, ("better", "worse"))
    'it: better in a, c; worse in d.'
    """
    columns = {word: [label for label, said in found.items() if said == word] for word in words}
    parts = [f"{word} in {', '.join(labels)}" for word, labels in columns.items() if labels]
    return f"{subject}: {'; '.join(parts)}." if parts else ""


def terminal(comparison: Comparison) -> Table:
    """A rich table: ours, and the published figure below it in a fainter color."""
    from rich.text import Text as RichText

    d, texts = comparison.declaration, {}
    for place, cell in comparison.cells.items():
        style = " ".join(["bold"] * (place in comparison.bold) + ["underline"] * (place in comparison.underlined))
        text = RichText(measured(cell, d), style=style)
        for extra in (missing_note(comparison, place[0], cell), published(cell)):
            if extra:
                text.append(f"\n{extra}" if len(text) else extra, style="not bold not underline dim")
        texts[place] = text
    return terminal_table(d, d.title, METRICS[d.metric], texts)


def terminal_table(d: Declaration, title: str, corner: str, texts: Mapping[Place, str | RichText]) -> Table:
    """A rich table with a row per model that has something to show."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(corner)
    for column in d.columns:
        table.add_column(column.label, justify="right")
    for name, cells in table_rows(d, texts):
        table.add_row(name, *cells)
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
