"""Estimators of a group: those of this package share programs, as in its grid search; any other is fitted by itself."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Sequence
from typing import Any

from polyladder.estimators.fitting import fit_jobs
from polyladder.estimators.jobs import JobEstimator
from polyladder.estimators.progress import Progress
from polyladder.experiments.declare import Options
from polyladder.experiments.plan import Task
from polyladder.experiments.scores import Result, score
from polyladder.experiments.sources import Fit, fits_of


def run_estimators(group: Sequence[Task]) -> list[list[Result]]:
    """For each task the result of each of its fits; a model that could not be fitted has none."""
    found: list[list[Result]] = []
    opened: list[tuple[Task, Fit, Any, Any, Any]] = []
    shared: dict[tuple[Any, ...], tuple[dict[str, Any], Any]] = {}
    for task in group:
        for fit in fits_of(task):
            model = estimator(task.options, task.seed)
            # Estimators share rows that are the same object: one table a fold.
            common, x = shared.setdefault(fit.name, ({}, fit.features[fit.train]))
            if isinstance(model, JobEstimator):
                opened.append((task, fit, model, *model._open(x, fit.target[fit.train], None, common)))
            else:
                model.fit(x, fit.target[fit.train])
                opened.append((task, fit, model, None, None))
    jobs = [job for _, _, _, own, _ in opened for job in own or ()]
    model = opened[0][2]
    done = iter(fit_jobs(jobs, model._loss(jobs[0].rows), Progress(False, "")) if jobs else ())
    results = iter([closed(task, fit, model, own, finish, done) for task, fit, model, own, finish in opened])
    for task in group:
        found.append([next(results) for _ in range(task.fits)])
    return found


def closed(task: Task, fit: Fit, model: Any, own: Any, finish: Any, done: Any) -> Result:
    """Give an estimator what its jobs found, and measure it."""
    if finish is not None:
        fitted = [next(done) for _ in own]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                finish(fitted)
        except ValueError as error:
            return Result(None, {"failed": str(error)})
    return score(task.metric, model.predict(fit.features[fit.test]), fit.target[fit.test])


def estimator(options: Options, seed: int) -> Any:
    """An estimator from ``{"class": "LPNNRegressor", ...}``: of this package, or by its dotted path."""
    module, _, name = options["class"].rpartition(".")
    kind = getattr(importlib.import_module(module or "polyladder"), name)
    parameters = {key: value for key, value in options.items() if key != "class"}
    if "random_state" in inspect.signature(kind).parameters:
        parameters["random_state"] = seed
    return kind(**parameters)
