"""Spreads that came out of files: what does not fit the model is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from polyladder import LPNNRegressor
from polyladder.estimators.restored import check_restored
from polyladder.fitted.plan import Feature
from polyladder.fitted.spread import GroupWidths
from polyladder.fitted.steps import Clip, IsMissing
from polyladder.predictive.conformal import Calibrated
from tests.estimators.small import TINY, rows


def calibrated() -> Any:
    X, y = rows(120)
    noise = 0.1 * np.random.default_rng(0).standard_normal(120)
    return LPNNRegressor(**TINY).fit(X[:60], y[:60]).calibrate(X[60:], (y + noise)[60:])


def test_what_was_learned_fits() -> None:
    check_restored(calibrated())


@pytest.mark.parametrize(
    "change",
    [
        lambda s: {"log_scale": s.log_scale.map(Tensor.float)},
        lambda s: {"log_scale": s.log_scale.map(lambda t: t.unsqueeze(0))},
        lambda s: {"low": s.low[:0]},
        lambda s: {"high": s.high * float("nan")},
        lambda s: {"beyond": s.beyond[:-1]},
        lambda s: {"beyond": (*s.beyond[:-1], Feature(7, (Clip(0.0, 1.0),)))},
        lambda s: {"beyond": (*s.beyond[:-1], Feature(0, (IsMissing(),)))},
        lambda s: {"growth": s.growth.numpy()},
        lambda s: {"degrees": torch.zeros(1).double()},
        lambda s: {"widths": Calibrated(s.widths.levels, s.widths.widths.expand(-1, 2))},
        lambda s: {"rows": "many"},
        lambda s: {"groups": GroupWidths(0, {})},
    ],
)
def test_what_does_not_fit_is_refused(change: Any) -> None:
    model = calibrated()
    model.spread_ = replace(model.spread_, **change(model.spread_))
    with pytest.raises(ValueError, match="spread_ is not what it should be"):
        check_restored(model)


def test_another_thing_in_its_place_is_refused() -> None:
    model = calibrated()
    model.spread_ = {"log_scale": 1}
    with pytest.raises(ValueError, match="spread_ is not what it should be"):
        check_restored(model)
