"""Polynomial kernels of one degree, over directions through training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import solve_triangular

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.problem import Problem, fit_on_all, fit_on_folds, fit_rows
from polyladder.training.kernels.relevance import Array
from polyladder.training.kernels.ridge import RidgeFit

RIDGES = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Ridge weights of a kernel to choose among, relative to what the evidence says."""


@dataclass(frozen=True, eq=False)
class Kernel(Trial):
    """A kernel.

    Attributes:
        block: whose directions it has.
        coefficients: of the directions. Shape (directions, m).
        offset: shape (m,).
        ridge: that it was solved with.
    """

    model: ClassVar[str] = "kernel"

    block: Block
    coefficients: Array
    offset: Array
    ridge: float

    def on_all(self, problem: Problem, x: Array) -> Self:
        """With the coefficients of all rows."""
        if len(problem.chosen) == len(problem.y) or not problem.loss.by_rows:
            return self
        block, directions = self.block, self.block.directions
        factor = directions.factor(self.order)

        def features(part: slice) -> Array:
            return directions.features(directions.along(block.x[part]), self.order, factor)

        start = np.r_[factor.T @ self.coefficients, self.offset[None]]
        solved = fit_on_all(problem, features, start, self.ridge)
        return replace(self, coefficients=raw(factor, solved[:-1]), offset=solved[-1])

    def add_to(self, total: Total, weight: float) -> None:
        """Add its coefficients and offset."""
        total.offset += weight * self.offset
        total.add_kernel(self.block, self.order, weight * self.coefficients)


def raw(factor: Array, coefficients: Array) -> Array:
    """Coefficients of the directions' own powers, from those of features that a factor made of them."""
    return np.asarray(solve_triangular(factor, coefficients, lower=True, trans="T"))


def kernel_by_rows(
    problem: Problem, block: Block, degree: int, ridges: Sequence[float] = RIDGES
) -> tuple[Kernel, RidgeFit]:
    """A kernel of one degree; the compared rows are left out one by one."""
    expected = block.scales.noise / block.scales.amplitude
    factor = block.directions.factor(degree)
    phi = block.directions.features(block.along, degree, factor)
    fit = fit_rows(problem, phi, [r * expected for r in ridges])
    own = raw(factor, fit.coefficients)
    return Kernel(block.features, degree, fit.left_out, block, own, fit.offset, fit.ridge), fit


def kernel_on_folds(problem: Problem, block: Block, degree: int, ridges: Sequence[float]) -> list[Kernel]:
    """A kernel of one degree, fitted on folds, for each of several ridge weights; the mean of the folds is kept."""
    factor = block.directions.factor(degree)
    phi = block.directions.features(block.along, degree, factor)
    found = zip(fit_on_folds(problem, phi, ridges), ridges, strict=True)
    return [
        Kernel(block.features, degree, left, block, raw(factor, mean[:-1]), mean[-1], ridge)
        for (left, mean), ridge in found
    ]
