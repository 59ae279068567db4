"""What candidates are to predict, and how coefficients of given features are fitted to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from polyladder.training.kernels.newton import fit_outputs
from polyladder.training.kernels.relevance import Array
from polyladder.training.kernels.reweighted import reweighted_regression
from polyladder.training.kernels.ridge import RidgeFit, ridge_regression
from polyladder.training.losses.loss import Loss

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


def fit_rows(problem: Problem, features: Array, ridges: Sequence[float]) -> RidgeFit:
    """A ridge regression on features of the compared rows (chosen, p), which are left out one by one.

    By the loss, if a few rounds of squares minimize that; otherwise by squares of `Problem.y`, as a first look.
    """
    y, weight = problem.y[problem.chosen], problem.weight[problem.chosen]
    if not problem.loss.by_rows:
        return ridge_regression(features, y, weight, ridges)
    return reweighted_regression(problem.loss, features, problem.goal, weight, ridges, y)


def fit_on_folds(problem: Problem, features: Array, ridges: Sequence[float]) -> list[tuple[Array, Array]]:
    """For each ridge weight the outputs of rows left out, and the mean coefficients of the folds, offset last."""
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
            solved = fit_outputs(problem.loss, features[rows], goal[rows], weight[rows], ridge, start)
            last[k : k + 1] = [solved]
            left_out[~rows] = features[~rows] @ solved[:-1] + solved[-1]
        found.append((left_out, np.mean(np.stack(last), 0)))
    return found


def fit_on_all(problem: Problem, features: Callable[[slice], Array], start: Array, ridge: float) -> Array:
    """Coefficients on all rows of what was compared on some, chunk by chunk.

    Args:
        problem: with a loss that is fitted by rows.
        features: of a part of the rows. Shape (part, p).
        start: coefficients of the compared rows, the offset last. Shape (p + 1, m).
        ridge: of all but the offset.
    """
    solved = start
    for _ in range(1 if problem.loss.quadratic else ROUNDS_ON_ALL):
        gram, moment = np.zeros((len(start), len(start))), np.zeros_like(start)
        for first in range(0, len(problem.y), CHUNK):
            part = slice(first, first + CHUNK)
            read = features(part)
            phi = np.concatenate([read, np.ones((len(read), 1))], 1)
            outputs, target = torch.from_numpy(phi @ solved), torch.from_numpy(problem.target[part])
            response, curvature = (t.numpy() for t in problem.loss.bound(outputs, target))
            weighted = phi * (problem.weight[part] * curvature.reshape(-1))[:, None]
            gram += weighted.T @ phi
            moment += weighted.T @ response
        gram[np.diag_indices(len(start) - 1)] += ridge
        solved = np.asarray(np.linalg.solve(gram, moment), dtype=np.float64)
    return solved
