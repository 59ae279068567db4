from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.export.interval import with_interval
from polyladder.fitted.answers import Numbers
from polyladder.fitted.model import FittedModel, fitted_model, ladder_model
from polyladder.fitted.spread import MOST_GROWTH, GroupWidths, Spread
from polyladder.polynomial.units import UnitSum, parts_of
from tests.export.estimators import case, error, fitted, spread_model, table
from tests.ladders import random_ladder


def expected(model: FittedModel, rows: pd.DataFrame, level: float) -> np.ndarray:
    said = model.predict_distribution(rows)
    parts = (said.mean, *said.interval(level), said.scale)
    return np.concatenate([np.asarray(each).reshape(len(rows), -1) for each in parts], 1)


def spread_of(model: FittedModel) -> Spread:
    assert isinstance(model.answer, Numbers)
    assert model.answer.spread is not None
    return model.answer.spread


def with_spread(model: FittedModel, **changes: object) -> FittedModel:
    """The model with another spread."""
    return replace(model, answer=replace(model.answer, spread=replace(spread_of(model), **changes)))


@pytest.mark.parametrize("percentage", [2, 90, 66.6, 99.5])
def test_it_says_what_the_distribution_says(percentage: float) -> None:
    """Between levels that were calibrated, below and above them."""
    model, rows = spread_model()
    made = with_interval(model, percentage)
    assert made.answer_names == tuple(
        f"prediction_{i}{kind}" for kind in ("", "_low", "_high", "_scale") for i in (1, 2)
    )
    assert error(made.predict(rows), expected(model, rows, percentage / 100)) < 1e-14


def test_the_rows_of_these_tests_reach_every_limit() -> None:
    model, rows = spread_model()
    spread, read = spread_of(model), model.read(rows)
    inside = spread.log_scale(model.inputs(rows))
    outside = torch.from_numpy(spread.plan(read)) @ spread.growth
    for reached in (inside < spread.low, inside > spread.high, outside > MOST_GROWTH, outside == 0):
        assert 0.02 < reached.double().mean() < 0.98


def test_what_has_no_further_inputs_or_no_layers() -> None:
    model, rows = spread_model()
    alone = with_spread(model, beyond=(), growth=torch.zeros(0, 2, dtype=torch.float64))
    line = replace(alone, ladders=random_ladder(3, (), 2, (3,)))
    for each in (alone, line):
        made = with_interval(each, 50)
        assert made.steps == model.steps
        assert error(made.predict(rows), expected(each, rows, 0.5)) < 1e-14


@pytest.mark.slow
def test_a_selected_model_keeps_its_sums_of_units_and_gets_one_more() -> None:
    model, _, answers = case("selected intervals")
    plain = fitted("selected")[0].model_
    assert model.answer_names == ("prediction", "prediction_low", "prediction_high", "prediction_scale")
    assert answers.shape[1] == 4
    before, after = ([isinstance(part, UnitSum) for part in parts_of(m.ladders)] for m in (plain, model))
    assert after == [*before, True]


@pytest.mark.parametrize("percentage", [0.9, 0, -5, 100, float("nan"), float("inf")])
def test_what_is_no_percentage_is_refused(percentage: float) -> None:
    with pytest.raises(ValueError, match=r"interval must be a percentage from 1 to below 100; got .*\. Take 90"):
        with_interval(spread_model()[0], percentage)


def test_models_without_a_spread_that_fits_are_refused() -> None:
    reasons = {"two classes": "for a model of classes", "posterior": "for a posterior"}
    for name, reason in (reasons | {"numbers": "the LPNNRegressor knows no errors"}).items():
        with pytest.raises(ValueError, match=f"interval must be left out:? {reason}"):
            with_interval(fitted_model(fitted(name)[0]), 90)
    with pytest.raises(ValueError, match="the LadderPolynomial knows no errors"):
        with_interval(ladder_model(random_ladder()), 90)


def test_groups_are_refused_by_the_name_of_their_column() -> None:
    model = spread_model()[0]
    grouped = with_spread(model, groups=GroupWidths(1, {"x": spread_of(model).widths}))
    with pytest.raises(ValueError, match="intervals of its own for each value of 'b'"):
        with_interval(grouped, 90)


def test_an_estimator_that_was_calibrated() -> None:
    X, y = table(120, 0)
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(X[:60], y[:60])
    model.calibrate(X[60:], y[60:])
    rows = table(200, 1)[0]
    found = with_interval(model.model_, 80).predict(rows)
    low, high = model.predict_interval(rows, 0.8)
    scale = model.predict_distribution(rows).scale[:, 0]
    assert error(found, np.stack([model.predict(rows), low, high, scale], 1)) < 1e-14
