"""Exact curves along a column, whatever stands in front of the polynomial."""

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNRegressor
from polyladder.explain.curve import column_pieces, curve
from polyladder.fitted.features import Features
from tests.cli.tables import small_table
from tests.fitted.reading import read_model


@pytest.mark.parametrize("features", ["yeo-johnson", "quantile"])
def test_curves_of_bent_features_are_exact_too(features: str) -> None:
    rows = pl.DataFrame({name: [*map(float, cells)] for name, cells in small_table().items()})
    X, y = rows.select("a", "b"), rows["y"].to_numpy()
    estimator = LPNNRegressor(order=3, width=2, n_estimators=1, max_iter=2, features=features, guard=False).fit(X, y)
    model = read_model(estimator, X)
    line = curve(model, model.columns[0])
    shown = pl.DataFrame({"a": line.x, "b": np.full(120, np.median(X["b"]))})
    assert estimator.predict(shown) == pytest.approx(line.y)
    for (at, value), best in ((line.minimum, min), (line.maximum, max)):
        assert value == pytest.approx(best([*line.y, value]), abs=1e-6)
        there = pl.DataFrame({"a": [at], "b": [np.median(X["b"])]})
        assert estimator.predict(there)[0] == pytest.approx(value, abs=1e-6)


def test_a_curve_over_ramps_is_exact_on_each_piece() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(150, 2))
    y = np.floor(4 * X[:, 0]) * (1 + X[:, 1])
    model = LPNNRegressor(effort="low", guard=False, random_state=0).fit(X, y)
    assert model.features_.ramps_ is not None
    read = read_model(model, X)
    found = curve(read, read.columns[0])
    # Eight ramps from the first training value to the last; clipping allows a little more on both sides.
    assert len(column_pieces(read, read.columns[0])) == 8
    column = read.columns[0]
    assert (column.low, column.high) == pytest.approx((X[:, 0].min(), X[:, 0].max()), rel=1e-12)
    assert column.held[0] < column.low < column.high < column.held[1]
    typical = np.tile([[0.0, read.columns[1].typical]], (len(found.x), 1))
    typical[:, 0] = found.x
    np.testing.assert_allclose(found.y, model.predict(typical), atol=1e-7)
    fine = np.tile([[0.0, read.columns[1].typical]], (4001, 1))
    fine[:, 0] = np.linspace(read.columns[0].low, read.columns[0].high, 4001)
    values = model.predict(fine)
    assert found.minimum[1] <= values.min() + 1e-9
    assert found.maximum[1] >= values.max() - 1e-9
    np.testing.assert_allclose([found.minimum[1], found.maximum[1]], [values.min(), values.max()], atol=1e-3)
    at = np.array([[found.maximum[0], read.columns[1].typical]])
    np.testing.assert_allclose(model.predict(at)[0], found.maximum[1], atol=1e-6)


def test_a_curve_along_a_phase_is_searched() -> None:
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"hour": rng.uniform(0, 24, 300), "b": rng.normal(size=300)})
    y = (np.cos(2 * np.pi * (X["hour"] - 7.3) / 24) * (2 + X["b"])).to_numpy()
    features = Features(periods={"hour": 24})
    estimator = LPNNRegressor(order=3, width=3, n_estimators=1, features=features, guard=False, random_state=0).fit(
        X, y
    )
    model = read_model(estimator, X)
    column = model.columns[0]
    assert column.main is None
    assert column.role == "numeric"
    found = curve(model, column)

    def at(hours: np.ndarray) -> np.ndarray:
        return estimator.predict(pl.DataFrame({"hour": hours, "b": np.full(len(hours), model.columns[1].typical)}))

    np.testing.assert_allclose(found.y, at(np.array(found.x)), atol=1e-9)
    fine = np.linspace(column.low, column.high, 200_001)
    for (x, value), best in ((found.minimum, np.min), (found.maximum, np.max)):
        assert value == pytest.approx(best(at(fine)), abs=1e-9)
        assert at(np.array([x]))[0] == pytest.approx(value, abs=1e-9)
    assert found.maximum[0] == pytest.approx(7.3, abs=0.2)
