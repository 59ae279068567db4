import numpy as np
import pandas as pd
import pytest

from polyladder import LPNNRegressor
from tests.export.estimators import NAMES, case, each, error


@pytest.mark.parametrize("name", each(*NAMES))
def test_inputs_are_those_that_training_made(name):
    model, rows, _ = case(name)
    assert error(model.model_.inputs(rows).numpy(), model.features_.transform_table(model.read_table(rows))) < 1e-12


def test_arrays_are_read_by_position_and_gaps_are_refused():
    model, rows, _ = case("numbers")
    matrix = rows.to_numpy().copy()
    assert error(model.model_.inputs(matrix).numpy(), model.inputs(rows).numpy()) == 0
    matrix[3, 1] = np.nan
    strict = LPNNRegressor(order=2, width=2, missing="error", random_state=0).fit(rows, rows["flat (m)"]).model_
    with pytest.raises(ValueError, match="NaN, first in row 4 of column 'often zero'"):
        strict.inputs(matrix)
    with pytest.raises(ValueError, match=r"must have shape \(rows, 3\), as in training; got \(40, 2\)"):
        strict.inputs(np.ones((40, 2)))
    with pytest.raises(ValueError, match="it lacks 'often zero'"):
        strict.inputs(rows.drop(columns="often zero"))


def test_dates_are_read_where_there_were_some_and_else_refused():
    model, rows, _ = case("numbers")
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40), "x": np.arange(40.0) % 7})
    dated = LPNNRegressor(order=2, width=2, random_state=0).fit(days, days["x"])
    assert dated.model_.columns[0].reading.kind == "date"
    assert error(dated.model_.inputs(days).numpy(), dated.inputs(days).numpy()) == 0
    with pytest.raises(ValueError, match="'often zero' must hold numbers, as in training; got dates"):
        model.model_.inputs(rows[:3].assign(**{"often zero": pd.Timestamp("2024-01-05")}))
    with pytest.raises(ValueError, match="'day' must hold dates, as in training; got numbers"):
        dated.model_.inputs(days.assign(day=1.0))
