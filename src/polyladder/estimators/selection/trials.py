"""Candidates that were solved: what each predicts of rows that it did not see, and what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.kernels.directions import Directions
from polyladder.training.kernels.logistic import fit_classes
from polyladder.training.kernels.relevance import Array, Relevance
from polyladder.training.kernels.ridge import RidgeFit, ridge_regression

RIDGES = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Ridge weights of a kernel to choose among, relative to what the evidence says."""

LINEAR_RIDGES = tuple(float(r) for r in np.logspace(-3, 5, 13))

EXACT_RIDGES = (1e-12, 1e-9, 1e-6)
"""Ridge weights of a line that has more than twice as many rows as columns: they leave an exact line exact, and let
columns count that differ from others in their last digits alone."""

CHUNK = 20_000
"""Rows whose features are held at once."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to predict.

    Attributes:
        y: the squared loss's targets, of mean 0 and variance 1; of classes as well. Shape (n, m).
        classes: 0 or 1, the second of two classes alone; None for numbers. Shape (n, m).
        weight: of the rows. Shape (n,).
        chosen: numbers of the rows that candidates are compared on.
        fold: of each of these. Shape (chosen,).
        folds: how many there are.
    """

    y: Array
    classes: Array | None
    weight: Array
    chosen: NDArray[np.intp]
    fold: NDArray[np.intp]
    folds: int

    @property
    def goal(self) -> Array:
        """What the compared rows should be predicted as. Shape (chosen, m)."""
        return (self.y if self.classes is None else self.classes)[self.chosen]


