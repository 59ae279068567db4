"""What holds for the predictive distribution of every kind of model."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from polyladder.predictive.number_predictive import NumberPredictive
from polyladder.predictive.predictive import Predictive
from tests.predictive.predictives import COUNT, NUMBERS, classes

EACH = pytest.mark.parametrize("said", NUMBERS.values(), ids=NUMBERS.keys())
ALL = pytest.mark.parametrize("said", [*NUMBERS.values(), classes()], ids=[*NUMBERS.keys(), "classes"])
LEVELS = [1e-3, 0.05, 0.3, 0.5, 0.9, 0.999]


@EACH
def test_cdf_inverts_quantiles(said: NumberPredictive) -> None:
    found = said.cdf(said.quantile(LEVELS))
    assert found.shape == (len(LEVELS), *said.mean.shape)
    np.testing.assert_allclose(np.moveaxis(found, 0, -1), np.broadcast_to(LEVELS, (*said.mean.shape, 6)), rtol=1e-6)
    np.testing.assert_array_equal(said.quantile(0.3), said.quantile(LEVELS)[2])


@EACH
def test_the_density_is_the_slope_of_the_cdf(said: NumberPredictive) -> None:
    y, step = said.quantile(0.7), 1e-5
    slope = (said.cdf(y + step) - said.cdf(y - step)) / (2 * step)
    np.testing.assert_allclose(said.pdf(y), slope, rtol=1e-6)
    np.testing.assert_allclose(np.log(said.pdf(y)), said.logpdf(y))


@EACH
def test_intervals_are_nested_and_hold_what_they_promise(said: NumberPredictive) -> None:
    ends = [said.interval(level) for level in (0.1, 0.5, 0.9, 0.99)]
    for (low, high), (wider_low, wider_high) in pairwise(ends):
        assert (wider_low < low).all()
        assert (high < wider_high).all()
    low, high = said.interval()
    np.testing.assert_allclose(said.cdf(high) - said.cdf(low), 0.9, rtol=1e-6)


@EACH
def test_the_crps_is_its_integral(said: NumberPredictive) -> None:
    y = said.quantile(0.8)
    row = said[1]
    at, scores = y[1].ravel(), said.crps(y)[1].ravel()

    def below(t: float, output: int) -> float:
        return float(row.cdf(t).ravel()[output])

    for k, (own, score) in enumerate(zip(at, scores, strict=True)):
        left = integrate.quad(lambda t: below(t, k) ** 2, -math.inf, own, epsabs=1e-7)[0]  # noqa: B023
        right = integrate.quad(lambda t: (1 - below(t, k)) ** 2, own, math.inf, epsabs=1e-7)[0]  # noqa: B023
        assert score == pytest.approx(left + right, rel=1e-4)


@EACH
def test_draws_have_the_distribution(said: NumberPredictive) -> None:
    drawn = said.sample(4000, random_state=0)
    assert drawn.shape == (4000, *said.mean.shape)
    for level in (0.1, 0.5, 0.95):
        share = (drawn <= said.quantile(level)).mean(0)
        np.testing.assert_allclose(share, level, atol=5 * math.sqrt(level * (1 - level) / 4000))


@EACH
def test_densities_have_the_moments(said: NumberPredictive) -> None:
    u = np.linspace(-20, 20, 301).reshape(-1, *[1] * said.mean.ndim)
    low, high = said.interval(0.5)
    at = said.mean + (high - low) * np.sinh(u)
    mass = said.pdf(at) * (high - low) * np.cosh(u) * (u[1] - u[0])
    np.testing.assert_allclose(mass.sum(0), 1, rtol=1e-4)
    np.testing.assert_allclose((mass * at).sum(0), said.mean, atol=1e-3)
    finite = np.isfinite(said.std)
    deviation = np.sqrt((mass * (at - said.mean) ** 2).sum(0))
    np.testing.assert_allclose(deviation[finite], said.std[finite], rtol=1e-3)
    assert (deviation[~finite] > 100).all()


@ALL
def test_some_rows_are_the_same_rows(said: Predictive) -> None:
    assert len(said) == COUNT
    mask = np.array([True, False, True, True, False])
    for rows, numbers in ((slice(1, 4), [1, 2, 3]), (mask, [0, 2, 3]), ([3, -1], [3, 4]), (2, [2]), (-1, [4])):
        part = said[rows]
        assert type(part) is type(said)
        assert len(part) == len(numbers)
        np.testing.assert_array_equal(part.mean, said.mean[numbers])
        np.testing.assert_array_equal(part.std, said.std[numbers])
    assert len(said[[]]) == 0
    assert len(said[[]].sample(2)[0]) == 0
    with pytest.raises(IndexError):
        said[COUNT]
    with pytest.raises(IndexError):
        said[[[0, 1]]]


@ALL
def test_draws_are_repeatable(said: Predictive) -> None:
    first = said.sample(3, random_state=7)
    assert first.shape[:2] == (3, COUNT)
    np.testing.assert_array_equal(first, said.sample(3, random_state=7))
    assert (first != said.sample(3, random_state=8)).any()
    same = [said.sample(3, np.random.default_rng(1)) for _ in range(2)]
    np.testing.assert_array_equal(*same)
    with pytest.raises(ValueError, match="n must be at least 1; got 0"):
        said.sample(0)
