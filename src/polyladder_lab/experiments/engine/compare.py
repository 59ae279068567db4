"""What the stored rows say: mean and deviation over splits, intervals, and who is significantly better than whom."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from polyladder_lab.experiments.engine.declare import Declaration, Model, Options, TableColumn
from polyladder_lab.experiments.engine.plan import choice, measurement
from polyladder_lab.experiments.engine.rows import Row
from polyladder_lab.experiments.engine.scores import unpacked
from polyladder_lab.experiments.engine.searched import Tried, best, tried

LEVEL = 0.05
"""Of every test; intervals cover 1 - LEVEL."""

TOLD_APART = 2.0
"""Standard errors by which a mean must differ from a published one to be called better or worse."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A model in a column.

    Attributes:
        values: the metric of each split that is there, by the split's number; infinite where a model blew up.
        chosen: the setting that was chosen for each of these splits.
        wanted: how many splits were declared, without those on which the model has no such metric.
        rows: the stored rows, by the split's number.
        published: mean and deviation that were published, if any were.
        published_splits: over how many splits the published deviation is.
        tried: the settings of a search; empty in other tables.
    """

    values: Mapping[int, float]
    chosen: Mapping[int, Options]
    wanted: int
    rows: Mapping[int, Row]
    published: tuple[float, float | None] | None
    published_splits: int
    tried: tuple[Tried, ...] = ()

    @property
    def mean(self) -> float:
        """Over splits; NaN if there is none."""
        return float(np.mean(list(self.values.values()))) if self.values else math.nan

    @property
    def deviation(self) -> float:
        """Standard deviation over splits; NaN with fewer than two."""
        finite = all(math.isfinite(value) for value in self.values.values())
        return float(np.std(list(self.values.values()), ddof=1)) if len(self.values) > 1 and finite else math.nan

    @property
    def error(self) -> float:
        """Standard error of the mean; NaN with fewer than two splits."""
        return self.deviation / math.sqrt(len(self.values)) if self.values else math.nan

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % for the expected metric: Student's t over splits, or Wilson's for one split's share of wrong rows."""
        from scipy.stats import norm, t

        if len(self.values) > 1:
            half = float(t.ppf(1 - LEVEL / 2, len(self.values) - 1)) * self.error
            return self.mean - half, self.mean + half
        n = next((row["rows"] for row in self.rows.values() if "rows" in row), 0)
        if not n or not self.values:
            return math.nan, math.nan
        z, p = float(norm.ppf(1 - LEVEL / 2)), self.mean
        center, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (center - half) / (1 + z * z / n), (center + half) / (1 + z * z / n)

    @property
    def complete(self) -> bool:
        """Whether every declared split was measured."""
        return len(self.values) == self.wanted


@dataclass(frozen=True, eq=False)
class Comparison:
    """A table with its verdicts.

    Attributes:
        declaration: what was declared.
        cells: by column label and model name.
        bold: cells of the best model of a column, and of those that a test does not tell from it.
        underlined: cells of the first model of ``better_than`` that are significantly better than the second's.
        stored: how many rows of these columns and models are stored.
        lost: stored rows that were measured by a commit that is no longer in the repository.
    """

    declaration: Declaration
    cells: Mapping[tuple[str, str], Cell]
    bold: frozenset[tuple[str, str]]
    underlined: frozenset[tuple[str, str]]
    stored: int
    lost: tuple[Row, ...]


def compare(d: Declaration, rows: Mapping[str, Row]) -> Comparison:
    """Gather a table's cells from stored rows, and test."""
    cells = {(c.label, m.name): gathered(d, c, m, rows) for c in d.columns for m in d.models}
    bold, underlined = set(), set()
    for column in d.columns:
        rivals = [m.name for m in d.models if m.polynomial or (d.compare == "rows" and not m.ours)]
        if d.compare in ("models", "rows"):
            bold |= {(column.label, name) for name in best_of({n: cells[column.label, n] for n in rivals})}
        if len(d.better_than) == 2:
            first, second = (cells.get((column.label, name)) for name in d.better_than)
            if first and second and significantly_better(first, second):
                underlined.add((column.label, d.better_than[0]))
    own = [row for row in rows.values() if (row.get("column"), row.get("model")) in cells]
    lost = tuple(row for row in own if row.get("commit") in d.lost_commits)
    return Comparison(d, cells, frozenset(bold), frozenset(underlined), len(own), lost)


