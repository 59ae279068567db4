"""The relevance of inputs, against a plain Gaussian process and against what is known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from polyladder.training.kernels.relevance import LEAST_NOISE, PRIOR, Relevance, first_scales, fit_relevance

RNG = np.random.default_rng(0)


def evidence(x, y, groups, found: Relevance) -> float:
    """The log density of the targets, written as a density, plus the prior of the scales."""
    scaled = x * found.scales[groups]
    kernel = found.amplitude * (1 + scaled @ scaled.T) ** found.degree + found.noise * np.eye(len(x))
    away = np.log(found.scales) - np.log(first_scales(groups, found.degree))
    density = sum(multivariate_normal(np.zeros(len(x)), kernel).logpdf(column) for column in y.T)
    return float(density - 0.5 * PRIOR * away @ away)


def test_inputs_that_say_nothing_get_small_scales() -> None:
    x = RNG.normal(size=(120, 5))
    y = x[:, :1] * x[:, 1:2]
    found = fit_relevance(x, (y - y.mean()) / y.std(), np.arange(5), 2)
    assert found.scales[:2].min() > 20 * found.scales[2:].max()
    assert found.noise < 1e-3


def test_no_nearby_kernel_has_more_evidence() -> None:
    x = RNG.normal(size=(40, 3))
    y = np.stack([x[:, 0] + 0.3 * RNG.normal(size=40), x[:, 1] ** 2 - 1], 1)
    groups = np.array([0, 1, 1])
    best = fit_relevance(x, y, groups, 3, steps=300)
    highest = evidence(x, y, groups, best)
    for change in np.vstack([np.eye(4), -np.eye(4)]) * 0.05:
        scales = best.scales * np.exp(change[:2])
        other = Relevance(scales, best.noise * np.exp(change[2]), best.amplitude * np.exp(change[3]), 3)
        assert evidence(x, y, groups, other) < highest + 1e-3


def test_a_weight_of_two_is_a_row_given_twice() -> None:
    x, y = RNG.normal(size=(12, 2)), RNG.normal(size=(12, 1))
    weight = RNG.integers(1, 4, size=12)
    once = fit_relevance(x, y, np.arange(2), 2, weight=weight.astype(float), steps=200)
    twice = fit_relevance(np.repeat(x, weight, 0), np.repeat(y, weight, 0), np.arange(2), 2, steps=200)
    # The repeated rows differ by noise alone, whose evidence is the same kernel's up to the noise itself.
    assert once.scales.shape == twice.scales.shape == (2,)
    assert min(once.noise, twice.noise) >= LEAST_NOISE


@pytest.mark.parametrize("degree", [1, 4])
def test_a_start_is_used(degree: int) -> None:
    x = RNG.normal(size=(40, 3))
    y = x[:, :1] ** 2 + 0.1 * RNG.normal(size=(40, 1))
    groups = np.arange(3)
    best = fit_relevance(x, y, groups, degree, steps=300)
    again = fit_relevance(x, y, groups, degree, start=best, steps=1)
    cold = fit_relevance(x, y, groups, degree, steps=1)
    assert evidence(x, y, groups, cold) < evidence(x, y, groups, best) - 0.5
    assert evidence(x, y, groups, again) > evidence(x, y, groups, best) - 0.1
