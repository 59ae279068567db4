"""The model card: what a fitted estimator was made from and how well it did, as plain JSON that travels in its file."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from polyladder.analysis.attribution import interactions
from polyladder.data.table import Table
from polyladder.estimators.store import versions
from polyladder.polynomial.sparse import is_sparse

BINS = 24
"""Bins of a number's histogram."""

KEPT_ROWS = 2000
"""Held-out rows whose predictions are kept for charts; quantiles and scores come from all of them."""


STRENGTH_ROWS = 500
"""Rows, evenly spread, that strengths are averaged over."""

STRENGTH_INPUTS = 300
"""Beyond so many inputs strengths are left out: each costs a pass through the ladder."""


class Density(TypedDict):
    """A histogram: the bins' edges, or nothing for categories, and how many training rows lie in each."""

    edges: list[float]
    counts: list[int]


class Column(TypedDict):
    """One column of the table."""

    name: str
    kind: str  # "number" or "category"
    unit: str | None
    minimum: float | None
    maximum: float | None
    median: float | None
    categories: list[str] | None
    missing: int
    density: Density
    date_format: NotRequired[str | None]  # of dates that were read as numbers of days


class Score(TypedDict):
    """How one model did on held-out rows: rmse and r2 of numbers, error and log_loss of classes."""

    model: str
    seconds: float
    rmse: NotRequired[float]
    r2: NotRequired[float]
    error: NotRequired[float]
    log_loss: NotRequired[float]


class HeldOut(TypedDict):
    """Rows that were not fitted: their targets, what was predicted, for classes also each one's probability."""

    observed: list[Any]
    predicted: list[Any]
    probability: NotRequired[list[list[float]]]


class Strengths(TypedDict):
    """How much the output changes per standard deviation of an input, and of two inputs together."""

    features: list[list[Any]]  # name, strength
    interactions: list[list[Any]]  # name, other name, strength


class ModelCard(TypedDict):
    """What is known of a fitted estimator; ``estimator.card_`` holds it."""

    target: str
    task: str  # "regression" or "classification"
    classes: list[str] | None
    unit: str | None
    columns: list[Column]
    rows: int
    scores: list[Score]
    held_out: HeldOut | None
    residual_quantiles: dict[str, float]
    order_path: list[list[float]]
    strengths: Strengths | None
    settings: dict[str, Any]
    seed: int | None
    versions: dict[str, str]
    created: str
    source: str


def make_card(
    estimator: Any,
    X: Any,
    *,
    target: str = "y",
    scores: Sequence[Score] = (),
    held_out: HeldOut | None = None,
    order_path: Sequence[tuple[int, float]] = (),
    seed: int | None = None,
    source: str = "",
) -> ModelCard:
    """Describe a fitted estimator.

    Parameters
    ----------
    estimator : a fitted estimator of this library
    X : array-like or data frame of shape (n, d)
        The rows that it was fitted to.
    target : str
        Name of what it predicts. A unit may stand in brackets at its end, as in the names of columns.
    scores : sequence of Score
        On held-out rows, of this and of other models.
    held_out : HeldOut or None
        Targets and predictions of held-out rows, all of them.
    order_path : sequence of (order, error)
        Held-out error of each order that was tried.
    seed : int or None
    source : str
        Where the rows came from.

    Returns
    -------
    ModelCard
    """
    numbers = not hasattr(estimator, "classes_")
    return {
        "target": target,
        "task": "regression" if numbers else "classification",
        "classes": None if numbers else [str(c) for c in estimator.classes_],
        "unit": unit_of(target),
        "columns": describe_columns(estimator._read_table(X, fresh=False)),
        "rows": len(X),
        "scores": list(scores),
        "held_out": None if held_out is None else thinned(held_out),
        "residual_quantiles": residual_quantiles(held_out) if numbers and held_out is not None else {},
        "order_path": [[int(order), float(error)] for order, error in order_path],
        "strengths": strengths(estimator, X),
        "settings": {name: plain(value) for name, value in estimator.get_params(deep=False).items()},
        "seed": seed,
        "versions": versions(),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "source": source,
    }


