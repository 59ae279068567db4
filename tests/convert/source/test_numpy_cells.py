import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder import LPNNRegressor
from polyladder.convert.source.numpy import numpy_source
from polyladder.export.interval import with_interval
from polyladder.fitted.model import fitted_model
from tests.export.cells import (
    BASE,
    REFUSED,
    REFUSED_STYLES,
    as_numbers,
    error,
    models,
    predicted,
    rows,
)


def module_of(model):
    module = {}
    exec(compile(str(numpy_source(fitted_model(model))), "model.py", "exec"), module)
    return module


@pytest.mark.parametrize("name", ["small", "default"])
def test_cells_are_read_as_predict_reads_them(name):
    predict = module_of(models()[name])["predict"]
    given = rows(fixed=False)
    assert error(predict(given), predicted(name, fixed=False)) < 1e-12
    assert error(predict(given.to_pandas()), predicted(name, fixed=False)) < 1e-12
    assert error(predict(given.rows()), predicted(name, fixed=False)) < 1e-12
    assert error(predict(as_numbers(given, name)), predicted(name, fixed=False)) < 1e-12


def test_intervals_read_cells_as_predictions_do():
    model = models()["default"]
    given = rows(fixed=False)
    said = model.predict_distribution(as_numbers(given, "default"))
    found = module_of(with_interval(model.model_, 90))["predict"](given)
    assert error(found, np.stack([said.mean, *said.interval(0.9), said.scale[:, 0]], 1)) < 1e-12


def test_cells_that_predict_refuses_are_refused():
    predict = module_of(models()["small"])["predict"]
    for column, cell in REFUSED + REFUSED_STYLES:
        with pytest.raises(ValueError, match=f"Column '{column}' must hold .* in row 2"):
            predict(pl.DataFrame([BASE, BASE | {column: cell}]))


def test_dates_of_python_numpy_pandas_and_polars():
    predict = module_of(models()["small"])["predict"]
    expected = predict(pl.DataFrame([BASE]))
    day, sold = datetime.date(2021, 3, 4), datetime.datetime(2021, 3, 4, 10, 30)
    plain = {name: [cell] for name, cell in BASE.items()}
    for made in (
        {**plain, "day": [day], "sold": [sold]},
        {**plain, "day": np.array([day], "M8[D]"), "sold": np.array([sold], "M8[ns]")},
        pd.DataFrame({**plain, "day": pd.to_datetime([day]), "sold": pd.to_datetime([sold])}),
        pl.DataFrame({**plain, "day": [day], "sold": [sold]}),
    ):
        assert predict(made) == expected
    with pytest.raises(ValueError, match="'age' must hold numbers"):
        predict({**plain, "age": np.array([day], "M8[D]")})
    with pytest.raises(ValueError, match="'age' must hold numbers"):
        predict({**plain, "age": [day]})


def test_gaps_of_every_library_are_gaps():
    predict = module_of(models()["small"])["predict"]
    expected = predict(pl.DataFrame([BASE | {"age": None, "sex": None}]))
    plain = {name: [cell] for name, cell in BASE.items()}
    for age in ([None], [np.nan], pd.array([None], "Float64"), np.ma.masked_array([7.0], [True]), [pd.NA], [""]):
        assert predict({**plain, "age": age, "sex": pd.array([None], "string")}) == expected
    with pytest.raises(ValueError, match=r"'age' must hold finite numbers; got .*inf.* in row 1"):
        predict({**plain, "age": [np.inf]})


def test_a_frame_may_have_categories_that_no_file_has():
    X = pd.DataFrame({"a": ["x", " x", "NA", "y"] * 10, "b": np.arange(40.0)})
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(
        X, X["b"] * (X["a"] == "NA")
    )
    predict = module_of(model)["predict"]
    assert error(predict(X)[:, 0], model.predict(X)) < 1e-12
    assert predict({"a": ["x  "], "b": [3.0]}) == predict({"a": ["x"], "b": [3.0]})
