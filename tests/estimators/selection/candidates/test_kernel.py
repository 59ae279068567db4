"""Kernels predict rows left out, and are what they say."""

import numpy as np
import pytest

from polyladder.estimators.selection.candidates.kernel import kernel_by_rows, kernel_on_folds
from polyladder.estimators.selection.candidates.linear import line_by_rows
from polyladder.training.kernels.ridge import ridge_regression
from tests.estimators.selection.candidates.few_rows import CLASSES, X, Y, block, outputs, problem


def test_a_kernel_finds_a_product_that_a_line_does_not() -> None:
    kernel, fit = kernel_by_rows(problem(), block(), 2)
    line, _ = line_by_rows(problem(), X, "standard")
    assert fit.error < 0.05 < 0.5 < ((line.left_out - Y) ** 2).mean()
    assert ((kernel.left_out - Y) ** 2).mean() == pytest.approx(fit.error)
    assert ((outputs(kernel) - Y) ** 2).mean() < fit.error


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_half_of_it_is_half(degree: int) -> None:
    kernel, _ = kernel_by_rows(problem(), block(), degree)
    np.testing.assert_allclose(outputs(kernel, 0.5), 0.5 * outputs(kernel), atol=1e-9)


def test_what_is_solved_on_some_rows_is_solved_again_on_all() -> None:
    some, kept = problem(rows=20), block(20)
    trial, fit = kernel_by_rows(some, kept, 2)
    again = trial.on_all(some, X)
    factor = kept.directions.factor(2)
    phi = kept.directions.features(kept.directions.along(X), 2, factor)
    expected = ridge_regression(phi, Y, np.ones(60), [fit.ridge])
    np.testing.assert_allclose(outputs(again), phi @ expected.coefficients + expected.offset, atol=1e-6)
    assert trial.on_all(problem(), X) is trial


def test_classes_have_one_trial_for_each_ridge() -> None:
    trials = kernel_on_folds(problem(CLASSES), block(), 2, (1.0, 0.1))
    assert [trial.ridge for trial in trials] == [1.0, 0.1]
    for trial in trials:
        assert ((trial.left_out > 0) == (CLASSES > 0)).mean() > 0.65
        assert ((outputs(trial) > 0) == (CLASSES > 0)).mean() > 0.7
        # Folds are not solved again.
        assert trial.on_all(problem(CLASSES, rows=20), X) is trial
