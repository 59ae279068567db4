import math

import pytest
import torch
from scipy import integrate, stats

from polyladder.predictive.standard_student import (
    half_difference,
    log_density,
    mean_distance,
    probability_below,
    quantile_at,
)

DEGREES = [1.3, 2.0, 4.5, 30.0, 1e7, math.inf]
Z = torch.tensor([-40.0, -2.5, -0.3, 0.0, 1.0, 7.0], dtype=torch.float64)


def law(nu: float) -> object:
    return stats.t(nu) if math.isfinite(nu) else stats.norm()


def tensor(nu: float) -> torch.Tensor:
    return torch.tensor([nu], dtype=torch.float64)


@pytest.mark.parametrize("nu", DEGREES)
def test_densities_probabilities_and_quantiles_are_scipys(nu: float) -> None:
    expected = law(nu)
    q = torch.tensor([1e-9, 0.02, 0.5, 0.7, 0.999], dtype=torch.float64)
    for mine, theirs in (
        (log_density(Z, tensor(nu)), expected.logpdf(Z)),  # type: ignore[attr-defined]
        (probability_below(Z, tensor(nu)), expected.cdf(Z)),  # type: ignore[attr-defined]
        (quantile_at(q, tensor(nu)), expected.ppf(q)),  # type: ignore[attr-defined]
    ):
        torch.testing.assert_close(mine, torch.as_tensor(theirs), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("nu", [2.0, 4.5, 30.0, math.inf])
def test_mean_distances_are_integrals(nu: float) -> None:
    expected = law(nu)
    for z in (-2.5, 0.0, 0.7):
        below = integrate.quad(expected.cdf, -math.inf, z)[0]  # type: ignore[attr-defined]
        above = integrate.quad(expected.sf, z, math.inf)[0]  # type: ignore[attr-defined]
        assert mean_distance(tensor(z), tensor(nu)).item() == pytest.approx(below + above, rel=1e-6)
    spread = 2 * integrate.quad(lambda t: expected.cdf(t) * expected.sf(t), 0, math.inf)[0]  # type: ignore[attr-defined]
    assert half_difference(tensor(nu)).item() == pytest.approx(spread, rel=1e-6)


def test_many_degrees_are_almost_the_normal() -> None:
    for function in (lambda nu: log_density(Z[1:5], nu), lambda nu: mean_distance(Z, nu), half_difference):
        torch.testing.assert_close(function(tensor(1e9)), function(tensor(math.inf)), rtol=1e-7, atol=1e-8)


def test_degrees_differ_from_place_to_place() -> None:
    mixed = probability_below(torch.ones(3).double(), torch.tensor([3.0, math.inf, 8.0]).double())
    expected = [stats.t(3).cdf(1), stats.norm().cdf(1), stats.t(8).cdf(1)]
    torch.testing.assert_close(mixed, torch.tensor(expected, dtype=torch.float64))
