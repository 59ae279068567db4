"""Which ladders are tried: where they are affordable and not hopeless, of a second order in a close race."""

from dataclasses import replace

import numpy as np
import pytest

from polyladder.estimators.selection.fold_ladders import fold_ladders, operations
from polyladder.estimators.selection.ladder_race import (
    FINE_ROWS,
    FOLDS,
    LADDER_ROWS,
    promising_ladders,
    summed_loss,
    try_ladders,
)
from polyladder.estimators.selection.options import EFFORTS, Options
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import PLAIN, Reader
from tests.estimators.selection.problems import OPTIONS, problem_of

RNG = np.random.default_rng(7)
SETTINGS = replace(OPTIONS, width=4, models=1, iterations=8)


def options(cost: float = 1e12, models: int = 1) -> Options:
    return replace(SETTINGS, effort=replace(EFFORTS["default"], ladder_cost=cost), models=models)


def product(n: int) -> tuple[Problem, Reader]:
    x = RNG.uniform(-1, 1, size=(n, 3))
    y = x[:, :1] * x[:, 1:2] + x[:, 2:]
    y = (y - y.mean()) / y.std()
    return (
        problem_of(y, None, np.ones(n), np.arange(n), np.arange(n) % 5, 5),
        Reader("standard", np.arange(3), x, np.ones(3), PLAIN),
    )


def test_no_ladders_of_few_rows_or_without_time_for_them() -> None:
    problem, reader = product(LADDER_ROWS - 1)
    assert not try_ladders(problem, [reader], 0.1, options())
    problem, reader = product(LADDER_ROWS)
    assert not try_ladders(problem, [reader], 0.1, options(cost=1e6))
    assert not try_ladders(problem, [reader], 0.1, options(models=0))


@pytest.mark.slow
def test_the_second_order_belongs_to_a_close_race() -> None:
    problem, reader = product(LADDER_ROWS)
    clear = try_ladders(problem, [reader], 1.0, options())
    assert [trial.order for trial in clear] == [6]
    close = try_ladders(problem, [reader], summed_loss(problem, clear[0]), options())
    assert [trial.order for trial in close] == [6, 4]
    assert all(not np.isnan(trial.left_out).any() for trial in close)
    assert all(summed_loss(problem, trial) < 0.05 for trial in close)


@pytest.mark.slow
def test_where_time_is_short_folds_are_fewer() -> None:
    problem, reader = product(FINE_ROWS)
    work = operations(FINE_ROWS, reader, 6, FOLDS[0], 1, SETTINGS)
    for cost, folds in ((1.01 * work, FOLDS[0]), (0.99 * work, FOLDS[1])):
        (trial,) = try_ladders(problem, [reader], 1.0, options(cost=cost))
        assert trial.ladder is not None
        assert len(trial.ladder) == folds


def test_folds_one_after_another_are_folds_at_once() -> None:
    problem, reader = product(120)
    once = fold_ladders(problem, reader, 3, SETTINGS)
    found = promising_ladders(problem, reader, 3, 1.0, SETTINGS)
    assert found is not None
    np.testing.assert_allclose(found.left_out, once.left_out, rtol=1e-5, atol=1e-6)
    assert found.ladder is not None
    assert len(found.ladder) == problem.folds


def test_ladders_that_learn_nothing_are_given_up() -> None:
    problem, reader = product(120)
    y = RNG.normal(size=(120, 1))
    noise = replace(problem, y=y, target=y)
    assert promising_ladders(noise, reader, 3, 0.1, SETTINGS) is None
