"""QuadraticScale log scales: found where they are known, and equal to the ladders that they become."""

import numpy as np
import pytest
import torch

from polyladder.training.errors.quadratic import (
    DROPPED,
    LEAST_ROWS,
    QuadraticScale,
    few_directions,
    quadratic_scale,
    shares_of,
)

RNG = np.random.default_rng(1)


def test_a_quadratic_is_its_ladder() -> None:
    quadratic = QuadraticScale(RNG.standard_normal((3, 4)), np.array([1.0, -2.0, 0.5]), RNG.standard_normal(4), 0.7)
    z = RNG.standard_normal((20, 4))
    np.testing.assert_allclose(quadratic.ladder()(torch.from_numpy(z))[:, 0], quadratic(z), rtol=1e-12)
    np.testing.assert_allclose(quadratic.times(3.0, -1.0)(z), 3 * quadratic(z) - 1, rtol=1e-12)
    none = QuadraticScale(np.zeros((0, 4)), np.zeros(0), np.zeros(4), 0.7)
    np.testing.assert_allclose(none.ladder()(torch.from_numpy(z))[:, 0], 0.7)


def test_sums_over_landmarks_are_kept_but_for_what_hardly_changes() -> None:
    z, landmarks = RNG.standard_normal((200, 6)), RNG.standard_normal((9, 6))
    coefficients = np.r_[RNG.standard_normal(9), 0.3 * RNG.standard_normal(9), 0.2]
    along = z @ landmarks.T / 6
    known = along @ coefficients[:9] + (1 + along) ** 2 @ coefficients[9:18] + 0.2
    found = few_directions(z, landmarks, coefficients, np.ones(200))
    assert len(found.bends) < 6
    assert 0 < (found(z) - known).std() <= DROPPED
    assert (found(z) - known).mean() == pytest.approx(0.0, abs=1e-9)


def test_noise_that_grows_is_found_and_even_noise_stays_even() -> None:
    z = RNG.standard_normal((1500, 3))
    truth = 0.5 * z[:, 0] - 0.3 * z[:, 1] ** 2
    errors = np.exp(truth) * RNG.standard_normal(1500)
    found = quadratic_scale(z, errors, np.ones(1500), 0)
    assert np.corrcoef(found.scale(z), truth)[0, 1] > 0.95
    assert np.corrcoef(found.left_out, truth)[0, 1] > 0.9
    even = quadratic_scale(z, RNG.standard_normal(1500), np.ones(1500), 0)
    assert even.left_out.std() < 0.1


def test_the_left_out_scale_of_a_row_does_not_know_its_error() -> None:
    z, errors = RNG.standard_normal((100, 2)), RNG.standard_normal(100)
    gross = errors.copy()
    gross[7] = 1e6
    before, after = (quadratic_scale(z, each, np.ones(100), 0) for each in (errors, gross))
    # The shares of the sum alone are found on all rows.
    assert abs(after.left_out[7] - before.left_out[7]) < 0.5


def test_few_rows_have_one_scale() -> None:
    n = LEAST_ROWS - 1
    found = quadratic_scale(RNG.standard_normal((n, 2)), RNG.standard_normal(n), np.ones(n), 0)
    assert np.ptp(found.left_out) == 0
    assert not len(found.scale.bends)


def test_shares_sum_to_one_and_prefer_the_truth() -> None:
    truth = RNG.standard_normal(400)
    errors = np.exp(truth) * RNG.standard_t(6, 400)
    shares = shares_of(np.stack([np.zeros(400), truth, -truth]), errors, np.ones(400))
    assert shares.sum() == pytest.approx(1.0)
    assert shares[1] > 0.8
