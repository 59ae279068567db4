"""The ridge on monomials, against scikit-learn's on the whole matrix."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from polyladder.automatic import polynomial_ridge
from polyladder.automatic.polynomial_ridge import PolynomialRidge


def table(n: int = 400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] ** 3 - X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n) + 50
    return pl.DataFrame(X, schema=["a", "b", "c"]), y


@pytest.mark.parametrize("cells", [2**22, 200])
def test_chunks_give_what_the_whole_matrix_gives(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomial_ridge, "CELLS", cells)
    X, y = table()
    model = PolynomialRidge(3).fit(X, y)
    z = StandardScaler().fit_transform(X.to_numpy())
    monomials = StandardScaler().fit_transform(PolynomialFeatures(3, include_bias=False).fit_transform(z))
    expected = Ridge(alpha=model.alpha_).fit(monomials, y).predict(monomials)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-7)
    assert np.corrcoef(model.predict(X), y)[0, 1] > 0.99


def test_generalized_cross_validation_is_that_of_the_hat_matrix() -> None:
    X, y = table(60)
    y = y + np.random.default_rng(1).normal(size=60) * 3
    model = PolynomialRidge(3).fit(X, y)
    z = StandardScaler().fit_transform(X.to_numpy())
    monomials = StandardScaler().fit_transform(PolynomialFeatures(3, include_bias=False).fit_transform(z))

    def criterion(alpha: float) -> float:
        gram = monomials.T @ monomials + alpha * np.eye(monomials.shape[1])
        hat = monomials @ np.linalg.solve(gram, monomials.T) + 1 / 60
        return float(((y - hat @ y) ** 2).mean() / (1 - np.trace(hat) / 60) ** 2)

    assert model.alpha_ == min(polynomial_ridge.ALPHAS, key=criterion)


def test_many_rows_are_sampled_and_constant_monomials_do_no_harm() -> None:
    X, y = table(5000)
    model = PolynomialRidge(3, cost=2000 * 19**2).fit(X.with_columns(d=pl.lit(1.0)), y)
    assert model.rows_ == 2000
    signs = pl.DataFrame({"a": [1.0, -1.0] * 50, "b": np.arange(100.0)})
    assert np.isfinite(PolynomialRidge(3).fit(signs, np.arange(100.0)).predict(signs)).all()
