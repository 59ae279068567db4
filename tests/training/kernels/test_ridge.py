"""Ridge regression and the exact error of leaving rows out, against fits that do leave them out."""

import numpy as np
import pytest

from polyladder.training.kernels.ridge import ridge_regression, thin_svd

RNG = np.random.default_rng(2)


def solved(x, y, weight, ridge):
    """Coefficients and offset from the normal equations."""
    rows = np.c_[x, np.ones(len(x))]
    penalty = np.diag(np.r_[np.full(x.shape[1], ridge), 0.0])
    return np.linalg.solve(rows.T @ (weight[:, None] * rows) + penalty, rows.T @ (weight[:, None] * y))


@pytest.mark.parametrize(("n", "p", "ridge"), [(30, 4, 0.3), (12, 20, 0.7), (12, 20, 1e-3)])
def test_left_out_rows_are_predicted_as_by_fits_without_them(n: int, p: int, ridge: float) -> None:
    x, y, weight = RNG.normal(size=(n, p)) + 2, RNG.normal(size=(n, 2)) + 5, RNG.uniform(0.5, 2, size=n)
    fit = ridge_regression(x, y, weight, [ridge])
    whole = solved(x, y, weight, ridge)
    np.testing.assert_allclose(fit.coefficients, whole[:-1], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(fit.offset, whole[-1], rtol=1e-6)
    for i in range(n):
        rest = np.arange(n) != i
        without = solved(x[rest], y[rest], weight[rest], ridge)
        np.testing.assert_allclose(fit.left_out[i], np.r_[x[i], 1] @ without, rtol=1e-5, atol=1e-6)


def test_the_ridge_of_lowest_error_is_taken() -> None:
    x = RNG.normal(size=(30, 25))
    y = RNG.normal(size=(30, 1))
    ridges = [1e-3, 1.0, 1e3]
    fit = ridge_regression(x, y, np.ones(30), ridges)
    errors = [ridge_regression(x, y, np.ones(30), [ridge]).error for ridge in ridges]
    assert fit.ridge == ridges[int(np.argmin(errors))] == 1e3  # there is nothing to learn
    assert fit.error == min(errors)


def test_thin_decompositions() -> None:
    for shape in ((9, 4), (4, 9)):
        matrix = RNG.normal(size=shape)
        left, sizes, right = thin_svd(matrix)
        np.testing.assert_allclose(left * sizes @ right, matrix, atol=1e-12)
        np.testing.assert_allclose(left.T @ left, np.eye(4), atol=1e-10)
