"""Linear models of all inputs alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.problem import Problem, fit_on_all, fit_on_folds, fit_rows
from polyladder.training.kernels.relevance import Array
from polyladder.training.kernels.ridge import RidgeFit

LINEAR_RIDGES = tuple(float(r) for r in np.logspace(-3, 5, 13))
"""Ridge weights of a line to choose among."""

EXACT_RIDGES = (1e-12, 1e-9, 1e-6)
"""Ridge weights of a line that has more than twice as many rows as columns: they leave an exact line exact, and let
columns count that differ from others in their last digits alone."""


@dataclass(frozen=True, eq=False)
class Linear(Trial):
    """A linear model.

    Attributes:
        slopes: of each input. Shape (d, m).
        offset: shape (m,).
        columns: positions of the inputs among those of the polynomial. Shape (d,).
        ridge: that it was solved with.
    """

    model: ClassVar[str] = "linear"

    slopes: Array
    offset: Array
    columns: NDArray[np.intp]
    ridge: float

    def on_all(self, problem: Problem, x: Array) -> Self:
        """With the slopes of all rows."""
        if len(problem.chosen) == len(problem.y) or not problem.loss.by_rows:
            return self
        solved = fit_on_all(problem, lambda part: x[part], np.r_[self.slopes, self.offset[None]], self.ridge)
        return replace(self, slopes=solved[:-1], offset=solved[-1])

    def add_to(self, total: Total, weight: float) -> None:
        """Add its slopes and offset."""
        total.offset += weight * self.offset
        total.slopes[:, self.columns] += weight * self.slopes.T


def line_by_rows(
    problem: Problem, x: Array, features: str, ridges: Sequence[float] | None = None
) -> tuple[Linear, RidgeFit]:
    """A ridge regression on all inputs (n, d); the compared rows are left out one by one.

    The usual ridge weights are tried where none are given.
    """
    inputs, columns = x[problem.chosen], np.arange(x.shape[1])
    if ridges is None:
        ridges = LINEAR_RIDGES if len(inputs) <= 2 * len(columns) else (*EXACT_RIDGES, *LINEAR_RIDGES)
    fit = fit_rows(problem, inputs, ridges)
    return Linear(features, 1, fit.left_out, fit.coefficients, fit.offset, columns, fit.ridge), fit


def lines_on_folds(problem: Problem, x: Array, features: str, ridges: Sequence[float]) -> list[Linear]:
    """Ridge regressions on all inputs (n, d), fitted on folds; the mean of the folds is kept."""
    columns = np.arange(x.shape[1])
    found = zip(fit_on_folds(problem, x[problem.chosen], ridges), ridges, strict=True)
    return [Linear(features, 1, left, mean[:-1], mean[-1], columns, ridge) for (left, mean), ridge in found]
