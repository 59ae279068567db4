"""`model_` alone predicts what its estimator predicts, bit for bit, before and after a file."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
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
    certify,
)
from polyladder.fitted.features import Features

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
        # What training read and what predictions read is the same.
        assert np.array_equal(each.model_.inputs(new).numpy(), estimator.features_.transform(new))
        assert list(each.model_.input_names) == estimator.features_.feature_names_out_


ALONE = """
import pickle, sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "sklearn":
            raise ImportError("scikit-learn is not here")

sys.meta_path.insert(0, Refused())
import numpy as np
from polyladder.explain.explanation import explain
from polyladder.export.source import to_source
from polyladder.report.page import render_report
from polyladder.robustness.certify import certify
from polyladder.robustness.optimize import maximize

model, rows = pickle.load(open(sys.argv[1], "rb"))
found = {"predict": model.predict(rows), "contributions": explain(model, rows.take([0, 1, 2])).contributions.values}
module = {}
exec(str(to_source(model, "numpy")), module)
found["page"] = len(render_report(model, rows))
found["source"] = module["predict"](
    {name: rows.column(name).tolist() for name in rows.names}
)
if not model.answer.by_member:
    boxes = certify(model, rows.take([0, 1]), 0.01)
    found["certify"] = np.stack([boxes.lower.numpy(), boxes.upper.numpy()])
    found["best"] = maximize(model, max_seconds=0.2).value
assert not any(name.split(".")[0] == "sklearn" for name in sys.modules)
pickle.dump(found, open(sys.argv[2], "wb"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["selected", "piecewise", "draws", "classes"])
def test_every_reader_reads_the_model_alone(name: str, tmp_path: Path) -> None:
    """In a process that cannot import scikit-learn, readers say of `model_` what they say of the estimator here."""
    estimator, frame = fitted(name)
    given, answered = tmp_path / "model", tmp_path / "found"
    table = estimator.model_.read(frame)
    # A copy, without what it has worked out so far.
    given.write_bytes(pickle.dumps((dataclasses.replace(estimator.model_), table)))
    subprocess.run([sys.executable, "-c", ALONE, given, answered], check=True, timeout=300)
    found = pickle.loads(answered.read_bytes())
    assert np.array_equal(found["predict"], estimator.predict(frame))
    np.testing.assert_allclose(found["contributions"], estimator.explain(frame[:3]).contributions.values, rtol=1e-12)
    expected = estimator.predict_proba(frame) if hasattr(estimator, "predict_proba") else estimator.predict(frame)
    np.testing.assert_allclose(found["source"][:, : expected[0].size], expected.reshape(len(frame), -1), atol=1e-9)
    assert found["page"] > 100_000
    if "certify" in found:
        boxes = certify(estimator, frame[:2], 0.01)
        np.testing.assert_array_equal(found["certify"], np.stack([boxes.lower.numpy(), boxes.upper.numpy()]))
        best = estimator.decision_function(frame) if hasattr(estimator, "predict_proba") else estimator.predict(frame)
        assert found["best"] >= np.reshape(best, (len(frame), -1))[:, 0].max() - 1e-9
