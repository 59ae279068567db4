"""Shapes of errors whose truth is known."""

import numpy as np
import pytest

from polyladder.training.errors.shape import TAILS, shape_of

RNG = np.random.default_rng(2)
G = RNG.standard_normal(4000)


@pytest.mark.parametrize(("degrees", "among"), [(3.0, (3.0, 4.0)), (8.0, (6.0, 8.0, 12.0)), (np.inf, (50.0, np.inf))])
def test_tails_stretch_and_shift_are_found(degrees: float, among: tuple[float, ...]) -> None:
    noise = RNG.standard_normal(4000) if np.isinf(degrees) else RNG.standard_t(degrees, 4000)
    shape = shape_of(np.exp(0.4 + 0.7 * G) * noise, G, np.ones(4000))
    assert shape.degrees in among
    assert shape.stretch == pytest.approx(0.7, abs=0.06)
    assert shape(G).mean() == pytest.approx(0.4 + 0.7 * G.mean(), abs=0.08)


def test_a_scale_that_says_the_opposite_is_not_used() -> None:
    assert shape_of(np.exp(-G) * RNG.standard_normal(4000), G, np.ones(4000)).stretch == 0.0


def test_few_errors_have_heavier_tails_and_one_scale() -> None:
    shape = shape_of(RNG.standard_normal(5), np.arange(5.0), np.ones(5))
    assert shape.stretch == 0.0
    assert shape.degrees <= 4.0
    assert shape_of(np.array([1.0, -1.0]), np.zeros(2), np.ones(2)).degrees == TAILS[0]
