"""Ladders that are most of a model are fitted anew; of many rows, at the better of two orders."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from polyladder.estimators.cost import STAGED_ROWS
from polyladder.estimators.selection.elsewhere import Solving
from polyladder.estimators.selection.fold_ladders import LadderSettings, solved
from polyladder.estimators.selection.main_ladders import HIGHER, main_ladders
from polyladder.estimators.selection.trials import Problem, Trial
from polyladder.training.solves.alternating import random_start

SETTINGS = LadderSettings(3, 4, 1, 8, 1e-4, "auto", lambda count: list(range(count)))
RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, size=(STAGED_ROWS, 2))


def fitted(y: np.ndarray, rows: int = STAGED_ROWS) -> Trial:
    """Main ladders after ladders of order 2 were tried."""
    y = ((y - y.mean()) / y.std())[:rows, None]
    problem = Problem(y, None, np.ones(rows), np.arange(2500), np.arange(2500) % 5, 5)
    tried = Trial("ladder", "standard", 2, np.zeros((2500, 1)), columns=np.arange(2))
    return main_ladders(problem, X[:rows], np.ones(2), tried, SETTINGS)


@pytest.mark.parametrize("higher", [False, True])
def test_the_order_that_predicts_the_rest_of_the_rows_wins(higher: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.estimators.cost.MULTIPLE", 0.3)  # ladders so small would have time for all sweeps
    noise = RNG.normal(size=len(X))
    wave = np.cos(4 * np.arccos(X[:, 0]))  # Chebyshev's polynomial of degree 4
    y = wave + 0.1 * noise if higher else X[:, 0] * X[:, 1] + 3 * noise
    trial = fitted(y)
    assert trial.ladder is not None
    assert trial.order == trial.ladder.order == (2 + HIGHER if higher else 2)
    assert trial.ladder.hidden[0] == SETTINGS.main_width
    if higher:
        error = trial.ladder(torch.from_numpy(X)).mean(0)[:, 0].numpy() - (y - y.mean()) / y.std()
        assert (error**2).mean() < 0.05


def test_time_for_all_sweeps_is_used_for_the_order_that_was_tried() -> None:
    assert fitted(np.cos(4 * np.arccos(X[:, 0]))).order == 2


def test_few_rows_keep_the_order_that_was_tried() -> None:
    trial = fitted(np.cos(4 * np.arccos(X[:, 0])), STAGED_ROWS - 1000)
    assert trial.order == 2
    assert trial.ladder is not None
    assert len(trial.ladder) == 8


def test_sweeps_go_on_from_the_ridge_weights_that_were_estimated() -> None:
    x = torch.from_numpy(X[:300])
    y = (x[:, :1] * x[:, 1:]).sin() + 0.1 * torch.from_numpy(RNG.normal(size=(300, 1)))
    start, weight = Solving(random_start(2, (3, 3), 1, [0, 1], 2)), torch.ones(300, dtype=torch.float64)
    inside = [torch.arange(300), torch.arange(200)]

    def sweeps(solving: Solving, count: int) -> Solving:
        return solved(x, y, weight, ("auto", count, 1e-12), solving, inside)

    whole, halves = sweeps(start, 8), sweeps(sweeps(start, 3), 5)
    torch.testing.assert_close(halves.ladder(x), whole.ladder(x), atol=1e-8, rtol=1e-6)
    forgetful = sweeps(replace(sweeps(start, 3), precision=None), 5)
    assert not torch.allclose(forgetful.ladder(x), whole.ladder(x), atol=1e-8, rtol=1e-6)
