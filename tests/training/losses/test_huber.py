import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from polyladder.training.losses import loss_and_targets
from polyladder.training.losses.huber import THRESHOLD, Huber, medians
from polyladder.training.losses.squared import SQUARED
from polyladder.training.solves.alternating import fit_alternating
from polyladder.training.solves.blocks import blocks_of
from tests.ladders import random_ladder, rows

RNG = np.random.default_rng(0)


def test_small_errors_are_squares_and_large_ones_lines() -> None:
    f, y = rows(50, 2), rows(50, 2, seed=2)
    torch.testing.assert_close(Huber((1e6,)).each(f, y), SQUARED.each(f, y))
    torch.testing.assert_close(Huber((1e-6,)).each(f, y) / 2e-6, (f - y).abs(), atol=1e-5, rtol=1e-5)


def test_the_scale_of_normal_noise_is_found_in_spite_of_gross_errors() -> None:
    noise = torch.from_numpy(RNG.normal(size=(20_000, 2))) * torch.tensor([0.5, 3.0], dtype=torch.float64)
    f = rows(20_000, 2)
    clean = Huber().settle(f, f + noise)
    np.testing.assert_allclose(clean.thresholds, [0.5 * THRESHOLD, 3 * THRESHOLD], rtol=0.03)
    # The noise variance is that of the noise ...
    np.testing.assert_allclose(clean.scatter(f, f + noise).mean(), 0.25 + 9, rtol=0.03)
    noise[::10] = 1e6
    gross = Huber().settle(f, f + noise)
    np.testing.assert_allclose(gross.thresholds, clean.thresholds, rtol=0.2)
    # ... and grows little by errors of any size.
    np.testing.assert_allclose(gross.scatter(f, f + noise).mean(), 0.25 + 9, rtol=0.5)


def test_an_exact_fit_leaves_a_threshold() -> None:
    y = rows(50, 1)
    (threshold,) = Huber().settle(y, y).thresholds
    assert 0.005 < threshold < 0.05
    assert Huber().settle(0 * y, 0 * y).thresholds == (THRESHOLD,)


def test_without_a_first_fit_errors_are_those_of_the_median() -> None:
    y = torch.tensor([5.0, 6.0, 7.0, 8.0, 900.0])
    loss, _ = loss_and_targets("huber", y, 5, 1, torch.float64)
    assert loss == Huber((THRESHOLD * 1.4826 * 1.0,))
    assert loss_and_targets(Huber((2.0,)), y, 5, 1, torch.float64)[0] == Huber((2.0,))


def test_the_location_is_where_the_loss_is_lowest() -> None:
    y = torch.from_numpy(RNG.standard_cauchy(size=(80, 1)))
    for threshold in (0.01, 0.5, 4.0):
        loss = Huber((threshold,))
        best = minimize_scalar(lambda c, loss=loss: loss.deviance(torch.full_like(y, c), y), bounds=(-9, 9))
        assert loss.constant(y).item() == pytest.approx(best.x, abs=1e-4)


@pytest.mark.parametrize("n", [5, 6])
def test_medians_count_shares(n: int) -> None:
    values = RNG.normal(size=(n, 2))
    repeats = RNG.integers(0, 4, size=n)
    share = torch.from_numpy(repeats / repeats.sum())
    expected = np.median(np.repeat(values, repeats, 0), 0)
    np.testing.assert_allclose(medians(torch.from_numpy(values), share).numpy(), expected)


def test_standards_do_not_follow_a_gross_error() -> None:
    y = torch.arange(11.0).unsqueeze(-1).double()
    y[-1] = 1e9
    center, scale = Huber().standards(y, torch.full((11,), 1 / 11, dtype=torch.float64))
    assert center.item() == 5
    assert scale.item() == pytest.approx(3 * 1.4826)
    # Most numbers equal: the usual spread, or the scale would be zero.
    mostly = torch.tensor([[0.0]] * 9 + [[1.0]], dtype=torch.float64)
    assert Huber().standards(mostly, torch.full((10,), 0.1, dtype=torch.float64))[1].item() == pytest.approx(0.3)


def test_what_cannot_be_is_refused() -> None:
    for wrong in ((0.0,), (-1.0,), (math.inf,), (math.nan,), ("1",)):
        with pytest.raises(ValueError, match="thresholds must be positive numbers, one for each output; got"):
            Huber(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="thresholds must be 3, one for each output, or 1; got"):
        Huber((1.0, 2.0)).check_outputs(3)


@pytest.mark.parametrize("outputs", [1, 2])
def test_solves_of_one_block_end_where_scipy_does(outputs: int) -> None:
    from scipy.optimize import minimize

    x, start = rows(40, 2), random_ladder(2, (), outputs, batch_shape=(1,), seed=3)
    y = x @ rows(2, outputs, seed=5) + 0.1 * rows(40, outputs, seed=6)
    y[::7] += 8.0
    loss, alpha = Huber((0.2,) * outputs), 0.03
    fit = fit_alternating(start, x, y, loss=loss, alpha=alpha, sweeps=300, tolerance=0.0)
    # A ladder without layers is its readout alone.
    (readout,) = blocks_of(fit.polynomial, x).weights()

    def objective(flat: np.ndarray) -> float:
        w = torch.from_numpy(flat).reshape(outputs, 3)
        f = x @ w[:, :-1].T + w[:, -1]
        return loss.deviance(f, y) * outputs + alpha * float(w[:, :-1].square().sum())

    best = minimize(objective, np.zeros(3 * outputs), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(readout.numpy().ravel(), best.x, atol=2e-5)
    assert fit.training_loss[0, -1].item() == pytest.approx(best.fun, rel=1e-8)
