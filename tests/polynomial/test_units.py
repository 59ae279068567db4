"""Units that keep to themselves, evaluated as polynomials of one direction each."""

import numpy as np
import pytest
import torch

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.units import UnitSum, mean_of, unit_sum
from polyladder.polynomial.widen import lengthen
from polyladder.training.kernels.directions import Directions, kernel_ladder, linear_ladder, power_ladder
from polyladder.training.solves.alternating import random_start

RNG = np.random.default_rng(2)
X = torch.from_numpy(RNG.normal(size=(700, 5)))


def directions(units: int, scale: float = 0.3) -> Directions:
    rows = scale * RNG.normal(size=(units, 5))
    return Directions(rows, rows @ rows.T, 3)


def ladders() -> list[LadderPolynomial]:
    kernel = kernel_ladder(directions(40), {2: RNG.normal(size=40), 6: RNG.normal(size=40)})
    several = power_ladder(directions(30), 4, RNG.normal(size=(30, 1)))
    return [kernel, several, linear_ladder(RNG.normal(size=(1, 5)), RNG.normal(size=1)), lengthen(kernel, 8)]


@pytest.mark.parametrize("which", range(4))
def test_a_sum_of_units_is_the_ladder(which: int) -> None:
    ladder = ladders()[which]
    found = unit_sum(ladder)
    assert found is not None
    expected = ladder(X)
    torch.testing.assert_close(found(X), expected, rtol=1e-11, atol=1e-11 * float(expected.abs().max()))
    torch.testing.assert_close(found(X[:1]), expected[:1], rtol=1e-10, atol=1e-11 * float(expected.abs().max()))


def test_rungs_of_ones_and_inputs_that_are_not_read_cost_nothing() -> None:
    sixth = kernel_ladder(directions(10), {6: RNG.normal(size=10)})
    found = unit_sum(lengthen(sixth, 9))
    assert found is not None
    assert len(found.powers) == 7
    flat = linear_ladder(np.array([[0.0, 2.0, 0.0, 0.0, -1.0]]), np.zeros(1))
    line = unit_sum(flat)
    assert line is not None
    assert isinstance(line.columns, torch.Tensor)
    assert line.columns.tolist() == [1, 4]
    side_by_side = unit_sum(linear_ladder(np.array([[0.0, 2.0, -1.0, 0.0, 0.0]]), np.zeros(1)))
    assert side_by_side is not None
    assert side_by_side.columns == slice(1, 3)
    torch.testing.assert_close(side_by_side(X), 2 * X[:, 1:2] - X[:, 2:3])


def test_other_ladders_are_left_as_they_are() -> None:
    one = random_start(5, (4, 4), 1, [0], 1)[0]
    assert unit_sum(one) is None  # units read each other
    assert unit_sum(random_start(5, (4,), 1, [0], 1)[0]) is None  # two directions for each unit


@pytest.mark.parametrize("off", [1e-5, 1e-8, 1e-12])
def test_a_gate_that_points_a_little_elsewhere_is_another_direction(off: float) -> None:
    kernel = kernel_ladder(directions(3), {3: RNG.normal(size=3)})
    V = [gate.clone() for gate in kernel.V]
    V[1][0, 0] += off * float(V[1][0].abs().max())
    near = LadderPolynomial(kernel.W, kernel.b, tuple(V), kernel.c, kernel.readout, kernel.offset)
    assert unit_sum(kernel) is not None
    assert unit_sum(near) is None


def test_zero_is_a_sum_of_units() -> None:
    found = unit_sum(linear_ladder(np.zeros((2, 5)), np.array([1.0, -2.0])))
    assert found is not None
    assert found(X[:3]).tolist() == [[1.0, -2.0]] * 3


def test_the_mean_of_members_takes_the_best_way_for_each() -> None:
    free = random_start(5, (3, 3), 1, [0, 1], 2)
    members = LadderPolynomial(free.W, free.b, free.V, free.c, free.readout, free.offset)
    kernel = kernel_ladder(directions(3), {3: RNG.normal(size=3)})
    both = members.map(lambda t: t.clone())
    for own, other in zip(
        (*both.W, *both.b, *both.V, *both.c), (*kernel.W, *kernel.b, *kernel.V, *kernel.c), strict=True
    ):
        own[1] = other
    both.readout[1], both.offset[1] = kernel.readout, kernel.offset
    found = mean_of(both)
    assert [type(part) for part in found.parts] == [LadderPolynomial, UnitSum]
    torch.testing.assert_close(found(X), both(X).mean(0))


@pytest.mark.parametrize("which", range(4))
def test_slopes_are_differences(which: int) -> None:
    found = unit_sum(ladders()[which])
    assert found is not None
    x, step = X[:20], 1e-5
    slopes = found.slopes(x)
    assert slopes.shape == (20, 1, 5)
    for j, unit in enumerate(step * torch.eye(5, dtype=torch.float64)):
        expected = (found(x + unit) - found(x - unit)) / (2 * step)
        torch.testing.assert_close(slopes[..., j], expected, rtol=1e-6, atol=1e-7 * float(slopes.abs().max()))


def test_slopes_of_few_inputs_and_of_constants() -> None:
    line = unit_sum(linear_ladder(np.array([[0.0, 2.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0, 0.0, 0.0]]), np.zeros(2)))
    assert line is not None
    expected = torch.tensor([[0.0, 2.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(line.slopes(X[:3]), expected.expand(3, 2, 5))
    flat = unit_sum(linear_ladder(np.zeros((1, 5)), np.ones(1)))
    assert flat is not None
    assert not flat.slopes(X[:3]).any()
