"""Estimators whose fit is a list of jobs, so that those of many settings can share a program."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

from polyladder.estimators.base import Rows, TableEstimator
from polyladder.estimators.fitting import Fitted, Job, fit_jobs
from polyladder.estimators.progress import Progress
from polyladder.polynomial.sparse import is_sparse


class JobEstimator(TableEstimator):
    """Opens jobs on the rows that it read, has them run, and finishes with what they found.

    A subclass has the parameter ``verbose`` and defines ``_open`` and ``_loss``.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            Sparse rows stay sparse, and are scaled without being centered; they need gradient steps.
        y : array-like of shape (n,), or (n, m) for regression on several targets
        sample_weight : array-like of shape (n,), default=None
            Whole numbers, up to a mean of 10, count as repetitions of the rows. Of all other weights only the ratios
            matter.

        Returns
        -------
        self
        """
        jobs, finish = self._open(X, y, sample_weight, {})
        finish(fit_jobs(jobs, self._loss(jobs[0].rows), self._progress("fit")))
        return self

    def _open(
        self, X: Any, y: Any, sample_weight: Any, shared: dict[str, Any]
    ) -> tuple[list[Job], Callable[[list[Fitted]], None]]:
        """The jobs of a fit, and what to call with their results.

        Args:
            X, y, sample_weight: as given to `fit`.
            shared: estimators that are opened on the same data share their rows through this, so that their jobs can
                share a program.
        """
        raise NotImplementedError

    def _loss(self, rows: Rows) -> str:
        """The loss of a job on these rows."""
        raise NotImplementedError

    def _shared_rows(self, X: Any, y: Any, sample_weight: Any, shared: dict[str, Any], fresh: bool) -> Rows:
        key = f"rows {id(X)} {self.features} {self.clip} {self.missing}"
        if key not in shared or not fresh:
            before = set(vars(self))
            rows = self._prepare(X, y, sample_weight, fresh)
            shared[key] = (rows, {name: value for name, value in vars(self).items() if name not in before})
        rows, learned = shared[key]
        self.__dict__.update(learned)
        return rows

    def _progress(self, title: str) -> Progress:
        return Progress(bool(self.verbose), f"{type(self).__name__} {title}")


def usual_batch_size(rows: Rows) -> int:
    """Rows a step of Adam. A step on sparse rows updates long weights, so that many rows should share it."""
    n = rows.count
    if is_sparse(rows.z) and n >= 20_000:
        return 1024
    return 32 if n < 1000 else 128


def usual_epochs(batch_size: int, rows: Rows) -> int:
    """Epochs of Adam: enough for a few thousand steps."""
    least = 10 if is_sparse(rows.z) else 40
    return min(400, max(least, math.ceil(4000 * batch_size / rows.count)))
