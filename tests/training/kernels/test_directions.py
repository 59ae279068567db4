"""Kernels over directions: features whose plain ridge is the kernel's, and ladders that equal them."""

import numpy as np
import pytest
import torch
from scipy.linalg import solve_triangular

from polyladder.training.kernels.directions import (
    kernel_ladder,
    linear_ladder,
    pick_directions,
    pivots,
    power_ladder,
    whole_power,
)
from polyladder.training.kernels.relevance import Relevance

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 3))
SCALES = Relevance(np.array([0.6, 0.2, 0.4]), 0.1, 1.0, 3)


def directions(most: int = 12, highest: int = 3):
    return pick_directions(X, SCALES, np.arange(3), most, np.random.default_rng(0), highest)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_features_have_the_kernel_as_their_products(degree: int) -> None:
    found = directions(200, degree)
    factor = found.factor(degree)
    phi = found.features(found.along(X), degree, factor)
    scaled = X * SCALES.scales * np.sqrt(3 / degree)
    np.testing.assert_allclose(phi @ phi.T, (1 + scaled @ scaled.T) ** degree, rtol=1e-4, atol=1e-4)


def test_one_ladder_sums_kernels_of_several_degrees() -> None:
    found, new = directions(), RNG.normal(size=(9, 3))
    raw = {degree: RNG.normal(size=len(found.slopes)) for degree in (1, 3, 6)}
    ladder = kernel_ladder(found, raw)
    t = found.along(new)
    expected = sum(((1 + found.stretch(p) * t) ** p) @ a for p, a in raw.items())
    assert ladder.order == 6
    np.testing.assert_allclose(ladder(torch.from_numpy(new))[:, 0], expected, rtol=1e-10)


def test_a_ladder_of_several_outputs() -> None:
    found, new = directions(), RNG.normal(size=(9, 3))
    raw = RNG.normal(size=(len(found.slopes), 2))
    ladder = power_ladder(found, 4, raw)
    assert ladder.order == 4
    expected = (1 + found.stretch(4) * found.along(new)) ** 4 @ raw
    np.testing.assert_allclose(ladder(torch.from_numpy(new)), expected, rtol=1e-10)


def test_a_linear_function_is_a_ladder() -> None:
    slopes, offset = RNG.normal(size=(2, 3)), RNG.normal(size=2)
    np.testing.assert_allclose(linear_ladder(slopes, offset)(torch.from_numpy(X)), X @ slopes.T + offset, rtol=1e-12)


def test_directions_stop_where_nothing_is_left_to_explain() -> None:
    # Polynomials of order 3 in 3 inputs have 20 monomials, so 20 directions explain every other row.
    assert len(directions(40).slopes) == 20
    kernel = np.diag([1.0, 4.0, 2.0])
    assert pivots(kernel, 2) == [1, 2]


def test_ridge_on_features_is_kernel_ridge() -> None:
    found, y = directions(200), RNG.normal(size=(40, 1))
    factor = found.factor(3)
    phi = found.features(found.along(X), 3, factor)
    c = np.linalg.solve(phi.T @ phi + 0.5 * np.eye(phi.shape[1]), phi.T @ y)
    raw = solve_triangular(factor, c, lower=True, trans="T")
    scaled = X * SCALES.scales
    kernel = (1 + scaled @ scaled.T) ** 3
    expected = kernel @ np.linalg.solve(kernel + 0.5 * np.eye(40), y)
    ladder = kernel_ladder(found, {3: raw[:, 0]})
    np.testing.assert_allclose(ladder(torch.from_numpy(X)), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("degree", [1, 2, 3, 6, 8, 11])
def test_whole_powers_are_powers(degree: int) -> None:
    base = np.random.default_rng(1).normal(size=(7, 3))
    before = base.copy()
    np.testing.assert_allclose(whole_power(base, degree), base**degree, rtol=1e-13)
    np.testing.assert_array_equal(base, before)
