"""A posterior's ladder has no more weights than its rows can hold in place."""

import warnings

import numpy as np
import pytest
import torch

from polyladder import BayesianLPNNRegressor
from polyladder.estimators.posterior_size import (
    ENOUGH_ROWS,
    LEAST_ROWS,
    MOST_SECONDS,
    WEIGHTS_PER_ROW,
    PosteriorSize,
    count_weights,
    draw_seconds,
    posterior_size,
    rows_in_time,
    too_wide,
    usual_sweeps,
    usual_width,
)
from polyladder.estimators.rows import TrainingRows
from polyladder.training.losses.squared import SQUARED
from polyladder.training.solves.alternating import random_start


def rows(n: int, d: int) -> TrainingRows:
    return TrainingRows(torch.zeros(n, d), torch.zeros(n, 1), None, 1, SQUARED)


@pytest.mark.parametrize(("inputs", "width", "order", "outputs"), [(6, 8, 6, 1), (3, 2, 2, 4), (1, 5, 3, 2)])
def test_weights_are_counted_as_a_ladder_has_them(inputs: int, width: int, order: int, outputs: int) -> None:
    ladder = random_start(inputs, (width,) * (order - 1), outputs, [0], 1)[0]
    tensors = (*ladder.W, *ladder.b, *ladder.V, ladder.readout, ladder.offset)
    assert count_weights(inputs, width, order, outputs) == sum(t.numel() for t in tensors)


def test_few_rows_narrow_the_ladder_and_turn_relevance_on() -> None:
    assert posterior_size(rows(400, 6), 6, None, None) == PosteriorSize(8, False)
    assert posterior_size(rows(5000, 6), 6, None, None) == PosteriorSize(12, False)
    few = posterior_size(rows(200, 10), 6, None, None)
    assert few.relevance
    assert count_weights(10, few.width, 6, 1) <= WEIGHTS_PER_ROW * 200 < count_weights(10, few.width + 1, 6, 1)
    assert posterior_size(rows(100, 60), 6, None, None) == PosteriorSize(2, True)


def test_wide_tables_get_narrower_ladders_and_then_fewer_draws() -> None:
    wide = rows(30_000, 100)
    free, held = posterior_size(wide, 6, None, None), posterior_size(wide, 6, None, None, sweeps=200)
    assert held.width < free.width
    assert 200 * draw_seconds(wide, 6, held.width) <= MOST_SECONDS < 200 * draw_seconds(wide, 6, held.width + 1)
    assert usual_sweeps(rows(300, 10), 6, 4) == 50
    assert usual_sweeps(rows(30_000, 10), 6, 4) == 25
    assert 10 <= usual_sweeps(rows(3000, 900), 6, 4) < 50


def test_many_rows_are_sampled_before_the_ladder_gets_narrower() -> None:
    small, long, wide, images = rows(5000, 10), rows(1_000_000, 20), rows(60_000, 60), rows(60_000, 784)
    assert rows_in_time(small, 6, 4) == 5000
    assert ENOUGH_ROWS <= rows_in_time(long, 6, 4) < 1_000_000
    assert rows_in_time(wide, 6, 4) >= ENOUGH_ROWS
    assert LEAST_ROWS <= rows_in_time(images, 6, 4) < ENOUGH_ROWS
    for table in (long, wide, images):
        some = rows(rows_in_time(table, 6, 4), table.z.shape[1])
        sweeps = 8 * usual_sweeps(some, 6, 4)
        size = posterior_size(some, 6, None, None, sweeps)
        # Factorizing the Gram matrices of 784 inputs comes on top.
        assert sweeps * draw_seconds(some, 6, size.width) <= 1.5 * MOST_SECONDS
    assert posterior_size(rows(rows_in_time(long, 6, 4), 20), 6, None, None, 200).width == usual_width(long)


def test_rows_that_are_left_out_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    options = {"order": 2, "chains": 1, "warmup": 1, "draws": 4, "random_state": 0}
    monkeypatch.setattr("polyladder.estimators.bayesian.rows_in_time", lambda rows, order, chains: 120)
    with pytest.warns(UserWarning, match="drawn from 120 of 300 rows: all of them would take more than 5 minutes"):
        model = BayesianLPNNRegressor(**options).fit(X, X[:, 0])
    assert np.corrcoef(model.predict(X), X[:, 0])[0, 1] > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The chains have not settled")
        BayesianLPNNRegressor(width=3, **options).fit(X, X[:, 0])


def test_more_columns_than_the_rows_can_hold_are_said() -> None:
    assert too_wide(rows(800, 100), 6) is None
    X = np.random.default_rng(0).normal(size=(30, 40))
    with pytest.warns(UserWarning, match="40 inputs are many for a posterior of 30 rows"):
        BayesianLPNNRegressor(order=2, chains=1, warmup=1, draws=4, random_state=0).fit(X, X[:, 0])


def test_blocks_too_wide_to_be_factorized_have_no_relevance() -> None:
    assert not posterior_size(rows(50, 3000), 3, None, None).relevance
    assert posterior_size(rows(50, 300), 3, None, None).relevance


def test_what_is_asked_for_is_kept() -> None:
    assert posterior_size(rows(50, 20), 6, 7, False) == PosteriorSize(7, False)


def test_a_word_that_is_no_bool_is_refused() -> None:
    with pytest.raises(ValueError, match="relevance"):
        BayesianLPNNRegressor(relevance="yes").fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
