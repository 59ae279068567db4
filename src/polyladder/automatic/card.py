"""The model card: what a fitted estimator was made from and how well it did, as plain JSON that travels in its file."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, Required, TypedDict

import numpy as np

from polyladder.estimators.rivals.feedforward import NetworkEstimator
from polyladder.estimators.table_estimator import TableEstimator
from polyladder.estimators.targets import ClassTarget
from polyladder.explain.strengths import spread_rows, strengths
from polyladder.explain.typical import typical_row
from polyladder.files.versions import versions
from polyladder.tables.describe import ColumnSummary, describe_columns
from polyladder.tables.sparse_features import SparseTable
from polyladder.tables.units import unit_of

KEPT_ROWS = 2000
"""Held-out rows whose predictions are kept for charts; quantiles and scores come from all of them."""


class DistributionScore(TypedDict, total=False):
    """How good the distributions of a model of numbers are on held-out rows."""

    crps: float  # mean over rows
    log_likelihood: float  # mean over rows
    coverage: dict[str, float]  # the share of rows inside their intervals, by the percentage that these state
    half_width: float  # of 90 % intervals, the median over rows
    scored: int  # how many rows these are


class Score(DistributionScore):
    """How one model did on held-out rows: rmse and r2 of numbers, error to calibration_error of classes."""

    model: Required[str]
    seconds: Required[float]
    rmse: NotRequired[float]
    r2: NotRequired[float]
    error: NotRequired[float]
    log_loss: NotRequired[float]
    auc: NotRequired[float]
    average_precision: NotRequired[float]
    f1: NotRequired[float]
    calibration_error: NotRequired[float]
    rows: NotRequired[int]  # how many rows it was fitted to, where that is not all of them


class HeldOut(TypedDict):
    """Rows that were not fitted: their targets, what was predicted, for classes also each one's probability."""

    observed: list[Any]
    predicted: list[Any]
    probability: NotRequired[list[list[float]]]


class ModelCard(TypedDict):
    """What is known of a fitted estimator; ``estimator.card_`` holds it."""

    target: str
    task: str  # "regression" or "classification"
    classes: list[str] | None
    unit: str | None
    columns: list[ColumnSummary]
    rows: int
    scores: list[Score]
    held_out: HeldOut | None
    residual_quantiles: dict[str, float]
    selection: dict[str, Any] | None  # how settings were chosen: candidates, errors, words
    notes: list[str]  # what was understood, mended or left out
    strengths: dict[str, Any] | None  # None for models that are no ladder
    settings: dict[str, Any]
    loss: NotRequired[str]  # what it was fitted by
    seed: int | None
    versions: dict[str, str]
    created: str
    source: str
    target_written: NotRequired[dict[str, Any]]  # how the target's cells are written
    class_counts: NotRequired[dict[str, int]]  # rows of each class
    typical: NotRequired[list[Any] | None]  # the values of a row in the middle of all
    confusion: NotRequired[list[list[int]]]  # held-out rows of each class by the class that was predicted


def make_card(
    estimator: TableEstimator,
    X: Any,
    *,
    target: str | None = None,
    scores: Sequence[Score] = (),
    held_out: HeldOut | None = None,
    selection: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    seed: int | None = None,
    source: str = "",
) -> ModelCard:
    """Describe a fitted estimator.

    Parameters
    ----------
    estimator : a fitted estimator of this library
    X : array-like or data frame of shape (n, d), or a table that was read already
        The rows that it was fitted to.
    target : str or None
        Name of what it predicts; by default that of the training target, if it had one, or "prediction". A unit may
        stand in brackets at its end, as in the names of columns.
    scores : sequence of Score
        On held-out rows, of this and of other models.
    held_out : HeldOut or None
        Targets and predictions of held-out rows, all of them.
    selection : mapping or None
        How its settings were chosen, as `selection_json` writes it.
    notes : sequence of str
        What was understood, mended or left out on the way.
    seed : int or None
    source : str
        Where the rows came from.

    Returns
    -------
    ModelCard
    """
    rows = estimator.read_table(X)
    if isinstance(rows, SparseTable):
        raise ValueError(
            "The model must have been fitted to a dense table to have a card; got one of sparse rows. "
            "Fit it to the columns that matter, as a dense table."
        )
    model = None if isinstance(estimator, NetworkEstimator) else estimator.model_.described_by(rows)
    if target is None:
        target = "prediction" if model is None else model.target
    some = rows.take(spread_rows(len(rows)))
    classes = estimator.target_.labels if isinstance(estimator.target_, ClassTarget) else None
    return {
        "target": target,
        "task": "regression" if classes is None else "classification",
        "classes": None if classes is None else [str(c) for c in classes],
        "unit": unit_of(target),
        "columns": describe_columns(rows),
        "rows": len(rows),
        "scores": list(scores),
        "held_out": None if held_out is None else thinned(held_out),
        "residual_quantiles": residual_quantiles(held_out) if classes is None and held_out is not None else {},
        "selection": None if selection is None else dict(selection),
        "notes": list(notes),
        "strengths": None if model is None else strengths(model, model.inputs(some)).json(),
        "typical": None if model is None else typical_row(model, rows),
        "settings": {name: plain(value) for name, value in estimator.get_params(deep=False).items()},
        "loss": estimator.target_.loss.name,
        "seed": seed,
        "versions": versions(),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "source": source,
    }


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
    widths = card.get("residual_quantiles", {})
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