def strengths(estimator: Any, X: Any, top: int = 20) -> Strengths | None:
    """The strongest inputs and pairs of inputs over rows, from exact derivatives; several outputs count together.

    None for models that are no ladder.
    """
    if not hasattr(estimator, "polynomial_"):
        return None
    z = estimator._transformed(X[:: math.ceil(len(X) / STRENGTH_ROWS)])
    ladder, names = estimator.polynomial_, estimator.features_.feature_names_out_
    if is_sparse(z) or len(names) > STRENGTH_INPUTS or len(z) < 2:
        return None
    found = interactions(ladder, z, names)
    single, pairs = (t.square().mean(0).sqrt() for t in (found.single, found.pairs))
    ranked = sorted(combinations(range(len(names)), 2), key=lambda pair: -pairs[pair].item())
    return {
        "features": [[names[i], single[i].item()] for i in single.argsort(descending=True, stable=True)[:top].tolist()],
        "interactions": [[names[i], names[j], pairs[i, j].item()] for i, j in ranked[:top]],
    }


def describe_columns(table: Table) -> list[Column]:
    """Range, median and density of each column of a table, in the table's order."""
    found: dict[int, Column] = {}
    for column, i in zip(table.numbers.T, table.positions, strict=True):
        found[i] = describe_numbers(table.names[i], column)
    for i, values in table.categories.items():
        found[i] = describe_categories(table.names[i], values)
    return [found[i] for i in sorted(found)]


def describe_numbers(name: str, values: NDArray[np.float64]) -> Column:
    """A column of numbers."""
    present = values[~np.isnan(values)]
    some = present.size > 0
    counts, edges = np.histogram(present, BINS) if some else (np.zeros(0), np.zeros(0))
    return {
        "name": name,
        "kind": "number",
        "unit": unit_of(name),
        "minimum": float(present.min()) if some else None,
        "maximum": float(present.max()) if some else None,
        "median": float(np.median(present)) if some else None,
        "categories": None,
        "missing": int(values.size - present.size),
        "density": {"edges": edges.tolist(), "counts": [int(c) for c in counts]},
    }


def describe_categories(name: str, values: NDArray[Any]) -> Column:
    """A column of categories, the most frequent first."""
    present = [v for v in values if v is not None]
    names, counts = np.unique(np.array(present, dtype=str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {
        "name": name,
        "kind": "category",
        "unit": None,
        "minimum": None,
        "maximum": None,
        "median": None,
        "categories": names[order].tolist(),
        "missing": len(values) - len(present),
        "density": {"edges": [], "counts": counts[order].tolist()},
    }


def unit_of(name: str) -> str | None:
    """What stands in brackets at the end of a column's name: "cement (kg/m3)" is in kg/m3."""
    found = re.search(r"[(\[]([^()\[\]]{1,20})[)\]]\s*$", name)
    return found[1].strip() or None if found else None


def residual_quantiles(held_out: HeldOut) -> dict[str, float]:
    """Half widths of intervals that cover each whole percentage of unseen rows, from held-out residuals.

    With n residuals the half width of level p is the ceil((n + 1) p)-th smallest absolute one: if rows are
    exchangeable, an unseen row lies within it with probability at least p. Levels beyond n / (n + 1) have none.
    """
    observed = np.asarray(held_out["observed"], dtype=np.float64)
    sizes = np.sort(np.abs(observed - np.asarray(held_out["predicted"], dtype=np.float64)))
    ranks = {percent: math.ceil((len(sizes) + 1) * percent / 100) for percent in range(1, 100)}
    return {str(percent): float(sizes[rank - 1]) for percent, rank in ranks.items() if rank <= len(sizes)}


def half_width(card: Mapping[str, Any], percent: float) -> float:
    """The half width of an interval of this level, or an error that says which levels there are."""
    widths = card["residual_quantiles"]
    if f"{percent:g}" not in widths:
        levels = sorted(map(int, widths))
        said = f"a whole percentage from {levels[0]} to {levels[-1]}" if levels else "left out: no rows were held out"
        raise ValueError(f"interval must be {said}; got {percent:g}.")
    return float(widths[f"{percent:g}"])


def thinned(held_out: HeldOut) -> HeldOut:
    """Every k-th row, so that not more than `KEPT_ROWS` are kept."""
    step = math.ceil(len(held_out["observed"]) / KEPT_ROWS) or 1
    kept: HeldOut = {"observed": held_out["observed"][::step], "predicted": held_out["predicted"][::step]}
    if "probability" in held_out:
        kept["probability"] = held_out["probability"][::step]
    return kept


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else str(value)
