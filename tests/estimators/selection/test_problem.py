"""Coefficients of given features: by rows, on folds and on all rows."""

import numpy as np
import pytest

from polyladder.estimators.selection.problem import Problem, fit_on_all, fit_on_folds, fit_rows
from polyladder.training.kernels.newton import fit_outputs
from polyladder.training.kernels.reweighted import reweighted_regression
from polyladder.training.kernels.ridge import ridge_regression
from polyladder.training.losses.huber import Huber
from polyladder.training.losses.logistic import Logistic
from tests.estimators.selection.candidates.few_rows import CLASSES, X, Y, problem

ONES = np.ones(60)


def test_by_rows_squares_are_exact_and_classes_are_looked_at_by_squares() -> None:
    plain = ridge_regression(X, Y, ONES, [0.1, 1.0])
    for of in (problem(), problem(CLASSES)):
        np.testing.assert_array_equal(fit_rows(of, X, [0.1, 1.0]).left_out, plain.left_out)


def test_on_folds_every_row_is_predicted_without_its_fold() -> None:
    ((left_out, mean),) = fit_on_folds(problem(CLASSES), X, (0.5,))
    solved = [fit_outputs(Logistic(), X[rows], CLASSES[rows], ONES[rows], 0.5) for rows in folds()]
    for rows, c in zip(folds(), solved, strict=True):
        np.testing.assert_allclose(left_out[~rows], X[~rows] @ c[:-1] + c[-1], atol=1e-4)
    np.testing.assert_allclose(mean, np.mean(solved, 0), atol=1e-4)


def folds() -> list[np.ndarray]:
    return [np.arange(60) % 3 != k for k in range(3)]


@pytest.mark.parametrize("chunk", [7, 1000])
def test_on_all_rows_chunk_by_chunk(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyladder.estimators.selection.problem.CHUNK", chunk)
    gross = Y + np.where(np.arange(60) % 12 == 0, 50.0, 0.0)[:, None]
    of = Problem(Y, gross, Huber((0.3,)), ONES, np.arange(40), np.arange(40) % 3, 3)
    first = fit_rows(of, X[:40], [1.0])
    start = np.r_[first.coefficients, first.offset[None]]
    found = fit_on_all(of, lambda part: X[part], start, 1.0)
    whole = reweighted_regression(of.loss, X, gross, ONES, [1.0], Y)
    np.testing.assert_allclose(found, np.r_[whole.coefficients, whole.offset[None]], atol=0.02)
    assert np.abs(found - start).max() > 0.03
