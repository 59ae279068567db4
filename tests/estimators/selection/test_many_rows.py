from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polyladder import LPNNClassifier, load
from polyladder.estimators.ladder import SELECT_ROWS, SELECT_SCORES
from polyladder.estimators.selection.many_rows import (
    IMAGE_COLUMNS,
    REACH,
    held_out,
    of_one_range,
    training_features,
)
from polyladder.fitted.features import Features
from polyladder.tables.table import Table
from polyladder.training.kernels.relevance import Array
from tests.estimators.selection.problems import OPTIONS

ROWS = SELECT_ROWS + 1000


def checkers(seed: int = 0) -> tuple[Array, Array]:
    """Jumps that no line follows: fields of a board, one label in ten wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(ROWS, 3))
    y = (np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])) % 2
    return X, np.where(rng.uniform(size=ROWS) < 0.1, 1 - y, y)


def table(numbers: Array) -> Table:
    d = numbers.shape[1]
    return Table(numbers, {}, tuple(range(d)), tuple(f"x{i}" for i in range(d)))


@pytest.mark.slow
def test_trained_ladders_follow_jumps_and_are_one_polynomial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y = checkers()
    model = LPNNClassifier(random_state=0, verbose=1, compact=False).fit(X, y)
    clean = (np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])) % 2
    assert (model.predict(X) == clean).mean() > 0.93
    assert model.solver_ == "adam"
    assert model.order_ == 5
    assert model.thresholds_ is not None
    assert model.predict_distribution(X).sets(0.95)[np.arange(ROWS), y.astype(int)].mean() > 0.94
    assert model.selection_.floor == ""
    assert {each.model for each in model.selection_.candidates} == {"constant", "linear", "ladder"}
    assert model.n_iter_ == len(model.loss_curve_) > 1
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    assert "1 ladder of 64 units" in capsys.readouterr().err
    model.save(tmp_path / "board.ladder")
    np.testing.assert_allclose(load(tmp_path / "board.ladder").predict_proba(X[:50]), model.predict_proba(X[:50]))
    before = model.predict_proba(X[:50])
    model.partial_fit(X[:500], y[:500])
    assert 0 < np.abs(model.predict_proba(X[:50]) - before).max() < 0.2
    assert (model.trust(X[:50]) > 0.5).all()


@pytest.mark.slow
def test_noise_is_answered_by_a_constant_and_a_line_by_a_line() -> None:
    rng = np.random.default_rng(0)
    X, fair = rng.normal(size=(ROWS, 4)), rng.integers(0, 2, ROWS)
    settings = {"max_iter": 3, "width": 16, "random_state": 0}
    noise = LPNNClassifier(**settings).fit(X, fair)
    assert noise.selection_.floor == "constant"
    assert np.abs(noise.predict_proba(X) - 0.5).max() < 0.05
    line = LPNNClassifier(**settings).fit(X, X[:, 0] - X[:, 1] + rng.logistic(size=ROWS) > 0)
    winner = line.selection_.winner
    assert line.selection_.error < min(c.error for c in line.selection_.candidates if c.model == "linear") + 1e-3, (
        winner
    )


@pytest.mark.slow
def test_few_rows_of_many_classes_are_trained_too() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, SELECT_SCORES // 40 + 100)
    X = rng.normal(size=(40, 3))[y] + 0.1 * rng.normal(size=(len(y), 3))
    model = LPNNClassifier(random_state=0, max_seconds=1.0).fit(X, y)
    assert model.solver_ == "adam"
    assert model.score(X, y) > 0.8


@pytest.mark.slow
def test_repetitions_and_weights_agree() -> None:
    X, y = checkers(1)
    times = np.random.default_rng(0).integers(1, 3, ROWS)
    settings = {"max_iter": 1, "width": 4, "n_estimators": 1, "random_state": 0}
    weighted = LPNNClassifier(**settings).fit(X, y, sample_weight=times)
    repeated = LPNNClassifier(**settings).fit(np.repeat(X, times, 0), np.repeat(y, times))
    np.testing.assert_array_equal(weighted.predict_proba(X[:100]), repeated.predict_proba(X[:100]))
    other = LPNNClassifier(**settings | {"random_state": 1}).fit(X, y, sample_weight=times)
    assert np.abs(weighted.predict_proba(X[:100]) - other.predict_proba(X[:100])).max() > 1e-3


def test_every_class_is_held_out_evenly_and_none_as_a_whole() -> None:
    codes = np.repeat([0, 1, 2], [900, 99, 1])
    inside, held = held_out(codes, 100, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.r_[inside, held]), np.arange(1000))
    np.testing.assert_array_equal(np.bincount(codes[held], minlength=3), [90, 9, 0])
    assert len(held_out(np.arange(50), 5, np.random.default_rng(0))[1]) == 5


@pytest.mark.parametrize("columns", [3, 20])
def test_columns_get_ramps_where_these_are_affordable(columns: int) -> None:
    rng = np.random.default_rng(0)
    narrow = training_features(table(rng.normal(size=(500, columns))), np.ones(500), OPTIONS)
    assert narrow.ramps_ is not None
    phased = replace(OPTIONS, features=Features(missing="error", periods={"x0": 3}))
    turned = training_features(table(rng.normal(size=(500, columns))), np.ones(500), phased)
    assert len(turned.waves_) == 2
    assert 0 not in turned.kept_[turned.ramps_.column]
    assert training_features(table(rng.normal(size=(500, 120))), np.ones(500), OPTIONS).ramps_ is None
    assert (
        training_features(table(rng.normal(size=(500, columns))), np.ones(500), replace(OPTIONS, ramped=False)).ramps_
        is None
    )


def test_rare_ones_stay_within_reach_and_pixels_are_scaled_as_a_whole() -> None:
    rng = np.random.default_rng(0)
    rare = np.c_[rng.normal(size=1000), np.arange(1000) == 7]
    assert np.abs(training_features(table(rare), np.ones(1000), OPTIONS).transform_table(table(rare))).max() <= REACH
    pixels = rng.integers(0, 256, size=(2000, IMAGE_COLUMNS)).astype(float)
    pixels[0], pixels[1] = 0.0, 255.0
    image = training_features(table(pixels), np.ones(2000), OPTIONS)
    assert image.whole
    assert len(np.unique(image.scaler_.scale_)) == 1
    assert not training_features(table(pixels[:, 1:]), np.ones(2000), OPTIONS).whole


def test_a_column_without_numbers_has_no_range() -> None:
    pixels = np.tile([[0.0], [255.0], [9.0]], (1, IMAGE_COLUMNS))
    assert of_one_range(table(np.c_[pixels, np.full(3, np.nan)]))
    assert not of_one_range(table(np.c_[pixels[:, 1:], np.full(3, np.nan)]))
