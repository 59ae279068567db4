"""Candidates predict rows left out, and are what they say."""

import numpy as np
import pytest
import torch

from polyladder.estimators.selection.select import summed
from polyladder.estimators.selection.trials import (
    LINEAR_RIDGES,
    Block,
    Problem,
    constant,
    kernel_by_rows,
    kernel_on_folds,
    line_by_rows,
    lines_on_folds,
    solved_on_all,
)
from polyladder.training.kernels.directions import pick_directions
from polyladder.training.kernels.relevance import Relevance
from polyladder.training.kernels.ridge import ridge_regression
from tests.estimators.selection.problems import problem_of

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 3))
Y = X[:, :1] * X[:, 1:2] + 0.1 * RNG.normal(size=(60, 1))
CLASSES = (Y > 0).astype(float)


def problem(classes=None, rows: int = 60) -> Problem:
    return problem_of(Y, classes, np.ones(60), np.arange(rows), np.arange(rows) % 3, 3)


def block(rows: int = 60) -> Block:
    scales = Relevance(np.full(3, 0.5), 0.02, 1.0, 2)
    directions = pick_directions(X, scales, np.arange(3), 30, RNG, 3)
    return Block("standard", np.arange(3), X, np.arange(3), scales, directions, directions.along(X[:rows]))


def outputs(trial) -> np.ndarray:
    ladder = sum(part(torch.from_numpy(X)) for part in summed([(trial, 1.0)], 3, 1))
    return ladder.numpy()


def test_a_kernel_finds_a_product_that_a_line_does_not() -> None:
    kernel, fit = kernel_by_rows(problem(), block(), 2)
    line, _ = line_by_rows(problem(), X, "standard")
    assert fit.error < 0.05 < 0.5 < ((line.left_out - Y) ** 2).mean()
    assert ((kernel.left_out - Y) ** 2).mean() == pytest.approx(fit.error)
    assert ((outputs(kernel) - Y) ** 2).mean() < fit.error


def test_what_is_solved_on_some_rows_is_solved_again_on_all() -> None:
    some = problem(rows=20)
    kept = block(20)
    trial, fit = kernel_by_rows(some, kept, 2)
    again = solved_on_all(some, trial, X)
    factor = kept.directions.factor(2)
    phi = kept.directions.features(kept.directions.along(X), 2, factor)
    expected = ridge_regression(phi, Y, np.ones(60), [fit.ridge])
    np.testing.assert_allclose(outputs(again), phi @ expected.coefficients + expected.offset, atol=1e-6)
    assert solved_on_all(problem(), trial, X) is trial
    line, fit = line_by_rows(some, X, "standard")
    expected = ridge_regression(X, Y, np.ones(60), [fit.ridge])
    found = outputs(solved_on_all(some, line, X))
    np.testing.assert_allclose(found, X @ expected.coefficients + expected.offset, atol=1e-9)
    assert np.abs(found - outputs(line)).max() > 1e-3


def test_an_exact_line_is_exact_and_small_ridges_need_rows() -> None:
    exact = problem_of(X @ [[1.0], [2.0], [-1.0]], None, np.ones(60), np.arange(60), np.arange(60) % 3, 3)
    assert line_by_rows(exact, X, "standard")[1].error < 1e-25
    wide = RNG.normal(size=(60, 40))
    assert line_by_rows(problem(), wide, "standard")[0].ridge >= min(LINEAR_RIDGES)


def test_classes_have_one_trial_for_each_ridge() -> None:
    trials = kernel_on_folds(problem(CLASSES), block(), 2, (1.0, 0.1))
    assert len(trials) == 2
    for trial in trials:
        assert ((trial.left_out > 0) == (CLASSES > 0)).mean() > 0.65
        assert ((outputs(trial) > 0) == (CLASSES > 0)).mean() > 0.7
    lines = lines_on_folds(problem(CLASSES), X, "standard", (1.0,))
    assert lines[0].left_out.shape == (60, 1)


def test_a_constant_has_the_share_of_the_class() -> None:
    found = constant(problem(CLASSES), "standard")
    np.testing.assert_allclose(1 / (1 + np.exp(-found.left_out)), CLASSES.mean())
    np.testing.assert_allclose(outputs(found), found.left_out)
