"""Exact curves along a column, whatever stands in front of the polynomial."""

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNRegressor
from polyladder.explain.curve import curve
from polyladder.explain.fitted import read_model
from tests.cli.tables import small_table


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
