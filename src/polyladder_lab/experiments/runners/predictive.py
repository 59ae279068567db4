"""Predicted distributions of test rows: how likely the targets are, how far away, how often inside the intervals."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any, Protocol, runtime_checkable

import numpy as np

from polyladder_lab.experiments.engine.scores import Array

COVERED = 0.9
"""Share of the rows that predicted intervals should cover, where a single number stands for all of them."""

FURTHER = (0.5, 0.8, 0.95)
"""The other shares that are looked at where a whole distribution is predicted."""

ROUNDS = 5
"""Predictions that are timed; their median counts."""


@runtime_checkable
class Probabilistic(Protocol):
    """An estimator that predicts a mean, a deviation and intervals for every row."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Means, and standard deviations if asked for."""

    def predict_interval(self, X: Any, level: float) -> tuple[Array, Array]:
        """Lower and upper ends of central intervals."""

    def log_likelihood(self, X: Any, y: Any) -> Array:
        """The logarithm of the density of each target."""


class PredictedRows(Protocol):
    """The distributions of the targets of some rows."""

    def interval(self, level: float) -> tuple[Any, Any]:
        """Lower and upper ends of central intervals. Shapes (n,)."""

    def crps(self, y: Any) -> Any:
        """Continuous ranked probability score of each target. Shape (n,)."""


@runtime_checkable
class WithDensity(Protocol):
    """Distributions that have a density; quantiles alone have none."""

    def logpdf(self, y: Any) -> Any:
        """The logarithm of the density of each target. Shape (n,)."""


@runtime_checkable
class Distributional(Protocol):
    """An estimator that predicts whole distributions."""

    def predict_distribution(self, X: Any) -> PredictedRows:
        """The distributions of the targets of these rows."""


def predictive(model: Probabilistic, X: Array, y: Array) -> dict[str, float]:
    """Log-likelihood of a row, share and width of the intervals, and the processor's time for a row."""
    low, high = model.predict_interval(X, COVERED)
    return {
        "log_likelihood": float(np.mean(model.log_likelihood(X, y))),
        "coverage": inside(y, low, high),
        "width": float(np.mean(high - low)),
        "microseconds_per_row": microseconds(lambda: model.predict(X, return_std=True), len(X)),
    }


def distributional(model: Distributional, X: Array, y: Array) -> dict[str, float]:
    """What `predictive` finds, from whole distributions, and with it their CRPS and the coverage of further intervals.

    There is no log-likelihood where the distributions have no density. The time is that of a distribution and one
    interval of each row.
    """
    rows = model.predict_distribution(X)
    low, high = (np.asarray(end) for end in rows.interval(COVERED))
    found = {
        "crps": float(np.mean(np.asarray(rows.crps(y)))),
        "coverage": inside(y, low, high),
        "width": float(np.mean(high - low)),
        "microseconds_per_row": microseconds(lambda: model.predict_distribution(X).interval(COVERED), len(X)),
    }
    for level in FURTHER:
        found[f"coverage_{round(100 * level)}"] = inside(y, *map(np.asarray, rows.interval(level)))
    if isinstance(rows, WithDensity):
        found["log_likelihood"] = float(np.mean(np.asarray(rows.logpdf(y))))
    return found


def inside(y: Array, low: Array, high: Array) -> float:
    """Share of the targets in their intervals."""
    return float(np.mean((low <= y) & (y <= high)))


def microseconds(predict: Callable[[], object], rows: int) -> float:
    """The processor's time for a row: the median of some rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        predict()
        times.append(time.process_time() - began)
    return round(1e6 * median(times) / rows, 3)
