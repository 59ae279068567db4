"""The transform of many columns at once is SciPy's of each."""

import numpy as np
import pytest
from scipy import stats

from polyladder.fitted.steps import YeoJohnson

EXPONENTS = np.array([-1.5, 0.0, 1e-17, 1e-9, 0.5, 1.0, 1.7, 2.0, 2.0 + 1e-9, 4.0])


@pytest.mark.parametrize("size", [1e-12, 1.0, 50.0])
def test_every_column_is_as_by_scipy(size: float) -> None:
    x = size * np.random.default_rng(0).normal(size=(40, len(EXPONENTS)))
    x[0] = 0.0
    expected = np.stack([stats.yeojohnson(x[:, j], lmbda=e) for j, e in enumerate(EXPONENTS)], 1)
    np.testing.assert_allclose(YeoJohnson(EXPONENTS).apply(x), expected, rtol=1e-14)
    np.testing.assert_allclose(YeoJohnson(EXPONENTS).apply(x[:1]), expected[:1])


def test_the_exponent_one_changes_nothing() -> None:
    x = np.linspace(-3, 3, 13)[:, None]
    np.testing.assert_allclose(YeoJohnson(1.0).apply(x), x, rtol=1e-14)
