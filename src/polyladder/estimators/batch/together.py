"""Many estimators fitted together: their models of equal shape share a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polyladder.estimators.batch.fitting import fit_jobs
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.ensemble import EnsembleEstimator


@dataclass(frozen=True, eq=False)
class Request:
    """An estimator that is to be fitted to a table. Requests that hold the very same objects share the rows."""

    estimator: EnsembleEstimator
    X: Any
    y: Any
    sample_weight: Any = None


def fit_together(requests: Sequence[Request], progress: Progress) -> list[Exception | None]:
    """Fit every estimator in place, but for what only a model that is kept needs (`EnsembleEstimator._complete`).

    Returns:
        For each the error that it ended with, or None.
    """
    shared: dict[Any, Any] = {}
    errors: list[Exception | None] = [None] * len(requests)
    opened = {}
    for i, request in enumerate(requests):
        try:
            opened[i] = request.estimator._open(request.X, request.y, request.sample_weight, shared)
        except Exception as error:
            errors[i] = error
    results = iter(fit_jobs([job for each in opened.values() for job in each.jobs], progress))
    for i, each in opened.items():
        fitted = [next(results) for _ in each.jobs]
        try:
            requests[i].estimator._close(each, fitted)
        except Exception as error:
            errors[i] = error
    return errors
