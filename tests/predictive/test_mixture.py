import math

import pytest
import torch
from scipy import stats
from torch import Tensor

from polyladder.predictive.mixture import StudentMixture, waic
from tests.ladders import rows

DEGREES = torch.tensor([3.0, 8.0, torch.inf], dtype=torch.float64)


def mixture(by_row: bool) -> StudentMixture:
    center = rows(3, 8).reshape(3, 4, 2)
    scale = rows(3, 8 if by_row else 2, seed=2).abs().reshape(3, -1, 2) + 0.1
    return StudentMixture.equal(center, scale, DEGREES.reshape(3, 1, 1).expand(3, 1, 2))


def each(m: StudentMixture, row: int, output: int) -> list[object]:
    scale = m.scale.expand_as(m.center)
    return [
        stats.t(nu, m.center[s, row, output], scale[s, row, output])
        if math.isfinite(nu)
        else stats.norm(m.center[s, row, output], scale[s, row, output])
        for s, nu in enumerate(DEGREES.tolist())
    ]


@pytest.mark.parametrize("by_row", [False, True])
def test_densities_and_probabilities_are_means_over_the_draws(by_row: bool) -> None:
    m, y = mixture(by_row), rows(4, 2, seed=3)
    for row in range(4):
        laws = [each(m, row, o) for o in range(2)]
        joint = [laws[0][s].pdf(y[row, 0]) * laws[1][s].pdf(y[row, 1]) for s in range(3)]  # type: ignore[attr-defined]
        assert m.log_density(y)[row].item() == pytest.approx(math.log(sum(joint) / 3), rel=1e-10)
        for o in range(2):
            below = sum(law.cdf(y[row, o]) for law in laws[o]) / 3  # type: ignore[attr-defined]
            assert m.distribution(y)[row, o].item() == pytest.approx(below, rel=1e-10)


@pytest.mark.parametrize("level", [1e-4, 0.05, 0.5, 0.95, 0.9999])
def test_quantiles_invert_the_distribution(level: float) -> None:
    m = mixture(by_row=True)
    torch.testing.assert_close(
        m.distribution(m.quantile(level)), torch.full((4, 2), level, dtype=torch.float64), atol=1e-9, rtol=1e-6
    )


def test_quantiles_across_a_gap_between_draws() -> None:
    center = torch.tensor([[[-100.0]], [[100.0]]], dtype=torch.float64)
    far = StudentMixture.equal(center, torch.full((2, 1, 1), 0.1).double(), torch.full((2, 1, 1), torch.inf).double())
    assert far.quantile(0.25).item() == pytest.approx(-100, abs=1e-6)
    assert far.quantile(0.75).item() == pytest.approx(100, abs=1e-6)
    assert -100 < far.quantile(0.5).item() < 100


def test_samples_have_the_moments() -> None:
    m = mixture(by_row=True)
    drawn = m.sample(40_000, torch.Generator().manual_seed(0))
    assert drawn.shape == (40_000, 4, 2)
    torch.testing.assert_close(drawn.mean(0), m.center.mean(0), atol=0.05, rtol=0)
    # The variance of three degrees of freedom converges slowly; quantiles do not.
    torch.testing.assert_close(drawn.quantile(0.9, dim=0), m.quantile(0.9), atol=0.08, rtol=0)
    scale = m.scale.expand_as(m.center).square() * torch.tensor([3.0, 8 / 6, 1.0]).reshape(3, 1, 1)
    torch.testing.assert_close(m.noise_variance(), scale.mean(0))
    covariance = torch.stack([row.T.cov(correction=0) for row in m.center.transpose(0, 1)])
    torch.testing.assert_close(m.weights_covariance(), covariance)


def test_draws_outside_a_range_are_left_out_row_by_row() -> None:
    """As if the mixture of each row had been made of the other draws alone."""
    m, y = mixture(by_row=True), rows(4, 2, seed=3)
    m.center[1, 2, 0], m.center[0, 3, 1] = 1e9, -1e9
    low, high = torch.tensor([-5.0, -5.0]).double(), torch.tensor([5.0, 5.0]).double()
    held = m.within(low, high)
    for row, kept in ((0, [0, 1, 2]), (2, [0, 2]), (3, [1, 2])):
        part = StudentMixture.equal(m.center[kept, row : row + 1], m.scale[kept, row : row + 1], m.degrees[kept])
        at = y[row : row + 1]
        torch.testing.assert_close(held.log_density(y)[row], part.log_density(at)[0])
        torch.testing.assert_close(held.distribution(y)[row], part.distribution(at)[0])
        torch.testing.assert_close(held.median()[row], part.median()[0])
        torch.testing.assert_close(held.noise_variance()[row], part.noise_variance()[0])
        torch.testing.assert_close(held.weights_covariance()[row], part.weights_covariance()[0])
    drawn = held.sample(2000, torch.Generator().manual_seed(0))
    assert drawn[:, 2, 0].max() < 1e6
    # Where none is inside they all stay, at the border.
    nothing = m.within(torch.tensor([50.0, 50.0]).double(), torch.tensor([60.0, 60.0]).double())
    assert (nothing.center[:, 0] == 50).all()
    torch.testing.assert_close(nothing.share, m.share)


def test_the_median_is_that_of_the_draws() -> None:
    m = mixture(by_row=False)
    torch.testing.assert_close(m.median(), m.center.median(0).values)


def test_waic_of_a_normal_mean_is_close_to_leaving_one_out() -> None:
    """y ~ N(t, 1) with a flat prior: the density of y_i given the others is N(mean of the others, 1 + 1 / (n - 1))."""
    n, draws = 40, 40_000
    y = rows(n, 1)[:, 0]
    t = y.mean() + rows(draws, 1, seed=3)[:, 0] / n**0.5
    logs: Tensor = -(y - t.unsqueeze(1)).square() / 2 - math.log(2 * math.pi) / 2
    others = (y.sum() - y) / (n - 1)
    expected = torch.distributions.Normal(others, math.sqrt(1 + 1 / (n - 1))).log_prob(y)
    torch.testing.assert_close(waic(logs).mean(), expected.mean(), atol=2e-3, rtol=0)
    assert (logs.logsumexp(0) - math.log(draws)).mean() - expected.mean() > 0.02  # without the penalty it is not
