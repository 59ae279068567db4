import numpy as np

from polyladder.estimators.selection.candidates.linear import LINEAR_RIDGES, line_by_rows, lines_on_folds
from polyladder.training.kernels.ridge import ridge_regression
from tests.estimators.selection.candidates.few_rows import CLASSES, RNG, X, Y, outputs, problem
from tests.estimators.selection.problems import problem_of


def test_a_line_is_solved_again_on_all_rows() -> None:
    some = problem(rows=20)
    line, fit = line_by_rows(some, X, "standard")
    expected = ridge_regression(X, Y, np.ones(60), [fit.ridge])
    found = outputs(line.on_all(some, X))
    np.testing.assert_allclose(found, X @ expected.coefficients + expected.offset, atol=1e-9)
    assert np.abs(found - outputs(line)).max() > 1e-3


def test_an_exact_line_is_exact_and_small_ridges_need_rows() -> None:
    exact = problem_of(X @ [[1.0], [2.0], [-1.0]], None, np.ones(60), np.arange(60), np.arange(60) % 3, 3)
    assert line_by_rows(exact, X, "standard")[1].error < 1e-25
    wide = RNG.normal(size=(60, 40))
    assert line_by_rows(problem(), wide, "standard")[0].ridge >= min(LINEAR_RIDGES)


def test_lines_of_classes_are_fitted_on_folds() -> None:
    lines = lines_on_folds(problem(CLASSES), X, "standard", (1.0,))
    assert lines[0].left_out.shape == (60, 1)
    np.testing.assert_allclose(outputs(lines[0], 2.0), 2 * outputs(lines[0]))
