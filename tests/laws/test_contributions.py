"""Law: what a column contributed to a row depends on the model and the row alone, and all of it adds up."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from polyladder import LPNNClassifier, LPNNRegressor, load
from polyladder.estimators.bayesian import BayesianLPNNRegressor
from polyladder.estimators.rivals.factorization_machine import FactorizationMachineRegressor
from polyladder.estimators.rivals.polynomial_kernel import PolynomialKernelRegressor
from polyladder.explain.contributions import contributions
from polyladder.report.payload import payload
from tests.fitted.reading import read_model

N = 60
TINY = {"order": 3, "width": 3, "n_estimators": 1, "max_iter": 3, "random_state": 0}
CHAIN = {"order": 2, "width": 2, "chains": 2, "warmup": 2, "draws": 4, "random_state": 0}


def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, numbers with gaps, uneven categories with gaps, a constant, and a constant with gaps."""
    rng = np.random.default_rng(3)
    size, weight = rng.normal(size=N), rng.gamma(2.0, 2.0, N)
    color = rng.choice(["red", "green", None], N, p=[0.7, 0.2, 0.1])
    once = np.where(rng.random(N) < 0.3, np.nan, 1.0)
    y = np.abs(size) + np.log1p(weight) + (color == "red") * size + np.isnan(once)
    weight[rng.random(N) < 0.2] = np.nan
    columns = {"size": size, "weight": weight, "color": color, "always": np.ones(N), "once": once}
    return pd.DataFrame(columns), y


@cache
def fitted(name: str) -> tuple[Any, Any]:
    X, y = table()
    models = {
        "piecewise": LPNNRegressor(features="piecewise", **TINY),
        "quantile": LPNNRegressor(features="quantile", **TINY),
        "classes": LPNNClassifier(features="piecewise", solver="alternating", **TINY),
        "posterior": BayesianLPNNRegressor(features="yeo-johnson", **CHAIN),
        "machine": FactorizationMachineRegressor(order=2, rank=2, max_iter=3, random_state=0),
        "kernel": PolynomialKernelRegressor(max_iter=3, random_state=0),
    }
    return models[name].fit(X, y > np.median(y) if name == "classes" else y), X


NAMES = ("piecewise", "quantile", "classes", "posterior", "machine", "kernel")


@pytest.mark.parametrize("name", NAMES)
def test_contributions_do_not_depend_on_the_other_rows(name: str) -> None:
    estimator, X = fitted(name)
    together = contributions(read_model(estimator, X), X)
    for rows in (X.iloc[7:8], X.iloc[[7, 3, 30]], X.iloc[5:9]):
        parts = contributions(read_model(estimator, rows), rows)
        at = [X.index.get_loc(i) for i in rows.index]
        np.testing.assert_array_equal(parts.start, together.start)
        np.testing.assert_allclose(parts.values, together.values[at], rtol=1e-9, atol=1e-12)
        assert parts.baseline == together.baseline == "the training mean"


@pytest.mark.parametrize("name", NAMES)
def test_they_start_from_the_mean_of_the_training_rows_and_add_up(name: str) -> None:
    estimator, X = fitted(name)
    model = read_model(estimator, X)
    parts = contributions(model, X)
    mean = estimator.inputs(X).mean(0, keepdim=True)
    np.testing.assert_allclose(parts.start, model.ladders(mean).mean(0)[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(parts.start + parts.values.sum(1), parts.outputs, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_page_and_the_file_start_where_python_does(tmp_path: Any) -> None:
    estimator, X = fitted("piecewise")
    start = estimator.explain(X.iloc[:1]).contributions.start
    estimator.save(tmp_path / "m.ladder")
    again = load(tmp_path / "m.ladder")
    np.testing.assert_array_equal(again.explain(X.iloc[4:6]).contributions.start, start)
    pages = [payload(estimator)["way"], payload(estimator, X.iloc[:3])["way"], payload(again, X)["way"]]
    assert pages[0] == pages[1] == pages[2]
    assert pages[0]["words"] == "the training mean"
