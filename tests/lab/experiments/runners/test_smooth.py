"""Smooth functions at known points, and how their rows are drawn."""

import math

import numpy as np
import pytest

from polyladder_lab.experiments.runners.smooth import (
    SMOOTH,
    TEST_ROWS,
    borehole,
    circuit,
    draw_smooth,
    ishigami,
    piston,
    wing,
)


def test_the_circuit_is_the_sum_of_its_three_parts() -> None:
    b1, b2, f, c1, c2, beta = x = (80.0, 30.0, 1.1, 2.0, 0.5, 120.0)
    below = beta * (c2 + 9) + f
    parts = (12 * b2 / (b1 + b2) + 0.74) * beta * (c2 + 9) / below + 11.35 * f / below
    parts += 0.74 * f * beta * (c2 + 9) / (below * c1)
    assert circuit(np.array([x]))[0] == pytest.approx(parts, rel=1e-14)


def test_the_piston_stands_still_where_its_forces_balance() -> None:
    m, s, v0, k, p0, ta, t0 = x = (45.0, 0.0125, 0.006, 3000.0, 1e5, 293.0, 350.0)
    cycle = piston(np.array([x]))[0]
    stiffness = m * (2 * math.pi / cycle) ** 2
    volume = math.sqrt(s**2 * p0 * v0 * ta / t0 / (stiffness - k))
    # Gas pressure against spring, weight and the air outside.
    assert p0 * v0 * ta / t0 / volume * s == pytest.approx(p0 * s + 19.62 * m + k * (volume - v0) / s, rel=1e-9)


def test_ishigami_has_its_known_mean_and_variance() -> None:
    x = np.random.default_rng(0).uniform(-np.pi, np.pi, (400_000, 3))
    y = ishigami(x)
    assert y.mean() == pytest.approx(3.5, abs=0.03)
    assert y.var() == pytest.approx(49 / 8 + 0.1 * np.pi**4 / 5 + 0.01 * np.pi**8 / 18 + 0.5, rel=0.02)


def test_flow_and_weight_follow_their_laws() -> None:
    middle = {name: np.add(f.low, f.high) / 2 for name, f in SMOOTH.items()}
    x = np.tile(middle["borehole"], (2, 1))
    x[1, 3:6:2] += 30.0  # both heads up: the flow follows their difference
    assert borehole(x)[1] == pytest.approx(borehole(x)[0], rel=1e-12)
    x = np.tile(middle["wing"], (2, 1))
    x[1, 7] *= 2
    x[1, 8] /= 2  # load factor times weight is what counts
    assert wing(x)[1] == pytest.approx(wing(x)[0], rel=1e-12)
    assert wing(x)[0] == pytest.approx(267.6, abs=0.1)


@pytest.mark.parametrize("name", sorted(SMOOTH))
def test_rows_fill_the_box_and_the_seed_decides(name: str) -> None:
    x, y, rows = draw_smooth(f"{name}-40", 3)
    assert rows == 40
    assert len(x) == len(y) == 40 + TEST_ROWS
    low, high = (np.array(side) for side in SMOOTH[name][1:])
    slices = np.sort(np.floor(40 * (x[:40] - low) / (high - low)), 0)
    np.testing.assert_array_equal(slices, np.arange(40)[:, None] + np.zeros(len(low)))  # one row in each slice
    assert y[40:].std() == pytest.approx(1.0)
    np.testing.assert_array_equal(draw_smooth(f"{name}-40", 3)[0], x)
    assert (draw_smooth(f"{name}-40", 4)[0] != x).all()


@pytest.mark.parametrize("name", ["borehole", "bore-100", "borehole-many"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="such as borehole-100"):
        draw_smooth(name, 0)
