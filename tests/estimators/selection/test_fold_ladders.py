"""Ladders of folds predict the rows that they did not see."""

import numpy as np
import torch

from polyladder.estimators.selection.fold_ladders import (
    LadderSettings,
    cost,
    finished_ladders,
    fold_ladders,
    rescaled,
)
from polyladder.estimators.selection.trials import Problem
from tests.ladders import random_ladder

RNG = np.random.default_rng(8)
X = RNG.normal(size=(90, 2))
Y = X[:, :1] * X[:, 1:] + X[:, :1]
SETTINGS = LadderSettings(3, 3, 2, 15, 1e-4, "auto", lambda count: list(range(count)))


def problem() -> Problem:
    return Problem(Y / Y.std(), None, np.ones(90), np.arange(90), np.arange(90) % 3, 3)


def test_folds_learn_a_product() -> None:
    trial = fold_ladders(problem(), X, "standard", np.array([1.0, 0.5]), 2, SETTINGS)
    assert trial.ladder is not None
    assert trial.ladder.batch_shape == (6,)
    goal = problem().y
    assert ((trial.left_out - goal) ** 2).mean() < 0.05
    outputs = trial.ladder(torch.from_numpy(X)).reshape(3, 2, 90).mean(1).numpy()
    for fold in range(3):
        rows = np.arange(90) % 3 == fold
        np.testing.assert_allclose(trial.left_out[rows, 0], outputs[fold, rows], atol=1e-10)
    done = finished_ladders(problem(), X, np.array([1.0, 0.5]), trial, SETTINGS)
    assert done.ladder is not None
    assert ((done.ladder(torch.from_numpy(X)).mean(0).numpy() - goal) ** 2).mean() < 0.05


def test_a_ladder_of_scaled_inputs() -> None:
    ladder, scale = random_ladder(2, (3, 3), 1, seed=0), torch.tensor([0.5, 3.0], dtype=torch.float64)
    x = torch.from_numpy(X)
    torch.testing.assert_close(rescaled(ladder, scale)(x), ladder(x * scale))


def test_cost_grows_with_rows_inputs_and_order() -> None:
    base = cost(100, 5, 4, 5, SETTINGS)
    assert base < min(cost(200, 5, 4, 5, SETTINGS), cost(100, 6, 4, 5, SETTINGS), cost(100, 5, 6, 5, SETTINGS))
