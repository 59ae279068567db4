import numpy as np
import pandas as pd
import pytest
import torch

from polyladder.convert.onnx.model import onnx_model
from polyladder.fitted.model import FittedModel, fitted_model, ladder_model
from tests.convert.onnx.run import run, table
from tests.export.estimators import NAMES, case, each, error, fitted, piecewise
from tests.ladders import random_ladder


@pytest.mark.parametrize("name", each(*NAMES, "selected", "piecewise", "intervals", "selected intervals"))
def test_agrees_with_predict(name):
    model, rows, answers = case(name)
    found = run(onnx_model(fitted_model(model)), rows)
    assert error(table(found), answers) < 1e-12
    if "label" in found:
        assert found["label"].tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize("name", each(*NAMES, "piecewise", "intervals"))
def test_agrees_in_single_precision(name):
    """At rows that single precision can hold: at a jump of quantiles another row is another prediction."""
    model, rows, answers = case(name)
    numbers = [c for c in rows.columns if rows[c].dtype.kind == "f"]
    held = rows.assign(**{c: rows[c].astype(np.float32).astype(np.float64) for c in numbers})
    if isinstance(model, FittedModel):
        answers = table(run(onnx_model(model), held))
    elif hasattr(model, "classes_"):
        answers = model.predict_proba(held)
    elif name == "posterior":
        answers = np.stack(model.predict(held, return_std=True), 1)
    else:
        answers = model.predict(held).reshape(len(held), -1)
    found = table(run(onnx_model(fitted_model(model), "float32"), held, np.float32))
    assert found.dtype == np.float32
    assert error(found, answers) < 1e-5


def test_any_number_of_rows_and_only_standard_operators():
    model, rows, answers = piecewise()
    made = onnx_model(model)
    assert {node.domain for node in made.graph.node} == {""}
    for n in (1, 7):
        assert error(table(run(made, rows[:n])), answers[:n]) < 1e-12


def test_whole_numbers_stay_labels():
    model, rows = fitted("two classes")
    from polyladder import LPNNClassifier

    X = rows[:200]
    y = (X["flat (m)"] > 5).astype(int) + 3
    model = LPNNClassifier(order=2, width=2, max_iter=2, random_state=0).fit(X, y)
    assert run(onnx_model(fitted_model(model)), X)["label"].tolist() == model.predict(X).tolist()


def test_ladders_alone():
    p = random_ladder(d=3, m=2)
    x = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)))
    found = run(onnx_model(ladder_model(p)), x)["prediction"]
    assert error(found, p(torch.tensor(x.to_numpy())).numpy()) < 1e-12


def test_columns_may_have_any_names_but_those_of_outputs():
    from polyladder import LPNNRegressor

    X = pd.DataFrame({"c0": ["a", "b"] * 10, "v0_0_0": np.arange(20.0)})
    model = LPNNRegressor(order=2, width=2, n_estimators=1).fit(X, X["v0_0_0"])
    assert error(run(onnx_model(fitted_model(model)), X)["prediction"][:, 0], model.predict(X)) < 1e-12
    named = X.rename(columns={"c0": "prediction"})
    with pytest.raises(ValueError, match="must not be named prediction"):
        onnx_model(fitted_model(LPNNRegressor(order=2, width=2, n_estimators=1).fit(named, X["v0_0_0"])))


def test_an_empty_category_is_refused():
    from polyladder import LPNNRegressor

    X = pd.DataFrame({"a": ["", "b"] * 10, "c": np.arange(20.0)})
    model = LPNNRegressor(order=2, width=2, n_estimators=1).fit(X, X["c"])
    with pytest.raises(ValueError, match="empty text"):
        onnx_model(fitted_model(model))
