"""Ladders of folds predict the rows that they did not see."""

import numpy as np
import pytest
import torch

from polyladder.estimators.rows import MANY_ROWS
from polyladder.estimators.selection.fold_ladders import (
    HIGHER,
    LadderSettings,
    cost,
    finished_ladders,
    fold_ladders,
    main_ladders,
    rescaled,
)
from polyladder.estimators.selection.trials import Problem, Trial
from tests.ladders import random_ladder

RNG = np.random.default_rng(8)
X = RNG.normal(size=(90, 2))
Y = X[:, :1] * X[:, 1:] + X[:, :1]
SETTINGS = LadderSettings(3, 4, 2, 15, 1e-4, "auto", lambda count: list(range(count)))


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


@pytest.mark.parametrize(("rows", "order"), [(MANY_ROWS - 1, 2), (MANY_ROWS, 2 + HIGHER)])
def test_main_ladders_of_many_rows_have_a_higher_order(rows: int, order: int) -> None:
    x = RNG.uniform(-1, 1, size=(rows, 2))
    y = np.cos(2 * np.arccos(x[:, :1])) * x[:, 1:] ** 2  # of degree 4
    y = (y - y.mean()) / y.std()
    whole = Problem(y, None, np.ones(rows), np.arange(100), np.arange(100) % 5, 5)
    tried = Trial("ladder", "standard", 2, np.zeros((100, 1)), columns=np.arange(2))
    done = main_ladders(whole, x, np.array([1.0, 0.5]), tried, SETTINGS)
    assert done.ladder is not None
    assert done.order == done.ladder.order == order
    assert set(done.ladder.hidden) == {SETTINGS.main_width}
    error = ((done.ladder(torch.from_numpy(x)).mean(0).numpy() - y) ** 2).mean()
    assert error < 0.02 if order == 4 else error > 0.02


def test_a_ladder_of_scaled_inputs() -> None:
    ladder, scale = random_ladder(2, (3, 3), 1, seed=0), torch.tensor([0.5, 3.0], dtype=torch.float64)
    x = torch.from_numpy(X)
    torch.testing.assert_close(rescaled(ladder, scale)(x), ladder(x * scale))


def test_cost_grows_with_rows_inputs_and_order() -> None:
    base = cost(100, 5, 4, 5, SETTINGS)
    assert base < min(cost(200, 5, 4, 5, SETTINGS), cost(100, 6, 4, 5, SETTINGS), cost(100, 5, 6, 5, SETTINGS))
