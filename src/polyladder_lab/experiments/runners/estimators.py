"""Estimators: any class with ``fit`` and ``predict``, of this package or by its dotted path, fitted one by one."""

from __future__ import annotations

import importlib
import inspect
import math
import time
import warnings
from collections.abc import Sequence
from statistics import median
from typing import Any, Protocol, runtime_checkable

import numpy as np

from polyladder_lab.experiments.engine.declare import Options
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Array, Result, score
from polyladder_lab.experiments.runners.sources import Fit, fits_of

COVERED = 0.9
"""Share of the rows that predicted intervals should cover."""


@runtime_checkable
class Probabilistic(Protocol):
    """An estimator that predicts a distribution for every row."""

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Means, and standard deviations if asked for."""

    def predict_interval(self, X: Any, level: float) -> tuple[Array, Array]:
        """Lower and upper ends of central intervals."""

    def log_likelihood(self, X: Any, y: Any) -> Array:
        """The logarithm of the density of each target."""


@runtime_checkable
class Searched(Protocol):
    """An estimator that chose settings of its own on its training rows, as ``GridSearchCV`` does."""

    best_params_: Options
    refit_time_: float


def run_estimators(group: Sequence[Measurement]) -> list[list[Result]]:
    """For each measurement the result of each of its fits."""
    return [[fitted(each, fit) for fit in fits_of(each)] for each in group]


def fitted(measurement: Measurement, fit: Fit) -> Result:
    """Fit one estimator and measure it. A setting that fails on a fold is out; the last fit must succeed."""
    model = estimator(measurement.options, measurement.seed)
    clock, processor = time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(fit.features[fit.train], fit.target[fit.train])
    except ValueError as error:
        if measurement.selection is None:
            raise
        return Result(None, {"failed": str(error)})
    used, seconds = time.process_time() - processor, time.perf_counter() - clock
    more: Options = {"processor_seconds": round(used, 4)}
    if isinstance(model, Searched):
        more["chosen"], seconds = str(model.best_params_), model.refit_time_
    more["seconds_of_last_fit"] = round(seconds, 3)
    result = measured(measurement.metric, model, fit.features[fit.test], fit.target[fit.test])
    return Result(result.value, {**result.more, **more})


def measured(metric: str, model: Any, X: Array, y: Array) -> Result:
    """The metric; for a regression also the largest error, and how good the predicted distributions are."""
    if metric == "log_loss":
        p = np.clip(model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)], 1e-15, None)
        return Result(float(-np.log(p).mean()))
    prediction = model.predict(X)
    if metric == "error":
        return score(metric, prediction, y)
    value = score("rmse", prediction, y).value
    if value is None:
        return Result(None)
    found = {"rmse": value, "worst": float(np.abs(prediction - y).max())}
    if isinstance(model, Probabilistic):
        found |= predictive(model, X, y)
        found["nll"] = -found["log_likelihood"]
    if metric not in found:
        raise ValueError(f"metric must be rmse for an estimator without log_likelihood; got {metric!r}.")
    finite = {name: number for name, number in found.items() if math.isfinite(number)}
    return Result(finite.pop(metric, None), finite)


def predictive(model: Probabilistic, X: Array, y: Array) -> dict[str, float]:
    """Log-likelihood of a row, share and width of the intervals, and the processor's time for a row."""
    low, high = model.predict_interval(X, COVERED)
    times = []
    for _ in range(5):
        began = time.process_time()
        model.predict(X, return_std=True)
        times.append(time.process_time() - began)
    return {
        "log_likelihood": float(np.mean(model.log_likelihood(X, y))),
        "coverage": float(np.mean((low <= y) & (y <= high))),
        "width": float(np.mean(high - low)),
        "microseconds_per_row": round(1e6 * median(times) / len(X), 3),
    }


def estimator(options: Options, seed: int) -> Any:
    """An estimator from ``{"class": "LPNNRegressor", ...}``: of this package, or by its dotted path."""
    module, _, name = options["class"].rpartition(".")
    try:
        kind = getattr(importlib.import_module(module or "polyladder"), name)
    except (ModuleNotFoundError, AttributeError) as error:
        raise ValueError(
            f"class must be a class of polyladder or a dotted path; got {options['class']!r}. "
            "Install its package, or add its folder to PYTHONPATH."
        ) from error
    parameters = {key: value for key, value in options.items() if key != "class"}
    if "random_state" in inspect.signature(kind).parameters:
        parameters["random_state"] = seed
    return kind(**parameters)
