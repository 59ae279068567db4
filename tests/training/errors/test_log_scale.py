"""Log scales against SciPy's optimizer and densities, which share no code with them."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from polyladder.training.errors.log_scale import log_densities, log_scale_coefficients, typical_size

RNG = np.random.default_rng(0)
FEATURES = RNG.standard_normal((120, 2))
ERRORS = np.exp(0.3 + 0.6 * FEATURES[:, 0]) * RNG.standard_t(5, 120)
WEIGHT = RNG.uniform(0.5, 2.0, 120)


@pytest.mark.parametrize("degrees", [3.0, 6.0, np.inf])
def test_densities_are_those_of_scipy(degrees: float) -> None:
    scale = np.exp(RNG.standard_normal(120))
    known = stats.norm(0, scale) if np.isinf(degrees) else stats.t(degrees, 0, scale)
    np.testing.assert_allclose(log_densities(ERRORS, np.log(scale), degrees), known.logpdf(ERRORS), rtol=1e-12)


@pytest.mark.parametrize("degrees", [3.0, 6.0, np.inf])
def test_coefficients_minimize_what_is_said(degrees: float) -> None:
    rows = np.c_[FEATURES, np.ones(120)]

    def total(c: np.ndarray) -> float:
        scale = np.exp(rows @ c)
        known = stats.norm(0, scale) if np.isinf(degrees) else stats.t(degrees, 0, scale)
        return float(-WEIGHT @ known.logpdf(ERRORS) + 0.5 * 2.0 * (c[:2] @ c[:2]))

    found = log_scale_coefficients(FEATURES, ERRORS, WEIGHT, 2.0, degrees)
    best = minimize(total, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000})
    assert total(found) <= best.fun + 1e-3
    np.testing.assert_allclose(found, best.x, atol=5e-3)


def test_a_weight_of_two_is_a_row_given_twice() -> None:
    twice = np.r_[np.arange(120), np.arange(40)]
    weight = np.where(np.arange(120) < 40, 2.0, 1.0)
    found = log_scale_coefficients(FEATURES, ERRORS, weight, 1.0, 6.0)
    again = log_scale_coefficients(FEATURES[twice], ERRORS[twice], np.ones(160), 1.0, 6.0)
    np.testing.assert_allclose(found, again, atol=1e-2)


def test_typical_sizes_forgive_gross_errors_and_bear_many_zeros() -> None:
    errors = np.r_[np.ones(99), 1e9]
    assert typical_size(errors, np.ones(100)) < 2
    assert typical_size(np.r_[np.zeros(60), np.ones(40)], np.ones(100)) == pytest.approx(0.4**0.5)
