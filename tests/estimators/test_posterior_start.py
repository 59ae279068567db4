import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import make_friedman1

import polyladder
from polyladder import BayesianLPNNRegressor, LPNNRegressor
from polyladder.estimators import posterior_start
from polyladder.estimators.posterior import Posterior
from polyladder.estimators.posterior_start import (
    FEWEST_ROWS,
    SelectedStart,
    selected_draws,
    selected_start,
    spread,
    with_selected,
)
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.targets import NumberTarget
from polyladder.fitted.features import Features
from polyladder.tables.table import matrix_table
from polyladder.training.losses.squared import SQUARED
from polyladder.training.students.student import Form
from tests.ladders import random_ladder, rows

SETTINGS = {"clip": True, "missing": "impute"}
GAUSSIAN = (math.inf,)


def small_start() -> SelectedStart:
    """Three inputs, the last of which is taken for a ramp; 60 rows, 40 of them compared."""
    ladder, z = random_ladder(3, (4, 5), 2), rows(60, 3)
    y = ladder(z) + 0.2 * rows(60, 2, seed=7)
    all_rows = TrainingRows(z, y, None, 2, SQUARED)
    target = NumberTarget.learn(y.numpy(), None)
    compared = all_rows.take(torch.arange(40))
    errors = 0.2 * rows(40, 2, seed=8)
    return SelectedStart(Features(), target, ladder, np.arange(2), all_rows, compared, errors)


def sampled(inputs: int, draws: int) -> Posterior:
    """Two chains of ladders of two outputs whose noise has no slopes."""
    weights = random_ladder(inputs, (6,), 2, (draws,))
    noise = torch.linspace(0.1, 1, draws, dtype=torch.float64).unsqueeze(1).expand(-1, 2)
    none, precision = noise.new_zeros(draws, 2, 0), tuple(noise[:, :1].clone() for _ in range(3))
    return Posterior(weights, noise, torch.full_like(noise, math.inf), none, precision, 2)


@pytest.mark.slow
def test_draws_of_the_selected_ladder_say_what_it_says() -> None:
    start = small_start()
    found = selected_draws(start, GAUSSIAN, False, 2, 30, 0)
    z = rows(25, 3, seed=11)
    f, expected = found.weights(z), start.ladder(z)
    assert f.shape == (60, 25, 2)
    spread_of_draws = f.std(0)
    assert ((f.mean(0) - expected).abs() < 5 * spread_of_draws + 0.1).all()
    assert 0.005 < spread_of_draws.median() < 0.3
    torch.testing.assert_close(found.noise.median(0).values, start.errors.square().mean(0).sqrt(), rtol=0.2, atol=0)
    assert (found.weights.W[1] == start.ladder.W[1]).all()  # layers are fixed


def test_half_of_the_draws_are_sampled_ladders_and_half_the_selected_one() -> None:
    start, own = small_start(), sampled(2, 12)
    both = with_selected(own, start, GAUSSIAN, False, 0)
    z = rows(9, 3, seed=2)
    taught = selected_draws(start, GAUSSIAN, False, 2, 3, 0)
    expected = torch.cat([own.weights[0::2](z[:, :2]), taught.weights(z)])
    torch.testing.assert_close(both.weights(z), expected)
    torch.testing.assert_close(both.noise, torch.cat([own.noise[0::2], taught.noise]))
    assert [t.isinf().sum().item() for t in both.precision] == [6] * 3
    assert both.chains == 2
    odd = with_selected(sampled(2, 10), start, GAUSSIAN, False, 0)
    assert len(odd.weights) == 10  # of five draws of a chain three are kept


def test_slopes_stay_with_their_inputs() -> None:
    slopes = torch.arange(4.0).reshape(1, 1, 4)  # of two inputs, then of their squares
    assert spread(slopes, np.array([0, 2]), 3).flatten().tolist() == [0, 0, 1, 2, 0, 3]
    assert spread(slopes[..., :0], np.array([0, 2]), 3).shape == (1, 1, 0)


def test_noise_that_follows_inputs_has_slopes_of_plain_ones_alone() -> None:
    found = selected_draws(small_start(), (4.0, math.inf), True, 2, 4, 0)
    assert found.slopes.shape == (8, 2, 6)
    assert (found.slopes[..., [2, 5]] == 0).all()
    assert (found.slopes[..., [0, 1, 3, 4]] != 0).any()


def test_few_rows_are_not_selected_on() -> None:
    X = rows(FEWEST_ROWS - 1, 2).numpy()
    assert selected_start(matrix_table(X), X[:, 0], None, SETTINGS, 0) is None
    again = np.repeat(X, 2, axis=0)  # more rows, but no more different ones
    assert selected_start(matrix_table(again), again[:, 0], None, SETTINGS, 0) is None