@dataclass(frozen=True, eq=False)
class Block:
    """A kernel over some inputs.

    Attributes:
        features: how its columns were made, in a word.
        columns: positions of its inputs among those of the polynomial.
        x: the inputs of all rows. Shape (n, d).
        groups: the number of each input's group. Shape (d,).
        scales: the relevance of the groups.
        directions: of the kernel.
        along: t of the compared rows. Shape (chosen, m).
    """

    features: str
    columns: NDArray[np.intp]
    x: Array
    groups: NDArray[np.intp]
    scales: Relevance
    directions: Directions
    along: Array


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate that was solved.

    Attributes:
        model, features, order: as a `Candidate` says.
        left_out: predictions of the compared rows by fits without them. Shape (chosen, m).
        block: of a kernel.
        coefficients: of a kernel's directions, or the slopes of a linear model. Shape (., m).
        offset: shape (m,).
        columns: of a linear model or a ladder: the positions of its inputs.
        ladder: those of all folds, of a ladder. Batch shape (ladders,).
        ridge: of a kernel or a linear model.
        excess: mean square by which ``left_out`` scatters more than the final model: it is the mean of fewer ladders.
    """

    model: str
    features: str
    order: int
    left_out: Array
    block: Block | None = None
    coefficients: Array | None = None
    offset: Array | None = None
    columns: NDArray[np.intp] | None = None
    ladder: LadderPolynomial | None = None
    ridge: float = 0.0
    excess: float = 0.0


def kernel_numbers(
    problem: Problem, block: Block, degree: int, ridges: Sequence[float] = RIDGES
) -> tuple[Trial, RidgeFit]:
    """A kernel of one degree, by least squares; the compared rows are left out one by one."""
    expected = block.scales.noise / block.scales.amplitude
    factor = block.directions.factor(degree)
    phi = block.directions.features(block.along, degree, factor)
    fit = ridge_regression(
        phi, problem.y[problem.chosen], problem.weight[problem.chosen], [r * expected for r in ridges]
    )
    raw = solve_triangular(factor, fit.coefficients, lower=True, trans="T")
    trial = Trial(
        "kernel", block.features, degree, fit.left_out, block, raw, fit.offset, block.columns, ridge=fit.ridge
    )
    return trial, fit


def solved_on_all(problem: Problem, trial: Trial, x: Array) -> Trial:
    """The trial with the coefficients of a kernel or a line on all rows, where it was compared on some; chunk by chunk.

    Args:
        problem: of numbers; classes are left as they are.
        trial: what was compared. Ladders are left as they are.
        x: the inputs of a line. Shape (n, d).
    """
    every = len(problem.chosen) == len(problem.y)
    if every or problem.classes is not None or trial.coefficients is None:
        return trial
    block = trial.block
    factor = np.eye(x.shape[1]) if block is None else block.directions.factor(trial.order)
    m = len(factor) + 1
    gram, moment = np.zeros((m, m)), np.zeros((m, problem.y.shape[1]))
    for start in range(0, len(problem.y), CHUNK):
        part = slice(start, start + CHUNK)
        phi = x[part]
        if block is not None:
            phi = block.directions.features(block.directions.along(block.x[part]), trial.order, factor)
        phi = np.concatenate([phi, np.ones((len(phi), 1))], 1)
        weighted = phi * problem.weight[part, None]
        gram += weighted.T @ phi
        moment += weighted.T @ problem.y[part]
    gram[np.diag_indices(m - 1)] += trial.ridge
    solved = np.linalg.solve(gram, moment)
    raw = solve_triangular(factor, solved[:-1], lower=True, trans="T")
    return replace(trial, coefficients=raw, offset=solved[-1])


def kernel_classes(problem: Problem, block: Block, degree: int, ridges: Sequence[float]) -> list[Trial]:
    """A kernel of one degree, by the log loss, for each of several ridge weights; the mean of the folds is kept."""
    factor = block.directions.factor(degree)
    phi = block.directions.features(block.along, degree, factor)
    found = []
    for ridge, (left_out, mean) in zip(ridges, folds_of_classes(problem, phi, ridges), strict=True):
        raw = solve_triangular(factor, mean[:-1], lower=True, trans="T")
        found.append(
            Trial("kernel", block.features, degree, left_out, block, raw, mean[-1], block.columns, ridge=ridge)
        )
    return found


def folds_of_classes(problem: Problem, phi: Array, ridges: Sequence[float]) -> list[tuple[Array, Array]]:
    """For each ridge weight the scores of rows left out, and the mean coefficients of the folds."""
    assert problem.classes is not None
    classes, weight = problem.goal, problem.weight[problem.chosen]
    inside = [problem.fold != k for k in range(problem.folds)]
    last: list[Array] = []
    found = []
    for ridge in ridges:
        left_out = np.zeros_like(classes)
        for k, rows in enumerate(inside):
            start = last[k] if len(last) == problem.folds else None
            if start is None and last and classes.shape[1] == 1:
                # Newton's steps end at the one minimum, wherever they begin: next to another fold's they are few.
                start = last[-1]
            solved = fit_classes(phi[rows], classes[rows], weight[rows], ridge, start)
            last[k : k + 1] = [solved]
            left_out[~rows] = phi[~rows] @ solved[:-1] + solved[-1]
        found.append((left_out, np.mean(np.stack(last), 0)))
    return found


def linear_numbers(
    problem: Problem, x: Array, features: str, ridges: Sequence[float] | None = None
) -> tuple[Trial, RidgeFit]:
    """A linear ridge regression on all inputs alike; the usual ridge weights are tried where none are given."""
    inputs, columns = x[problem.chosen], np.arange(x.shape[1])
    if ridges is None:
        ridges = LINEAR_RIDGES if len(inputs) <= 2 * len(columns) else (*EXACT_RIDGES, *LINEAR_RIDGES)
    fit = ridge_regression(inputs, problem.y[problem.chosen], problem.weight[problem.chosen], ridges)
    trial = Trial("linear", features, 1, fit.left_out, None, fit.coefficients, fit.offset, columns, ridge=fit.ridge)
    return trial, fit


def linear_classes(problem: Problem, x: Array, features: str, ridges: Sequence[float]) -> list[Trial]:
    """Logistic or softmax ridge regressions on all inputs alike."""
    found = folds_of_classes(problem, x[problem.chosen], ridges)
    columns = np.arange(x.shape[1])
    return [
        Trial("linear", features, 1, left, None, mean[:-1], mean[-1], columns, ridge=ridge)
        for ridge, (left, mean) in zip(ridges, found, strict=True)
    ]


def constant(problem: Problem, features: str) -> Trial:
    """The shares of the classes, as scores."""
    weight = problem.weight[problem.chosen]
    offset = share_scores(weight @ problem.goal / weight.sum())
    left_out = np.tile(offset, (len(problem.chosen), 1))
    return Trial("constant", features, 0, left_out, offset=offset)


def share_scores(share: Array) -> Array:
    """Scores whose probabilities are the shares of the classes, that of the second of two alone. Shape (m,)."""
    inside = np.clip(share, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(inside / (1 - inside)) if len(inside) == 1 else np.log(inside))