def gathered(d: Declaration, column: TableColumn, model: Model, rows: Mapping[str, Row]) -> Cell:
    """The cell of a model in a column: on each split the last fit of the setting that was chosen there."""
    found, chosen = {}, {}
    splits = d.splits_of(model, column)
    if d.compare == "settings":
        return searched(tried(d, column, model, rows), len(splits))
    for split in splits:
        setting = choice(d, column, model, split, rows)
        row = None if setting is None else rows.get(measurement(d, column, model, setting, split, None).key)
        if row is not None and setting is not None and "value" in row:
            found[split], chosen[split] = row, setting
    # A model that has no such metric, as quantiles have no density, is measured in full without it.
    undefined = {split for split, row in found.items() if "undefined" in row}
    values = {s: math.inf if row["value"] is None else row["value"] for s, row in found.items() if s not in undefined}
    published = d.published.get(model.name, {}).get(column.label)
    return Cell(values, chosen, len(splits) - len(undefined), found, published, d.published_splits)


def searched(settings: tuple[Tried, ...], wanted: int) -> Cell:
    """The cell of a search: held-out errors of the setting that is best over all splits, once all were measured."""
    complete = all(len(each.errors) == wanted for each in settings)
    chosen = best(settings)
    values = chosen.errors if complete else {}
    return Cell(values, dict.fromkeys(values, chosen.setting), wanted, {}, None, 0, settings)


def best_of(cells: Mapping[str, Cell]) -> list[str]:
    """The model with the lowest mean and those that are not significantly worse than it."""
    present = {name: cell for name, cell in cells.items() if cell.complete and cell.values}
    if len(present) < 2:
        return []
    best = min(present, key=lambda name: present[name].mean)
    return [n for n, cell in present.items() if n == best or not significantly_better(present[best], cell)]


def significantly_better(first: Cell, second: Cell) -> bool:
    """Whether the first cell has the lower mean and a paired t-test tells the two apart."""
    p = paired_p(first, second)
    return first.mean < second.mean and p is not None and p < LEVEL


def verdict(first: Cell, second: Cell) -> str:
    """What the paired t-test says of the first cell beside the second; empty where one is not measured in full."""
    if not (first.complete and second.complete and first.values and second.values):
        return ""
    if significantly_better(first, second):
        return "better"
    return "worse" if significantly_better(second, first) else "not told apart"


def paired_p(first: Cell, second: Cell) -> float | None:
    """Two-sided p of a paired t-test over common splits; with one split, over the test rows that were right or wrong.

    None where there is nothing to pair. Models that never differ have p = 1.
    """
    from scipy.stats import t

    differences = paired_differences(first, second)
    n = len(differences)
    if n < 2:
        return None
    if not np.isfinite(differences).all():
        # A model that blew up has no mean to test: the sign test only counts splits.
        from scipy.stats import binomtest

        signs = np.sign(np.nan_to_num(differences, nan=0.0))
        signs = signs[signs != 0]
        return float(binomtest(int((signs > 0).sum()), len(signs)).pvalue) if len(signs) else 1.0
    spread = float(np.std(differences, ddof=1))
    if spread == 0:
        return 1.0 if float(differences.mean()) == 0 else 0.0
    return float(2 * t.sf(abs(float(differences.mean())) / (spread / math.sqrt(n)), n - 1))


def paired_differences(first: Cell, second: Cell) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Differences of the metric by split, or of wrongness by test row where there is a single split."""
    common = sorted(first.values.keys() & second.values.keys())
    if len(common) == 1:
        wrong = [wrong_rows(cell.rows.get(common[0], {})) for cell in (first, second)]
        if wrong[0] is not None and wrong[1] is not None and len(wrong[0]) == len(wrong[1]):
            return np.asarray(wrong[0].astype(float) - wrong[1].astype(float))
    with np.errstate(invalid="ignore"):
        return np.array([first.values[s] for s in common]) - np.array([second.values[s] for s in common])


def wrong_rows(row: Row) -> np.ndarray[Any, Any] | None:
    """Which test rows a stored model got wrong, if that was kept."""
    return unpacked(row["wrong"], row["rows"]) if "wrong" in row else None


def beside_published(cell: Cell, published: tuple[float, float | None] | None) -> str:
    """How a cell compares with a published figure: better, as good, or worse; empty where that is not known.

    Better and worse alike need more than `TOLD_APART` standard errors of the difference. Nothing is paired here, even
    where splits are shared: a publication has no errors of single splits. With several splits the standard error comes
    from the deviations of both sides, as far as they are known; with one it is that of two shares of wrong rows.
    """
    if published is None or not cell.values or not cell.complete:
        return ""
    mean, deviation = published
    if not math.isfinite(cell.mean):
        return "worse"
    n = len(cell.values)
    if n > 1:
        error = math.sqrt(cell.deviation**2 / n + (deviation or 0.0) ** 2 / cell.published_splits)
    else:
        rows = next((row["rows"] for row in cell.rows.values() if "rows" in row), 0)
        share = (mean + cell.mean) / 2
        error = math.sqrt(2 * share * (1 - share) / rows) if rows else math.nan
    if math.isnan(error):
        return ""
    difference = cell.mean - mean
    if abs(difference) <= TOLD_APART * error:
        return "as good"
    return "better" if difference < 0 else "worse"
