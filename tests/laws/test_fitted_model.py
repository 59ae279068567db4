"""`model_` alone predicts what its estimator predicts, bit for bit, before and after a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import polyladder
from polyladder import (
    BayesianLPNNClassifier,
    BayesianLPNNRegressor,
    LPNNClassifier,
    LPNNRegressor,
    PolynomialKernelClassifier,
    PolynomialKernelRegressor,
)
from polyladder.tables.features import Features

SMALL = {"order": 3, "width": 3, "n_estimators": 2, "random_state": 0}
SHORT = {"order": 3, "width": 3, "chains": 2, "warmup": 4, "draws": 6, "random_state": 0}


def mixed(n: int = 80) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=n), rng.exponential(size=n)
    frame = pd.DataFrame({"a": a, "b": b, "k": rng.choice(["x", "y", "z"], n), "c": np.ones(n)})
    frame.loc[::7, "b"] = np.nan
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    return frame, a + np.nan_to_num(b) * (frame["k"] == "x") + 0.1 * rng.normal(size=n)


ESTIMATORS = {
    "selected": LPNNRegressor(random_state=0),
    "standard": LPNNRegressor(**SMALL),
    "quantile": LPNNRegressor(**SMALL, features="quantile"),
    "yeo-johnson": LPNNRegressor(**SMALL, features="yeo-johnson"),
    "piecewise": LPNNRegressor(**SMALL, features="piecewise"),
    "cyclic": LPNNRegressor(**SMALL, features=Features("piecewise", periods={"b": 3, "day": 365.25})),
    "cyclic, selected": LPNNRegressor(features=Features(periods={"b": 3}), effort="low", random_state=0),
    "cyclic classes": LPNNClassifier(**SMALL, features=Features(periods={"a": 2.5})),
    "free": LPNNRegressor(**SMALL, clip=False, guard=False),
    "kernel": PolynomialKernelRegressor(degree=3, rank=3, random_state=0),
    "draws": BayesianLPNNRegressor(**SHORT),
    "classes": LPNNClassifier(**SMALL),
    "apart": PolynomialKernelClassifier(degree=2, rank=3, max_iter=3, multiclass="ovr", random_state=0),
    "probit": BayesianLPNNClassifier(**SHORT),
}


def fitted(name: str) -> tuple[Any, pd.DataFrame]:
    frame, y = mixed()
    model = ESTIMATORS[name]
    target = np.digitize(y, [0.0, 1.0]) if hasattr(model, "predict_proba") else pd.Series(y, name="price")
    with warnings.catch_warnings(action="ignore"):
        return model.fit(frame, target), frame


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_fitted_model_is_its_estimator(name: str, tmp_path: Path) -> None:
    estimator, frame = fitted(name)
    new = frame.sample(frac=1.0, random_state=1)
    new.loc[new.index[0], ["a", "b"]] = [9.0, -3.0]
    estimator.save(tmp_path / "m.ladder")
    for each in (estimator, polyladder.load(tmp_path / "m.ladder")):
        assert np.array_equal(each.model_.predict(new), estimator.predict(new))
        shuffled = new[list(reversed(new.columns))]
        assert np.array_equal(each.model_.predict(shuffled), estimator.predict(new))
        if hasattr(estimator, "predict_proba"):
            assert np.array_equal(each.model_.predict_proba(new), estimator.predict_proba(new))
        # What training read and what predictions read is the same, but for rounding.
        inputs = estimator.features_.transform(new)
        assert np.allclose(each.model_.inputs(new).numpy(), inputs, rtol=1e-11, atol=1e-11)
        assert list(each.model_.input_names) == estimator.features_.feature_names_out_
