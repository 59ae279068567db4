"""The normal distribution by a polynomial."""

import numpy as np
from numpy.polynomial import polynomial
from scipy.special import ndtr

from polyladder.convert.exported.normal import CENTER, tail_coefficients


def test_tails_are_those_of_the_normal_distribution() -> None:
    x = np.linspace(0, 12, 5001)
    u = x / np.sqrt(2)
    tail = np.exp(-u * u) * polynomial.polyval((u - CENTER) / (u + CENTER), tail_coefficients()) / (2 * (1 + u))
    np.testing.assert_allclose(tail, ndtr(-x), rtol=1e-12)
