"""Laws of the variational bound: no update lowers it, and it is what sampling estimates."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from polyladder import GaussianWeights, LadderPolynomial
from polyladder.training.bayes import variational
from polyladder.training.bayes.factors import row_chunks
from polyladder.training.bayes.variational import fit_variational, one_sweep, start_posterior
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles.variational import log_prior_ratio, sampled_bound


def flat(p: LadderPolynomial) -> LadderPolynomial:
    return p.map(lambda t: t.reshape(-1, *t.shape[len(p.batch_shape) :]))


@pytest.mark.slow
@settings(max_examples=30)
@given(
    d=st.integers(1, 4),
    hidden=st.lists(st.integers(1, 4), max_size=3),
    m=st.integers(1, 3),
    batch_shape=st.sampled_from(BATCH_SHAPES),
    n=st.integers(2, 40),
    weighted=st.booleans(),
    relevance=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_no_update_lowers_the_bound(
    d: int,
    hidden: list[int],
    m: int,
    batch_shape: tuple[int, ...],
    n: int,
    weighted: bool,
    relevance: bool,
    seed: int,
) -> None:
    p = flat(random_ladder(d, hidden, m, batch_shape, seed=seed))
    count, depth = len(p), len(hidden)
    x, y = rows(n, d, seed=seed), rows(n, m, seed=seed + 1)
    weight = rows(n, count, seed=seed + 2).abs().T if weighted else torch.ones(1, n, dtype=torch.float64)
    posterior = start_posterior(p, x, y, weight, relevance)

    def bound() -> torch.Tensor:
        """From the present means, variances, noise and prior alone. Shape (B,)."""
        squares = variational.expected_squares(posterior, x, y)
        return variational.lower_bound(posterior, squares, weight)

    checks = []

    def watched(home: Any, name: str) -> Callable[..., Any]:
        step = getattr(home, name)

        def watch(*arguments: Any) -> Any:
            before = bound()
            result = step(*arguments)
            after = bound()
            assert (after >= before - 1e-9 * (1 + before.abs())).all(), (name, before, after)
            checks.append(name)
            return result

        return watch

    start = bound()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("update_readout", "update_gate", "update_layer", "rescale"):
            patch.setattr(variational, name, watched(variational, name))
        patch.setattr(variational.FlatPosterior, "learn_prior", watched(variational.FlatPosterior, "learn_prior"))
        for _ in range(2):
            one_sweep(posterior, row_chunks(posterior.factors, x, y, weight))
            before = bound()
            variational.learn_noise(posterior, variational.expected_squares(posterior, x, y), y, weight)
            assert (bound() >= before - 1e-9 * (1 + before.abs())).all()
    solves = ["update_readout"] + ["update_gate", "update_layer"] * depth
    assert checks == (solves + ["rescale"] * depth + ["learn_prior"]) * 2
    assert (bound() > start).all()


@pytest.mark.slow
@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_the_bound_is_what_sampling_estimates(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(2, (3,) * (order - 1), 2, batch_shape, seed=order)
    x, y = rows(6, 2, seed=order), rows(6, 2, seed=order + 1)
    weight = torch.linspace(0.5, 1.5, 6, dtype=torch.float64)
    fit = fit_variational(p, x, y, sample_weight=weight, sweeps=3, relevance=order % 2 == 0)
    estimate, standard_error = sampled_bound(fit, x, y, weight, draws=8_000, seed=order)
    assert (standard_error < 0.5).all()
    assert ((estimate - fit.bound[..., -1]).abs() < 4.5 * standard_error).all()


def test_the_sampled_divergence_knows_its_integral() -> None:
    """The oracle's own check: between two Gaussians of one dimension, against numerical integration."""
    mean, variance, prior = 0.7, 0.3, 1.9
    z = torch.linspace(-12, 12, 200_001, dtype=torch.float64)

    def density(mean: float, variance: float) -> torch.Tensor:
        return torch.exp(-((z - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)

    q, p = density(mean, variance), density(0.0, prior)
    integral = torch.trapezoid(torch.where(q > 0, q * (q.log() - p.log()), torch.zeros_like(q)), z)
    one = torch.ones(1, 1, dtype=torch.float64)
    affine = LadderPolynomial(W=(), b=(), V=(), c=(), readout=one * mean, offset=torch.zeros(1, dtype=torch.float64))
    weights = GaussianWeights.random_blocks(affine, readout=variance, offset=1.0)
    draws = weights.sample(100_000, seed=0)
    ratios = log_prior_ratio(weights, (torch.tensor([prior, 1.0], dtype=torch.float64),), draws)
    assert float(-ratios.mean()) == pytest.approx(float(integral), abs=5 * float(ratios.std()) / 100_000**0.5)
