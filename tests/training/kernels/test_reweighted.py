"""Ridge regressions by reweighted squares, against a general optimizer and against fits without a row."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from polyladder.training.kernels.reweighted import first_fit, reweighted_regression
from polyladder.training.kernels.ridge import ridge_regression
from polyladder.training.losses.huber import THRESHOLD, Huber
from polyladder.training.losses.squared import SQUARED

RNG = np.random.default_rng(5)
N = 60
X = RNG.normal(size=(N, 3))
WEIGHT = RNG.uniform(0.5, 2, size=N)


def target(outputs: int) -> np.ndarray:
    y = X @ RNG.normal(size=(3, outputs)) + 0.2 * RNG.normal(size=(N, outputs))
    y[::8] += 15.0
    return y


@pytest.mark.parametrize("outputs", [1, 2])
def test_the_minimum_is_that_of_scipy(outputs: int) -> None:
    y, loss, ridge = target(outputs), Huber((0.3,) * outputs), 2.0
    fit = reweighted_regression(loss, X, y, WEIGHT, [ridge], np.zeros_like(y))

    def objective(flat: np.ndarray) -> float:
        c = flat.reshape(4, outputs)
        each = loss.each(torch.from_numpy(X @ c[:-1] + c[-1]), torch.from_numpy(y)).sum(-1).numpy()
        return float(WEIGHT @ each + ridge * (c[:-1] ** 2).sum())

    best = minimize(objective, np.zeros(4 * outputs), method="BFGS")
    found = np.r_[fit.coefficients, fit.offset[None]]
    assert objective(found.ravel()) < best.fun * (1 + 1e-4)
    np.testing.assert_allclose(found, best.x.reshape(4, outputs), atol=0.02)


def test_rows_left_out_are_predicted_as_by_fits_without_them() -> None:
    y, loss = target(1), Huber((0.3,))
    fit = reweighted_regression(loss, X, y, WEIGHT, [1.0], np.zeros_like(y))
    expected = []
    for i in range(N):
        rest = np.arange(N) != i
        without = reweighted_regression(loss, X[rest], y[rest], WEIGHT[rest], [1.0], np.zeros((N - 1, 1)))
        expected.append(X[i] @ without.coefficients + without.offset)
    # Exact but for what the other rows' weights owe to the row; a fit with the row would be off by 0.2 and more.
    np.testing.assert_allclose(fit.left_out, expected, atol=0.06)


def test_the_ridge_is_chosen_by_the_loss_of_rows_left_out() -> None:
    y, loss, ridges = target(1), Huber((0.3,)), [1e-3, 1.0, 1e3]
    fit = reweighted_regression(loss, X, y, WEIGHT, ridges, np.zeros_like(y))
    alone = [reweighted_regression(loss, X, y, WEIGHT, [ridge], np.zeros_like(y)) for ridge in ridges]
    assert fit.ridge == min(alone, key=lambda each: each.error).ridge
    weight = torch.from_numpy(WEIGHT)
    assert fit.error == pytest.approx(loss.deviance(torch.from_numpy(fit.left_out), torch.from_numpy(y), weight))


def test_squares_are_solved_once_and_exactly() -> None:
    y = target(2)
    found, plain = (
        reweighted_regression(SQUARED, X, y, WEIGHT, [0.1, 1.0], np.zeros_like(y)),
        ridge_regression(X, y, WEIGHT, [0.1, 1.0]),
    )
    np.testing.assert_array_equal(found.left_out, plain.left_out)
    assert found.error == plain.error


@pytest.mark.parametrize("gross", [0.0, 0.1])
def test_a_first_fit_finds_the_scale_of_the_noise(gross: float) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(3000, 4))
    truth = x[:, :1] + x[:, 1:2] * x[:, 2:3]
    y = truth + 0.1 * rng.normal(size=truth.shape)
    y[rng.uniform(size=3000) < gross] += 40.0
    loss, outputs = first_fit(Huber(), x, y, np.ones(3000), seed=0)
    assert isinstance(loss, Huber)
    # Far below the spread of the targets, which is 1.4.
    assert loss.thresholds[0] == pytest.approx(0.1 * THRESHOLD, rel=0.35)
    assert np.sqrt(np.mean((outputs - truth) ** 2)) < 0.06
