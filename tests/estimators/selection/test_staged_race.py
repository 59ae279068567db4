"""Ladders of many rows: the better kind goes on, is judged on rows that it did not see, and takes these in at last."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import PLAIN, RAMPED, Reader
from polyladder.estimators.selection.staged_race import HELD_OUT, MODELS, at_start, race_in_stages
from polyladder.fitted.ramps import learn_ramps
from tests.estimators.selection.problems import OPTIONS, problem_of

RNG = np.random.default_rng(2)
N = 2400
X = RNG.uniform(-1, 1, size=(N, 2))
SETTINGS = replace(OPTIONS, width=4, ladder_seconds=1e3, models=2, iterations=8)


def problem(y: np.ndarray) -> Problem:
    y = ((y - y.mean()) / y.std())[:, None]
    return problem_of(y, None, np.ones(N), np.arange(N), RNG.permutation(N) % 5, 5)


def readers() -> list[Reader]:
    ramps = learn_ramps(X, 6)
    assert ramps is not None
    x = ramps(X)
    return [
        Reader("standard", np.arange(2), X, np.ones(2), PLAIN),
        Reader("piecewise", 2 + np.arange(x.shape[1]), x, np.ones(x.shape[1]), RAMPED),
    ]


SMOOTH, JUMPS = X[:, 0] * X[:, 1] ** 2 + X[:, 0], np.floor(3 * X[:, 0]) + X[:, 1]


@pytest.mark.slow
@pytest.mark.parametrize(("y", "winner"), [(SMOOTH, "standard"), (JUMPS, "piecewise")])
def test_the_better_kind_wins(y: np.ndarray, winner: str) -> None:
    whole = problem(y)
    (trial,) = race_in_stages(whole, readers(), 0.1, SETTINGS)
    assert trial.features == winner
    known = ~np.isnan(trial.left_out[:, 0])
    assert known.sum() == N // 5 < HELD_OUT
    assert set(whole.fold[known]) == {0}
    assert ((trial.left_out - whole.y)[known] ** 2).mean() < 0.05
    reader = readers()[winner == "piecewise"]
    assert trial.ladder is not None
    assert len(trial.ladder) == MODELS * SETTINGS.per_fold
    final = trial.ladder(torch.from_numpy(reader.x)).mean(0).numpy()
    assert ((final - whole.y)[known] ** 2).mean() <= 1.1 * ((trial.left_out - whole.y)[known] ** 2).mean()


def test_what_is_predicted_was_not_learned() -> None:
    y = RNG.normal(size=N)
    whole = problem(y)
    (trial,) = race_in_stages(whole, readers()[:1], 1.0, SETTINGS)
    known = ~np.isnan(trial.left_out[:, 0])
    assert abs(np.corrcoef(trial.left_out[known, 0], whole.y[known, 0])[0, 1]) < 0.15  # three standard errors


def test_hopeless_ladders_do_not_go_on() -> None:
    assert race_in_stages(problem(RNG.normal(size=N)), readers()[:1], 0.3, SETTINGS) == []


def test_time_decides_about_models_rows_and_whether_there_are_any() -> None:
    whole, (plain, ramped) = problem(SMOOTH), readers()
    (rich,) = at_start(whole, ramped, N, SETTINGS)
    assert (len(rich.polynomial), rich.share) == (MODELS * SETTINGS.per_fold, 1.0)
    (poor,) = at_start(whole, ramped, 100_000, replace(SETTINGS, ladder_seconds=0.2))
    assert len(poor.polynomial) == SETTINGS.per_fold
    assert 0 < poor.share < 1
    assert at_start(whole, plain, 100_000, replace(SETTINGS, ladder_seconds=0.01)) == []
