import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from polyladder import LPNNRegressor
from polyladder.training.losses.huber import THRESHOLD, Huber

RNG = np.random.default_rng(2)
X = RNG.normal(size=(400, 3))
TRUTH = 5 + 10 * X[:, 0]
Y = TRUTH + RNG.normal(size=400)
Y[::10] += 500.0


def test_the_threshold_is_that_of_the_noise_and_zero_is_the_best_constant() -> None:
    model = LPNNRegressor(order=2, width=2, n_estimators=1, loss="huber", random_state=0)
    prepared = model._prepare(X, Y, None)
    target, rows = prepared.target, prepared.rows
    assert target.loss is rows.loss
    assert isinstance(rows.loss, Huber)
    # In units of the target: the noise has a standard deviation of 1, the targets one of about 150.
    assert rows.loss.thresholds[0] * target.scale.item() == pytest.approx(THRESHOLD, rel=0.3)
    torch.testing.assert_close(rows.y, target.encode(Y))
    assert rows.loss.constant(rows.y).abs().item() < 1e-9


def test_rows_of_weight_zero_do_not_count() -> None:
    weight = np.where(np.arange(400) % 10 == 0, 0.0, 1.0)
    model = LPNNRegressor(order=2, loss="huber", random_state=0)
    some, kept = model._prepare(X, Y, weight), weight > 0
    alone = model._prepare(X[kept], Y[kept], None)
    assert some.target.loss.thresholds == pytest.approx(alone.target.loss.thresholds, rel=1e-6)
    torch.testing.assert_close(some.target.mean, alone.target.mean)


def test_rows_given_twice_are_rows_of_weight_two() -> None:
    model, few = LPNNRegressor(order=2, loss="huber", random_state=0), slice(60)
    twice = model._prepare(np.r_[X[few], X[:20]], np.r_[Y[few], Y[:20]], None)
    weighted = model._prepare(X[few], Y[few], np.where(np.arange(60) < 20, 2.0, 1.0))
    assert twice.target.loss.thresholds == pytest.approx(weighted.target.loss.thresholds, rel=1e-9)


def test_squares_and_sparse_rows() -> None:
    assert LPNNRegressor(order=2)._prepare(X, Y, None).rows.loss.quadratic
    sparse = LPNNRegressor(order=2, solver="adam", loss="huber")._prepare(csr_matrix(X), Y, None)
    assert isinstance(sparse.rows.loss, Huber)
    # Without a first fit, the scale of the targets.
    assert sparse.rows.loss.thresholds[0] == pytest.approx(THRESHOLD, rel=0.2)
