"""Defaults on tables of many kinds: never far behind a line or the mean, and every reader agrees with `predict`."""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from polyladder import LPNNClassifier, LPNNRegressor, load, maximize, to_onnx, to_source
from tests.strange_tables import KINDS, StrangeTable, strange_table

BEHIND = 1.1
"""How many times the error of ridge or the mean a default may have on fresh rows: chance of one table."""

EXPORTED = 8
"""Rows that are compared with exports."""

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@cache
def fitted(name: str) -> tuple[StrangeTable, Any]:
    """A table and its default model, fitted once; tests of one name follow each other."""
    table = strange_table(name)
    model = LPNNClassifier(random_state=0) if table.classes else LPNNRegressor(random_state=0)
    return table, model.fit(table.X, table.y)


def answers(model: Any, rows: pd.DataFrame) -> np.ndarray:
    """Predictions, or probabilities. Shape (n, m)."""
    found = model.predict_proba(rows) if isinstance(model, LPNNClassifier) else model.predict(rows)
    return found.reshape(len(rows), -1)


def in_days(frame: pd.DataFrame) -> pd.DataFrame:
    """Dates as days since 1970, for those who take numbers alone."""
    dates = frame.select_dtypes("datetime").columns
    return frame.assign(**{name: (frame[name] - pd.Timestamp(0)) / pd.Timedelta(days=1) for name in dates})


def rivals(table: StrangeTable) -> dict[str, Any]:
    """What anyone would try first, predicting fresh rows."""
    X, fresh = in_days(table.X), in_days(table.fresh)
    numbers = list(X.select_dtypes("number").columns)
    known = make_column_transformer(
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), [c for c in X if c not in numbers]),
    )
    if table.classes:
        line = make_pipeline(known, LogisticRegression(max_iter=1000)).fit(X, table.y)
        share = pd.Series(table.y).value_counts(normalize=True)[line.classes_].to_numpy()
        return {"line": line.predict_proba(fresh), "mean": np.tile(share, (len(fresh), 1))}
    line = make_pipeline(known, RidgeCV(np.logspace(-10, 5, 31))).fit(X, table.y)
    return {"line": line.predict(fresh), "mean": np.full(len(fresh), table.y.mean())}


def loss(table: StrangeTable, predicted: np.ndarray) -> float:
    """Of fresh rows: root mean square over the deviation, or log loss."""
    if table.classes:
        return float(log_loss(table.truth, predicted, labels=np.unique(table.y)))
    return float(np.sqrt(np.mean((predicted.ravel() - table.truth) ** 2)) / (table.truth.std() or 1.0))


def close(found: Any, expected: np.ndarray, table: StrangeTable) -> None:
    """Whether numbers agree, relative to how large they are, up to the rounding of columns far from zero."""
    numbers = in_days(table.X).select_dtypes("number")
    far = (numbers.abs().max() / numbers.std().replace(0, np.inf)).max()
    within = 1e-8 + 1e-14 * (0.0 if np.isnan(far) else far)
    size = np.abs(expected).max() or 1.0
    np.testing.assert_allclose(np.asarray(found, dtype=float), expected, rtol=0, atol=within * size)


@pytest.mark.parametrize("name", KINDS)
def test_a_default_and_its_readers(name: str, tmp_path: Path) -> None:
    table, model = fitted(name)
    ours = loss(table, answers(model, table.fresh))
    for rival, predicted in rivals(table).items():
        assert ours <= BEHIND * loss(table, predicted) + 1e-9, (rival, model.selection_.sentence)

    # The stored file predicts the same, and its error on the training rows is that of the record or lower.
    model.save(tmp_path / "m.ladder")
    stored = load(tmp_path / "m.ladder")
    np.testing.assert_array_equal(answers(stored, table.fresh), answers(model, table.fresh))
    if table.classes:
        seen = log_loss(table.y, stored.predict_proba(table.X), labels=stored.classes_)
    else:
        seen = np.mean((stored.predict(table.X) - table.y) ** 2) / (table.y.var() or 1.0)
    assert seen <= 2 * stored.selection_.error + 1e-8

    some = table.fresh[:EXPORTED]
    explained = stored.explain(some[:3]).contributions
    outputs = stored.decision_function(some[:3]) if table.classes else stored.predict(some[:3])
    total = explained.start + explained.values.sum(1)
    low, high = (-np.inf, np.inf) if table.classes else stored.target_.guard_range
    close(np.clip(total.ravel(), float(low), float(high)), outputs.ravel(), table)

    with sqlite3.connect(":memory:") as database:
        # Dates are texts there.
        some.assign(id=range(len(some))).to_sql("rows", database, index=False)
        found = sorted(database.execute(str(to_source(stored, "sql", key="id"))).fetchall())
    expected = answers(stored, some)
    close([row[-expected.shape[1] :] for row in found], expected, table)
    close(run_onnx(to_onnx(stored, tmp_path / "m.onnx"), in_days(some), expected.shape[1]), expected, table)

    best = maximize(stored, max_seconds=0.1)
    rows = stored.decision_function(table.X) if table.classes else stored.predict(table.X)
    rows = rows if rows.ndim == 1 else rows[:, 0]
    assert best.bound >= best.value >= rows.max() - 1e-9 * (np.abs(rows).max() or 1.0)


def run_onnx(path: str, rows: pd.DataFrame, outputs: int) -> np.ndarray:
    """What ONNX Runtime says of rows."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    if len(inputs) == 1 and inputs[0].name == "rows":
        given = {"rows": rows.to_numpy(dtype=float)}
    else:
        text = {i.name: "string" in i.type for i in inputs}
        given = {
            name: rows[[name]].astype(object if text[name] else float).to_numpy() for name in (i.name for i in inputs)
        }
    last = session.run(None, given)[-1]
    return np.asarray(last).reshape(len(rows), outputs)
