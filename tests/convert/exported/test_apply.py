import numpy as np
import pandas as pd
import pytest

from polyladder import LPNNRegressor
from polyladder.convert.exported.answers import Posterior
from polyladder.convert.exported.apply import answers_of, inputs_of
from polyladder.export.read import exported
from tests.export.estimators import NAMES, case, each, error


@pytest.mark.parametrize("name", each(*NAMES))
def test_inputs_are_those_of_the_estimator(name):
    model, rows, answers = case(name)
    description = exported(model)
    z = inputs_of(description.columns, description.features, rows)
    assert error(z, model.inputs(rows).numpy()) < 1e-14
    if "posterior" not in name:
        import torch

        outputs = description.ladders(torch.tensor(z)).mean(0).numpy()
        assert error(answers_of(description.answer, outputs), answers) < 1e-12


def test_arrays_are_read_by_position_and_gaps_are_refused():
    model, rows, _ = case("numbers")
    description = exported(model)
    matrix = rows.to_numpy().copy()
    z = inputs_of(description.columns, description.features, matrix)
    assert error(z, model.inputs(rows).numpy()) < 1e-14
    matrix[3, 1] = np.nan
    strict = exported(LPNNRegressor(order=2, width=2, missing="error", random_state=0).fit(rows, rows["flat (m)"]))
    with pytest.raises(ValueError, match="'often zero' must hold finite numbers; row 4"):
        inputs_of(strict.columns, strict.features, matrix)


def test_dates_are_read_where_there_were_some_and_else_refused():
    model, rows, _ = case("numbers")
    description = exported(model)
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40), "x": np.arange(40.0) % 7})
    dated = LPNNRegressor(order=2, width=2, random_state=0).fit(days, days["x"])
    known = exported(dated)
    assert known.columns[0].cells.kind == "date"
    assert error(inputs_of(known.columns, known.features, days), dated.inputs(days).numpy()) < 1e-14
    with pytest.raises(ValueError, match="'often zero' must hold numbers; got dates"):
        inputs_of(
            description.columns, description.features, rows[:3].assign(**{"often zero": pd.Timestamp("2024-01-05")})
        )


def test_draws_have_no_mean():
    with pytest.raises(ValueError, match="kept apart"):
        answers_of(Posterior(None, np.ones((2, 1)), np.ones((2, 1, 0)), 1.0), np.ones((1, 1)))
