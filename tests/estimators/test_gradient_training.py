import warnings
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from polyladder import BatchedGridSearchCV, FeedforwardRegressor, GradientTraining, LPNNClassifier, LPNNRegressor, load
from polyladder.estimators.gradient_training import SETTINGS, check_steps, old_settings, steps_of
from tests.estimators.small import rows

SMALL: dict[str, Any] = {"order": 2, "width": 3, "solver": "adam", "max_iter": 3, "random_state": 0}
OLD: dict[str, Any] = {
    "learning_rate": 2e-2,
    "batch_size": 16,
    "dropout": 0.3,
    "batch_norm": False,
    "validation_fraction": 0.2,
}
NEW = GradientTraining(**OLD)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"learning_rate": 0.0}, "a float in the range (0, inf). Got 0.0"),
        ({"learning_rate": float("nan")}, "a float in the range (0, inf). Got nan"),
        ({"batch_size": 0}, "an int in the range [1, inf) or 'auto'. Got 0"),
        ({"batch_size": 2.5}, "an int in the range [1, inf) or 'auto'. Got 2.5"),
        ({"dropout": 1.0}, "a float in the range [0, 1). Got 1.0"),
        ({"batch_norm": "no"}, "True or False. Got 'no'"),
        ({"validation_fraction": -0.1}, "a float in the range [0, 1). Got -0.1"),
    ],
)
def test_settings_out_of_range_are_refused_where_they_are_written(change: Any, words: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - compared in full below
        GradientTraining(**change)
    assert str(refused.value) == f"The {next(iter(change))!r} parameter of GradientTraining must be {words} instead."


def test_settings_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        NEW.dropout = 0.0  # type: ignore[misc]
    assert tuple(field.name for field in fields(NEW)) == SETTINGS


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("Model", [LPNNRegressor, LPNNClassifier])
def test_every_old_keyword_has_its_effect_and_says_the_new_spelling(Model: Any, name: str) -> None:
    X, y = rows(40)
    y = y if Model is LPNNRegressor else y > np.median(y)
    with pytest.warns(DeprecationWarning, match=rf"{name} of {Model.__name__} moved: write gradient=") as said:
        old = Model(**SMALL, **{name: OLD[name]}).fit(X, y)
    assert f"GradientTraining({name}={OLD[name]!r})" in str(said[0].message)
    assert said[0].filename == __file__
    new = Model(**SMALL, gradient=GradientTraining(**{name: OLD[name]})).fit(X, y)
    np.testing.assert_array_equal(old.polynomial_(old.inputs(X)), new.polynomial_(new.inputs(X)))
    usual = Model(**SMALL).fit(X, y)
    assert abs(old.polynomial_(old.inputs(X)) - usual.polynomial_(usual.inputs(X))).max() > 1e-6


def test_what_is_usual_says_nothing_as_in_files_of_version_0_1() -> None:
    usual = {name: vars(GradientTraining())[name] for name in SETTINGS}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LPNNRegressor(**{**SMALL, "solver": "alternating"}, **usual).fit(*rows(40))
    assert old_settings(LPNNRegressor(**usual)) == {}
    assert steps_of(LPNNRegressor(**usual), NEW) == NEW
    assert steps_of(LPNNRegressor(), NEW) == NEW


def test_a_file_of_version_0_1_holds_the_old_keywords_and_can_be_fitted_again() -> None:
    model = load(Path(__file__).parents[1] / "fixtures" / "lpnn_regressor_0_1.ladder")
    assert (model.dropout, model.gradient) == (0.1, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(*rows(40))
    with pytest.warns(DeprecationWarning, match=r"GradientTraining\(dropout=0.5\)"):
        model.set_params(solver="adam", dropout=0.5, max_iter=2).fit(*rows(40))


def test_settings_that_are_given_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="dropout of LPNNRegressor must be given within gradient alone; got both"):
        LPNNRegressor(**SMALL, dropout=0.5, gradient=NEW).fit(*rows(40))


def test_settings_are_a_parameter_like_others(tmp_path: Path) -> None:
    model = LPNNRegressor(**SMALL, gradient=NEW)
    assert model.get_params()["gradient"] is NEW
    assert clone(model).gradient == NEW
    model.set_params(gradient=replace(NEW, dropout=0.0)).fit(*rows(40))
    assert "dropout=0.0" in repr(model)
    model.save(tmp_path / "m.ladder")
    again = load(tmp_path / "m.ladder")
    assert again.gradient == replace(NEW, dropout=0.0)
    np.testing.assert_array_equal(again.predict(rows(40)[0]), model.predict(rows(40)[0]))


def test_settings_are_an_axis_of_a_grid() -> None:
    grid = {"gradient": [replace(NEW, learning_rate=rate) for rate in (1e-6, 5e-2)]}
    search = BatchedGridSearchCV(LPNNRegressor(**{**SMALL, "max_iter": 20}), grid, cv=2).fit(*rows(60))
    assert search.best_params_["gradient"].learning_rate == 5e-2


def test_rivals_are_checked_by_the_settings_that_they_have() -> None:
    check_steps(FeedforwardRegressor(learning_rate=-1.0), ["dropout"])
    with pytest.raises(ValueError, match="'learning_rate' parameter of FeedforwardRegressor must be"):
        check_steps(FeedforwardRegressor(learning_rate=-1.0), ["dropout", "learning_rate"])
