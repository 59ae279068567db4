"""A search on held-out training rows as a table: every setting of every model, and in each column its mean error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyladder_lab.experiments.engine.compare import Comparison
from polyladder_lab.experiments.engine.declare import METRICS, Options
from polyladder_lab.experiments.engine.searched import best
from polyladder_lab.experiments.pages.render import number

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Line:
    """A setting of a model.

    Attributes:
        model: its name.
        setting: as text.
        errors: by column; empty where the setting was not measured on all splits.
        chosen: labels of the columns in which it is the best of the model's settings.
    """

    model: str
    setting: str
    errors: dict[str, str]
    chosen: frozenset[str]


def lines_of(comparison: Comparison) -> Iterator[Line]:
    """One line per model and setting, in the declared order; columns may have settings of their own."""
    d = comparison.declaration
    for model in d.models:
        cells = {column.label: comparison.cells[column.label, model.name] for column in d.columns}
        settings = {text(each.setting): None for cell in cells.values() for each in cell.tried}
        for setting in settings:
            errors, chosen = {}, set()
            for label, cell in cells.items():
                for each in cell.tried:
                    if text(each.setting) == setting and len(each.errors) == cell.wanted:
                        errors[label] = number(each.mean, d.metric)
                        chosen |= {label} if cell.complete and each is best(cell.tried) else set()
            yield Line(model.name, setting, errors, frozenset(chosen))


def text(setting: Options) -> str:
    """A setting in words.

    >>> text({"epochs": 24, "learning_rate": 0.005})
    'epochs 24, learning rate 0.005'
    """
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in setting.items())


def markdown_search(comparison: Comparison) -> list[str]:
    """Lines of a table; what the search chose is bold."""
    d = comparison.declaration
    labels = [column.label for column in d.columns]
    lines = [
        f"| held-out {METRICS[d.metric]} | setting | " + " | ".join(labels) + " |",
        "|---" * (len(labels) + 2) + "|",
    ]
    for line in lines_of(comparison):
        errors = (line.errors.get(label, "") for label in labels)
        cells = [f"**{e}**" if label in line.chosen else e for label, e in zip(labels, errors, strict=True)]
        lines.append(f"| {line.model} | {line.setting} | " + " | ".join(cells) + " |")
    return lines


def terminal_search(comparison: Comparison) -> Table:
    """A rich table; what the search chose is bold."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    d = comparison.declaration
    table = Table(title=d.title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(f"held-out {METRICS[d.metric]}")
    table.add_column("setting")
    for column in d.columns:
        table.add_column(column.label, justify="right")
    for line in lines_of(comparison):
        labels = (column.label for column in d.columns)
        cells = [Text(line.errors.get(each, ""), style="bold" if each in line.chosen else "") for each in labels]
        table.add_row(line.model, line.setting, *cells)
    return table
