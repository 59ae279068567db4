"""Ladders of folds predict the rows that they did not see."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from polyladder.estimators.selection.fold_ladders import (
    finished_ladders,
    fold_ladders,
    operations,
    rescaled,
)
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import PLAIN, Reader
from tests.estimators.selection.problems import OPTIONS, problem_of
from tests.ladders import random_ladder

RNG = np.random.default_rng(8)
X = RNG.normal(size=(90, 2))
Y = X[:, :1] * X[:, 1:] + X[:, :1]
SETTINGS = replace(OPTIONS, width=3, models=2, iterations=15, tolerance=1e-4)


def reader(x: np.ndarray = X) -> Reader:
    return Reader("standard", np.arange(x.shape[1]), x, np.r_[1.0, np.full(x.shape[1] - 1, 0.5)], PLAIN)


def problem() -> Problem:
    return problem_of(Y / Y.std(), None, np.ones(90), np.arange(90), np.arange(90) % 3, 3)


def test_folds_learn_a_product() -> None:
    trial = fold_ladders(problem(), reader(), 2, SETTINGS)
    assert trial.ladder is not None
    assert trial.ladder.batch_shape == (6,)
    goal = problem().y
    assert ((trial.left_out - goal) ** 2).mean() < 0.05
    outputs = trial.ladder(torch.from_numpy(X)).clamp(goal.min(), goal.max()).reshape(3, 2, 90).mean(1).numpy()
    for fold in range(3):
        rows = np.arange(90) % 3 == fold
        np.testing.assert_allclose(trial.left_out[rows, 0], outputs[fold, rows], atol=1e-10)
    done = finished_ladders(problem(), reader(), trial, SETTINGS)
    assert done.ladder is not None
    assert ((done.ladder(torch.from_numpy(X)).mean(0).numpy() - goal) ** 2).mean() < 0.05


def test_scatter_beyond_that_of_the_whole_mean() -> None:
    noisy = replace(problem(), y=problem().y + RNG.normal(size=(90, 1)))
    trial = fold_ladders(noisy, reader(), 3, SETTINGS)
    assert trial.ladder is not None
    outputs = trial.ladder(torch.from_numpy(X)).clamp(noisy.y.min(), noisy.y.max()).reshape(3, 2, 90)
    apart = [(outputs[k, 0] - outputs[k, 1])[torch.arange(90) % 3 == k].square().mean() / 2 for k in range(3)]
    # Means of two ladders scatter by half of a ladder's variance, the mean of all six by a sixth.
    assert trial.excess == pytest.approx(float(np.mean(apart)) * (1 / 2 - 1 / 6))
    assert fold_ladders(noisy, reader(), 3, replace(SETTINGS, models=1)).excess == 0.0


def test_a_ladder_of_scaled_inputs() -> None:
    ladder, scale = random_ladder(2, (3, 3), 1, seed=0), torch.tensor([0.5, 3.0], dtype=torch.float64)
    x = torch.from_numpy(X)
    torch.testing.assert_close(rescaled(ladder, scale)(x), ladder(x * scale))


def test_some_folds_are_left_out_alone() -> None:
    whole, some = (fold_ladders(problem(), reader(), 2, SETTINGS, folds) for folds in (None, [2]))
    seen = np.arange(90) % 3 == 2
    assert np.isnan(some.left_out[~seen]).all()
    np.testing.assert_allclose(some.left_out[seen], whole.left_out[seen], rtol=1e-5, atol=1e-6)


def test_work_grows_with_rows_inputs_and_order() -> None:
    wider = reader(RNG.normal(size=(90, 3)))
    base = operations(100, reader(), 4, 5, 1, SETTINGS)
    assert base < operations(200, reader(), 4, 5, 1, SETTINGS)
    assert base < operations(100, wider, 4, 5, 1, SETTINGS)
    assert base < operations(100, reader(), 6, 5, 1, SETTINGS)
