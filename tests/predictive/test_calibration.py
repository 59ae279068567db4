"""Calibration against numerical integration, counting by hand, and predictions that are calibrated by construction."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from polyladder.predictive import calibration as c
from polyladder.predictive.conformal import Calibrated
from polyladder.predictive.mixture import StudentMixture
from polyladder.predictive.mixture_predictive import MixturePredictive
from polyladder.predictive.student import StudentPredictive

moderate = st.floats(-3, 3)
positive = st.floats(0.1, 3)


def integrated_crps(distribution: Callable[[np.ndarray], np.ndarray], y: float) -> float:
    """The score by its definition: the integral of the squared distance between the two distribution functions."""

    def integral(function: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
        t = np.linspace(low, high, 20_001)
        return float(integrate.simpson(function(t) ** 2, x=t))

    return integral(distribution, -40.0, y) + integral(lambda t: 1 - distribution(t), y, 40.0)


@settings(max_examples=25)
@given(moderate, moderate, positive)
def test_crps_of_a_gaussian_is_the_integral(y: float, mean: float, sd: float) -> None:
    known = integrated_crps(lambda t: special.ndtr((t - mean) / sd), y)
    assert float(c.crps_gaussian([y], [mean], [sd])[0]) == pytest.approx(known, rel=1e-6, abs=1e-8)


@settings(max_examples=15)
@given(moderate, st.lists(st.tuples(moderate, positive), min_size=1, max_size=4))
def test_crps_of_a_mixture_is_the_integral(y: float, parts: list[tuple[float, float]]) -> None:
    means, sds = (torch.tensor(t).double().unsqueeze(1) for t in zip(*parts, strict=True))
    known = integrated_crps(lambda t: np.mean([special.ndtr((t - m) / s) for m, s in parts], axis=0), y)
    assert float(c.crps_mixture([y], means, sds)[0]) == pytest.approx(known, rel=1e-5, abs=1e-7)


def test_crps_of_draws_is_the_integral_and_their_limit_the_gaussian_s() -> None:
    draws = [0.3, -1.2, 0.3, 2.0, 0.9]
    for y in (-2.0, 0.3, 0.5, 3.0):
        # A step function: the integral is a sum over the gaps between neighboring points.
        points = sorted({*draws, y})
        gaps = [(b - a) * (np.mean([d <= a for d in draws]) - (a >= y)) ** 2 for a, b in pairwise(points)]
        assert float(c.crps_draws([y], torch.tensor(draws).unsqueeze(1))[0]) == pytest.approx(sum(gaps), rel=1e-6)
    quantiles = torch.special.ndtri((torch.arange(4000).double() + 0.5) / 4000)
    y = torch.tensor([0.0, 1.3]).double()
    limit = c.crps_draws(y, (1 + 2 * quantiles).unsqueeze(1).expand(-1, 2))
    assert torch.allclose(limit, c.crps_gaussian(y, torch.ones(2), 2 * torch.ones(2)), atol=1e-3)


def test_a_mixture_of_one_is_that_gaussian() -> None:
    y, mean, sd = torch.randn(3, 5, dtype=torch.float64)
    sd = sd.abs() + 0.1
    assert torch.allclose(c.crps_mixture(y, mean[None], sd[None]), c.crps_gaussian(y, mean, sd))
    assert torch.allclose(c.mixture_levels(y, mean[None], sd[None]), c.gaussian_levels(y, mean, sd))
    known = torch.distributions.Normal(mean, sd).log_prob(y)
    assert torch.allclose(c.mixture_log_likelihood(y, mean[None], sd[None]), known)


def test_mixture_log_likelihood_is_torch_s_and_does_not_underflow() -> None:
    means, sds = torch.randn(4, 3, 2).double(), torch.rand(4, 1, 1).double() + 0.2
    y = torch.randn(3, 2).double()
    mixture = torch.distributions.MixtureSameFamily(
        torch.distributions.Categorical(torch.ones(4).double()),
        torch.distributions.Normal(means.movedim(0, -1), sds.expand(4, 3, 2).movedim(0, -1)),
    )
    assert torch.allclose(c.mixture_log_likelihood(y, means, sds), mixture.log_prob(y))
    assert torch.allclose(c.mixture_levels(y, means, sds), mixture.cdf(y))
    far = c.mixture_log_likelihood([100.0], [[0.0], [1.0]], [[1.0], [1.0]])
    assert float(far[0]) == pytest.approx(-0.5 * 99**2 - math.log(2) - 0.5 * math.log(2 * math.pi))


def test_calibrated_predictions_are_found_calibrated_and_narrow_ones_are_not() -> None:
    generator = torch.Generator().manual_seed(0)
    mean, noise = torch.randn(2, 40_000, generator=generator, dtype=torch.float64)
    sd = mean.abs() + 0.5
    y = mean + sd * noise
    levels = c.gaussian_levels(y, mean, sd)
    for reliability in (c.quantile_reliability(levels), c.interval_reliability(levels)):
        assert reliability.stated.tolist() == list(c.LEVELS)
        assert (reliability.actual - reliability.stated).abs().max() < 4.5 * 0.5 / 40_000**0.5
        assert reliability.rows.tolist() == [40_000.0] * 19
        assert reliability.error < 0.005
    # Half the standard deviation: the 90 % interval covers what one of 0.82 standard deviations does.
    narrow = c.interval_reliability(c.gaussian_levels(y, mean, sd / 2), [0.9])
    known = 2 * stats.norm.cdf(stats.norm.ppf(0.95) / 2) - 1
    assert float(narrow.actual[0]) == pytest.approx(known, abs=0.01)
    assert narrow.error == pytest.approx(0.9 - known, abs=0.01)
    # A bias shows in the quantiles, and not in which side of the center they err to.
    biased = c.quantile_reliability(c.gaussian_levels(y, mean + 0.5 * sd, sd), [0.5])
    assert float(biased.actual[0]) == pytest.approx(stats.norm.cdf(0.5), abs=0.01)


def test_intervals_by_levels_and_by_ends_agree() -> None:
    y, mean = torch.randn(2, 500, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    sd = torch.full_like(mean, 0.8)
    z = float(stats.norm.ppf(0.95))
    found = c.coverage(y, mean - z * sd, mean + z * sd)
    levels = c.gaussian_levels(y, mean, sd)
    assert found.share == float(c.interval_reliability(levels, [0.9]).actual[0])
    assert found.width == pytest.approx(2 * z * 0.8)


def test_levels_of_draws_are_ranks() -> None:
    draws = torch.tensor([[1.0, 5.0], [2.0, 5.0], [3.0, 7.0]])
    assert c.draw_levels([2.5, 5.0], draws).tolist() == [2.5 / 4, 1.5 / 4]
    assert c.draw_levels([-9.0, 9.0], draws).tolist() == [0.5 / 4, 3.5 / 4]


def test_class_reliability_counted_by_hand() -> None:
    probability = np.array([0.0, 0.1, 0.5, 0.51, 0.9, 1.0])
    label = np.array([0, 1, 0, 1, 1, 1])
    found = c.class_reliability(probability, label, bins=2)
    assert found.rows.tolist() == [3.0, 3.0]
    assert found.stated.tolist() == pytest.approx([0.2, (0.51 + 0.9 + 1) / 3])
    assert found.actual.tolist() == pytest.approx([1 / 3, 1.0])
    by_hand = (3 * abs(1 / 3 - 0.2) + 3 * abs(1 - 2.41 / 3)) / 6
    assert c.expected_calibration_error(probability, label, bins=2) == pytest.approx(by_hand)
    sparse = c.class_reliability(probability, label, bins=50)
    assert int((sparse.rows == 0).sum()) == 44
    assert sparse.actual[sparse.rows == 0].isnan().all()
    assert math.isfinite(sparse.error)


def test_several_classes_are_judged_by_the_likeliest() -> None:
    probability = torch.tensor([[0.65, 0.25, 0.1], [0.1, 0.35, 0.55], [0.25, 0.55, 0.2]])
    label = torch.tensor([0, 1, 1])
    found = c.class_reliability(probability, label, bins=10)
    assert found.rows.tolist()[5:7] == [2.0, 1.0]
    assert found.actual[5:7].tolist() == [0.5, 1.0]
    assert found.error == pytest.approx((2 * 0.05 + 0.35) / 3)


def test_classes_drawn_by_their_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4), 20_000)
    label = (p.cumsum(1) < rng.random((20_000, 1))).sum(1)
    assert c.expected_calibration_error(p, label) < 0.02
    assert c.expected_calibration_error(p**4 / (p**4).sum(1, keepdims=True), label) > 0.15


def test_proper_scores_are_best_for_the_truth() -> None:
    noise = torch.randn(20_000, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    zero, one = torch.zeros_like(noise), torch.ones_like(noise)
    score = float(c.crps_gaussian(noise, zero, one).mean())
    assert score == pytest.approx(1 / math.sqrt(math.pi), abs=0.01)
    for mean, sd in ((0.2, 1.0), (0.0, 0.8), (0.0, 1.25)):
        assert float(c.crps_gaussian(noise, zero + mean, one * sd).mean()) > score


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"prediction must have the targets' shape \(2,\); got shape \(3,\)"):
        c.gaussian_levels([1.0, 2.0], [1.0, 2.0, 3.0], [1.0])
    with pytest.raises(ValueError, match=r"means must have shape \(count, \*\(2,\)\); got shape \(2,\)"):
        c.crps_mixture([1.0, 2.0], [1.0, 2.0], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"levels must lie in \[0, 1\]; got 0\.5 to 1\.5"):
        c.quantile_reliability([0.5, 1.5])
    with pytest.raises(ValueError, match="low must not exceed high"):
        c.coverage([1.0], [2.0], [1.0])
    with pytest.raises(ValueError, match=r"label must have shape \(2,\); got shape \(3,\)"):
        c.class_reliability([0.5, 0.5], [0, 1, 1])


def test_intervals_of_a_predictive_are_counted_by_hand() -> None:
    rng = np.random.default_rng(0)
    y = rng.standard_t(4, size=(60, 2))
    center, scale = torch.zeros(60, 2, dtype=torch.float64), torch.full((60, 2), 1.2, dtype=torch.float64)
    widths = Calibrated(torch.tensor([0.5, 0.9]), torch.tensor([[0.5, 0.7], [1.5, 2.5]], dtype=torch.float64))
    degrees = torch.tensor([4.0, float("inf")], dtype=torch.float64)
    plain, calibrated = (StudentPredictive(center, scale, degrees, False, w) for w in (None, widths))
    found = c.predictive_reliability(calibrated, y, [0.5, 0.9])
    inside = [np.abs(y) <= 1.2 * np.array(half) for half in ([0.5, 0.7], [1.5, 2.5])]
    assert found.actual.tolist() == [pytest.approx(each.mean()) for each in inside]
    assert found.rows.tolist() == [120, 120]
    halves = np.array([stats.t.ppf(0.95, 4), stats.norm.ppf(0.95)])
    assert c.predictive_reliability(plain, y, [0.9]).actual.item() == pytest.approx(np.mean(np.abs(y) <= 1.2 * halves))


def test_intervals_of_a_mixture_lie_between_its_quantiles() -> None:
    rng = np.random.default_rng(1)
    means, y = torch.from_numpy(rng.normal(size=(5, 80, 1))), rng.normal(size=80)
    mixture = StudentMixture.equal(means, torch.full((5, 1, 1), 0.6, dtype=torch.float64), torch.full((5, 1, 1), 3.0))
    said = MixturePredictive(mixture, True)
    found = c.predictive_reliability(said, y, [0.5, 0.9])
    for level, share in zip(found.stated.tolist(), found.actual.tolist(), strict=True):
        low, high = said.interval(level)
        assert share == pytest.approx(np.mean((low <= y) & (y <= high)))
