import math

import numpy as np
import pytest
import torch

from polyladder.training.bayes.gibbs import Priors
from polyladder.training.bayes.noise import GammaPrior
from polyladder.training.bayes.readout import ReadoutRows, UnseenErrors, sample_readout
from tests.ladders import rows

NONE = torch.zeros(40, 0, dtype=torch.float64)
ONES = torch.ones(40, dtype=torch.float64)
FIRM = GammaPrior(1e6, 1e6)
"""A precision of 1, for sure."""


def left_out(size: float, n: int = 40) -> UnseenErrors:
    return UnseenErrors(size * rows(n, 1, seed=8), NONE.new_zeros(n, 0), NONE.new_ones(n))


def problem(n: int = 40) -> ReadoutRows:
    last = rows(n, 2, seed=4)
    y = last @ NONE.new_tensor([[1.0], [-0.5]]) + 0.3 + 0.5 * rows(n, 1, seed=5)
    return ReadoutRows(last, y, NONE.new_zeros(n, 0), NONE.new_ones(n))


@pytest.mark.slow
def test_draws_have_the_mean_and_covariance_of_a_gaussian_regression() -> None:
    """With precisions that are known, scikit-learn's formula of a Bayesian regression is written out by NumPy."""
    states, priors = problem(), Priors(weights=FIRM, noise=GammaPrior(1e6, 0.25e6))
    found = sample_readout(
        states,
        left_out(0.5),
        torch.zeros(1, 3, dtype=torch.float64),
        degrees=(math.inf,),
        chains=30,
        warmup=2,
        draws=100,
        seed=0,
        priors=priors,
    )
    phi = np.c_[states.last.numpy(), np.ones(40)]
    covariance = np.linalg.inv(4 * phi.T @ phi + np.diag([1, 1, 1 / priors.offset]))
    mean = covariance @ (4 * phi.T @ states.y.numpy()[:, 0])
    drawn = found.readout.reshape(-1, 3).numpy()
    np.testing.assert_allclose(drawn.mean(0), mean, atol=4 * np.sqrt(covariance.diagonal().max() / 3000))
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.1 * covariance.diagonal().max())
    np.testing.assert_allclose(found.noise, 0.5, rtol=0.01)


@pytest.mark.slow
def test_the_noise_is_that_of_the_rows_left_out() -> None:
    """The same training rows, and errors three times as large: the noise follows the errors, and the draws scatter."""
    options = {"degrees": (math.inf,), "chains": 8, "warmup": 3, "draws": 40, "seed": 0}
    start = torch.zeros(1, 3, dtype=torch.float64)
    narrow, wide = (sample_readout(problem(), left_out(size), start, **options) for size in (0.5, 1.5))
    expected = left_out(1.5).errors.square().mean().sqrt().item()
    assert abs(wide.noise.median() / expected - 1) < 0.1
    assert 2.5 < wide.noise.median() / narrow.noise.median() < 3.5
    assert 2 < (wide.readout.std((0, 1)) / narrow.readout.std((0, 1))).median() < 4


@pytest.mark.slow
def test_noise_may_follow_the_inputs() -> None:
    z = rows(300, 1, seed=3)
    errors = rows(300, 1, seed=9) * (0.6 * z).exp()
    some = UnseenErrors(errors, z, torch.ones(300, dtype=torch.float64))
    start = torch.zeros(1, 3, dtype=torch.float64)
    states = problem(300)
    sloped = ReadoutRows(states.last, states.y, z, states.weight)
    found = sample_readout(sloped, some, start, degrees=(4.0, math.inf), chains=4, warmup=15, draws=20, seed=0)
    assert found.slopes.shape == (20, 4, 1, 1)
    assert -1.7 < found.slopes.mean() < -0.7  # log precision: -2 times 0.6


@pytest.mark.slow
def test_a_weight_counts_rows() -> None:
    states, start = problem(300), torch.zeros(1, 3, dtype=torch.float64)
    heavy = ReadoutRows(states.last, states.y, states.noise_features, 9 * states.weight)
    options = {"degrees": (math.inf,), "chains": 8, "warmup": 3, "draws": 40, "seed": 0}
    found = [sample_readout(each, left_out(0.5, 300), start, **options) for each in (states, heavy)]
    light, firm = (each.readout.std((0, 1)) for each in found)
    assert 2.4 < (light / firm).median() < 3.6
