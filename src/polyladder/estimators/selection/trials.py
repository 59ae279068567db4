"""Candidates that were solved: what each predicts of rows that it did not see, and what it is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.kernels.directions import Directions
from polyladder.training.kernels.newton import fit_outputs
from polyladder.training.kernels.relevance import Array, Relevance
from polyladder.training.kernels.reweighted import reweighted_regression
from polyladder.training.kernels.ridge import RidgeFit, ridge_regression
from polyladder.training.losses.loss import Loss

RIDGES = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Ridge weights of a kernel to choose among, relative to what the evidence says."""

LINEAR_RIDGES = tuple(float(r) for r in np.logspace(-3, 5, 13))

EXACT_RIDGES = (1e-12, 1e-9, 1e-6)
"""Ridge weights of a line that has more than twice as many rows as columns: they leave an exact line exact, and let
columns count that differ from others in their last digits alone."""

ROUNDS_ON_ALL = 3
"""Rounds of weighted squares on all rows, which begin where those on some have ended."""

CHUNK = 20_000
"""Rows whose features are held at once."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to predict.

    Attributes:
        y: what squares should predict, of mean 0 and about variance 1: numbers, none of which is a gross error where
            the loss knows such; classes too. Relevance is found by it. Shape (n, m).
        target: what the loss should predict: numbers, or 0 and 1 for each class, the second of two alone. Shape (n, m).
        loss: by which models are fitted and judged.
        weight: of the rows. Shape (n,).
        chosen: numbers of the rows that candidates are compared on.
        fold: of each of these. Shape (chosen,).
        folds: how many there are.
    """

    y: Array
    target: Array
    loss: Loss
    weight: Array
    chosen: NDArray[np.intp]
    fold: NDArray[np.intp]
    folds: int

    @property
    def goal(self) -> Array:
        """What the compared rows should be predicted as. Shape (chosen, m)."""
        return self.target[self.chosen]


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


def fit_rows(problem: Problem, features: Array, ridges: Sequence[float]) -> RidgeFit:
    """A ridge regression on features of the compared rows (chosen, p), which are left out one by one.

    By the loss, if a few rounds of squares minimize that; otherwise by squares of `Problem.y`, as a first look.
    """
    y, weight = problem.y[problem.chosen], problem.weight[problem.chosen]
    if not problem.loss.by_rows:
        return ridge_regression(features, y, weight, ridges)
    return reweighted_regression(problem.loss, features, problem.goal, weight, ridges, y)


def kernel_by_rows(
    problem: Problem, block: Block, degree: int, ridges: Sequence[float] = RIDGES
) -> tuple[Trial, RidgeFit]:
    """A kernel of one degree; the compared rows are left out one by one."""
    expected = block.scales.noise / block.scales.amplitude
    factor = block.directions.factor(degree)
    phi = block.directions.features(block.along, degree, factor)
    fit = fit_rows(problem, phi, [r * expected for r in ridges])
    raw = solve_triangular(factor, fit.coefficients, lower=True, trans="T")
    trial = Trial(
        "kernel", block.features, degree, fit.left_out, block, raw, fit.offset, block.columns, ridge=fit.ridge
    )
    return trial, fit


