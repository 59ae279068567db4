"""Ramps rise from knot to knot, and their sum is the column."""

import numpy as np
import pytest

from polyladder.fitted.ramps import learn_ramps, within_reach

RNG = np.random.default_rng(4)
T = np.c_[RNG.normal(size=60), RNG.integers(0, 2, size=60), RNG.integers(0, 4, size=60)].astype(float)


def test_ramps_sum_to_their_column() -> None:
    ramps = learn_ramps(T, 5)
    assert ramps is not None
    assert set(ramps.column.tolist()) == {0, 2}  # the middle column has two values
    raw = ramps.raw(T)
    for j in (0, 2):
        own = ramps.column == j
        total = raw[:, own] @ (ramps.high - ramps.low)[own] + ramps.low[own].min()
        np.testing.assert_allclose(total, T[:, j], atol=1e-12)
    np.testing.assert_allclose(ramps(T).mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(ramps(T).std(0), 1, atol=1e-12)


def test_a_weight_of_two_is_a_row_given_twice() -> None:
    weight = RNG.integers(1, 4, size=60)
    once, twice = learn_ramps(T, 5, weight.astype(float)), learn_ramps(np.repeat(T, weight, 0), 5)
    assert once is not None
    assert twice is not None
    for name in ("column", "low", "high"):
        np.testing.assert_array_equal(vars(once)[name], vars(twice)[name])
    np.testing.assert_allclose(once.scale, twice.scale)


@pytest.mark.parametrize("weight", [0.1, 1 / 3, 0.7, 1.1, 1e-12, 1e12])
def test_equal_weights_of_any_size_are_no_weights(weight: float) -> None:
    """Sums of 0.1 are off in the last digit: a share that they should just reach must not slip to the next row."""
    t = np.arange(60.0)[:, None] ** 2
    for rows, parts in ((10, 5), (12, 4), (40, 8), (60, 5)):
        weighted, plain = learn_ramps(t[:rows], parts, np.full(rows, weight)), learn_ramps(t[:rows], parts)
        assert weighted is not None
        assert plain is not None
        knots = np.r_[plain.low, plain.high[-1]]
        np.testing.assert_array_equal(np.r_[weighted.low, weighted.high[-1]], knots)
        # The knots of k parts are every (n / k)-th value.
        np.testing.assert_array_equal(knots[1:-1], t[rows // parts - 1 : rows - 1 : rows // parts, 0])


def test_columns_of_two_values_have_none() -> None:
    assert learn_ramps(T[:, 1:2], 5) is None


def test_within_reach_no_end_of_a_ramp_is_far_from_zero() -> None:
    t = np.random.default_rng(0).standard_cauchy(size=(2000, 2))
    ramps = learn_ramps(t, 8)
    assert ramps is not None
    held = within_reach(ramps, 5.0)
    assert np.abs(ramps(t)).max() > 20
    assert np.abs(held(t)).max() == pytest.approx(5.0, rel=0.01)
    near = np.abs(ramps(t)).max(0) < 4
    np.testing.assert_array_equal(held(t)[:, near], ramps(t)[:, near])
