"""Estimators: any class with ``fit`` and ``predict``, of this package or by its dotted path, fitted one by one."""

from __future__ import annotations

import importlib
import inspect
import math
import time
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol, runtime_checkable

import numpy as np

from polyladder_lab.experiments.engine.declare import Options
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Array, Result, score
from polyladder_lab.experiments.runners.predictive import Distributional, Probabilistic, distributional, predictive
from polyladder_lab.experiments.runners.sources import Fit, fits_of


@runtime_checkable
class Borrowed(Protocol):
    """An estimator of other packages, whose versions are kept with what it does."""

    packages: tuple[str, ...]


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
    if isinstance(model, Borrowed):
        more["packages"] = ", ".join(f"{name} {version(name)}" for name in model.packages)
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
    # A table of errors alone asks for no distribution of estimators that can also do without.
    if metric == "nll" and isinstance(model, Distributional):
        found |= distributional(model, X, y)
    elif isinstance(model, Probabilistic):
        found |= predictive(model, X, y)
    if "log_likelihood" in found:
        found["nll"] = -found["log_likelihood"]
    finite = {name: number for name, number in found.items() if math.isfinite(number)}
    if metric not in found:
        if "crps" in found:
            return Result(None, {**finite, "undefined": metric})
        raise ValueError(f"metric must be rmse for an estimator without log_likelihood; got {metric!r}.")
    return Result(finite.pop(metric, None), finite)


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