def solved_on_all(problem: Problem, trial: Trial, x: Array) -> Trial:
    """The trial with the coefficients of a kernel or a line on all rows, where it was compared on some; chunk by chunk.

    Args:
        problem: what is predicted; trials that were fitted on folds are left as they are.
        trial: what was compared. Ladders are left as they are.
        x: the inputs of a line. Shape (n, d).
    """
    every = len(problem.chosen) == len(problem.y)
    if every or not problem.loss.by_rows or trial.coefficients is None:
        return trial
    assert trial.offset is not None
    block = trial.block
    factor = np.eye(x.shape[1]) if block is None else block.directions.factor(trial.order)
    m = len(factor) + 1
    solved = np.r_[factor.T @ trial.coefficients, trial.offset[None]]
    for _ in range(1 if problem.loss.quadratic else ROUNDS_ON_ALL):
        gram, moment = np.zeros((m, m)), np.zeros((m, problem.y.shape[1]))
        for start in range(0, len(problem.y), CHUNK):
            part = slice(start, start + CHUNK)
            phi = x[part]
            if block is not None:
                phi = block.directions.features(block.directions.along(block.x[part]), trial.order, factor)
            phi = np.concatenate([phi, np.ones((len(phi), 1))], 1)
            outputs, target = torch.from_numpy(phi @ solved), torch.from_numpy(problem.target[part])
            response, curvature = (t.numpy() for t in problem.loss.bound(outputs, target))
            weighted = phi * (problem.weight[part] * curvature.reshape(-1))[:, None]
            gram += weighted.T @ phi
            moment += weighted.T @ response
        gram[np.diag_indices(m - 1)] += trial.ridge
        solved = np.linalg.solve(gram, moment)
    raw = solve_triangular(factor, solved[:-1], lower=True, trans="T")
    return replace(trial, coefficients=raw, offset=solved[-1])


def kernel_on_folds(problem: Problem, block: Block, degree: int, ridges: Sequence[float]) -> list[Trial]:
    """A kernel of one degree, fitted on folds, for each of several ridge weights; the mean of the folds is kept."""
    factor = block.directions.factor(degree)
    phi = block.directions.features(block.along, degree, factor)
    found = []
    for ridge, (left_out, mean) in zip(ridges, fitted_on_folds(problem, phi, ridges), strict=True):
        raw = solve_triangular(factor, mean[:-1], lower=True, trans="T")
        found.append(
            Trial("kernel", block.features, degree, left_out, block, raw, mean[-1], block.columns, ridge=ridge)
        )
    return found


def fitted_on_folds(problem: Problem, phi: Array, ridges: Sequence[float]) -> list[tuple[Array, Array]]:
    """For each ridge weight the outputs of rows left out, and the mean coefficients of the folds."""
    goal, weight = problem.goal, problem.weight[problem.chosen]
    inside = [problem.fold != k for k in range(problem.folds)]
    last: list[Array] = []
    found = []
    for ridge in ridges:
        left_out = np.zeros_like(goal)
        for k, rows in enumerate(inside):
            start = last[k] if len(last) == problem.folds else None
            if start is None and last and goal.shape[1] == 1:
                # Newton's steps end at the one minimum, wherever they begin: next to another fold's they are few.
                start = last[-1]
            solved = fit_outputs(problem.loss, phi[rows], goal[rows], weight[rows], ridge, start)
            last[k : k + 1] = [solved]
            left_out[~rows] = phi[~rows] @ solved[:-1] + solved[-1]
        found.append((left_out, np.mean(np.stack(last), 0)))
    return found


def line_by_rows(problem: Problem, x: Array, features: str) -> tuple[Trial, RidgeFit]:
    """A linear ridge regression on all inputs alike."""
    inputs, columns = x[problem.chosen], np.arange(x.shape[1])
    ridges = LINEAR_RIDGES if len(inputs) <= 2 * len(columns) else (*EXACT_RIDGES, *LINEAR_RIDGES)
    fit = fit_rows(problem, inputs, ridges)
    trial = Trial("linear", features, 1, fit.left_out, None, fit.coefficients, fit.offset, columns, ridge=fit.ridge)
    return trial, fit


def lines_on_folds(problem: Problem, x: Array, features: str, ridges: Sequence[float]) -> list[Trial]:
    """Ridge regressions on all inputs alike, fitted on folds."""
    found = fitted_on_folds(problem, x[problem.chosen], ridges)
    columns = np.arange(x.shape[1])
    return [Trial("linear", features, 1, left, None, mean[:-1], mean[-1], columns) for left, mean in found]


def constant(problem: Problem, features: str) -> Trial:
    """The best constant, such as the shares of classes as scores."""
    weight = torch.from_numpy(problem.weight[problem.chosen])
    offset = problem.loss.constant(torch.from_numpy(problem.goal), weight).numpy()
    left_out = np.tile(offset, (len(problem.chosen), 1))
    return Trial("constant", features, 0, left_out, offset=offset)