@pytest.mark.slow
def test_errors_are_those_of_rows_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as large as errors on new rows, which those at the training rows are not."""
    X, y = make_friedman1(700, n_features=8, noise=1.0, random_state=1)
    monkeypatch.setattr(posterior_start, "FORMS", replace(posterior_start.FORMS, forms=(Form(4, 14),), points=4000))
    start = selected_start(matrix_table(X[:150]), y[:150], None, SETTINGS, 0)
    assert start is not None
    target, new = start.target, torch.from_numpy(start.features.transform(X[150:]))
    said = target.guarded(start.ladder(new)) - target.encode(y[150:])
    inside = start.ladder(start.rows.z) - start.rows.y
    left_out, unseen = start.errors.square().mean().sqrt(), said.square().mean().sqrt()
    assert inside.square().mean().sqrt() < 0.85 * left_out
    assert 0.85 < left_out / unseen < 1.2
    assert len(start.compared.z) == len(start.errors) == 150


@pytest.mark.slow
def test_a_posterior_begins_with_a_selection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior_start, "FORMS", replace(posterior_start.FORMS, forms=(Form(4, 14),), points=4000))
    X, y = make_friedman1(600, n_features=5, noise=0.5, random_state=0)
    short = {"chains": 2, "draws": 20, "random_state": 0}
    model = BayesianLPNNRegressor(**short).fit(X[:200], y[:200])
    single = LPNNRegressor(random_state=0).fit(X[:200], y[:200])
    errors = [np.sqrt(np.mean((each.predict(X[200:]) - y[200:]) ** 2)) for each in (model, single)]
    assert errors[0] < 1.05 * errors[1]
    low, high = model.predict_interval(X[200:], 0.9)
    assert 0.82 < ((low < y[200:]) & (y[200:] < high)).mean() < 0.97
    assert len(model.posterior_.weights) == 40
    assert model.order_ == model.posterior_.weights.order
    assert model.diagnostics_.draws == 40
    model.save(tmp_path / "model.ladder")
    again = polyladder.load(tmp_path / "model.ladder")
    np.testing.assert_array_equal(again.predict(X[200:220]), model.predict(X[200:220]))


@pytest.mark.slow
def test_what_is_given_is_not_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior_start, "FORMS", replace(posterior_start.FORMS, forms=(Form(3, 10),), points=2000))
    monkeypatch.setattr(posterior_start, "MOST_COST", math.inf)
    X, y = make_friedman1(80, n_features=5, random_state=0)
    short = {"chains": 1, "warmup": 2, "draws": 6, "random_state": 0}
    for given in ({"order": 3}, {"width": 3}, {"features": "quantile"}, {"selection": False}):
        model = BayesianLPNNRegressor(**short, **given).fit(X, y)
        assert all((t.isfinite()).all() for t in model.posterior_.precision)
    model = BayesianLPNNRegressor(order=3, width=3, selection=True, **short)
    model.fit(X, np.stack([y, -y], 1), sample_weight=np.full(80, 2.0))
    assert model.predict(X).shape == (80, 2)
    assert all(t.isinf().any() for t in model.posterior_.precision)


def test_a_selection_that_nothing_would_read_is_refused() -> None:
    for wrong in ({"selection": "yes"}, {"selection": True, "inference": "variational"}):
        with pytest.raises(ValueError, match="selection"):
            BayesianLPNNRegressor(**wrong).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])


@pytest.mark.slow
def test_weights_of_rows_count_in_both_halves() -> None:
    start = small_start()
    heavy = replace(start, rows=replace(start.rows, weight=torch.full((60,), 16.0, dtype=torch.float64)))
    light, firm = (selected_draws(each, GAUSSIAN, False, 4, 40, 0).weights.readout.std(0) for each in (start, heavy))
    assert 3 < (light / firm).median() < 5


@pytest.mark.slow
def test_a_line_is_taken_as_it_is() -> None:
    X = rows(80, 2).numpy()
    y = 3 * X[:, 0] - X[:, 1] + 0.5 * rows(80, 1, seed=6).numpy()[:, 0]
    start = selected_start(matrix_table(X), y, None, SETTINGS, 0)
    assert start is not None
    assert start.ladder.order == 2
    z = start.rows.z
    second = start.ladder(z[:5] + 2) - 2 * start.ladder(z[:5]) + start.ladder(z[:5] - 2)
    torch.testing.assert_close(second, torch.zeros_like(second), atol=1e-9, rtol=0)
