"""Ladders in single precision against 400-bit arithmetic: no error leaves its bound."""

import mpmath
import numpy as np
import pytest
import torch

from polyladder.polynomial.ladder import LadderPolynomial, stack_ladders
from polyladder.polynomial.single import single_mean
from polyladder.training.kernels.directions import Directions, kernel_ladder
from polyladder.training.solves.alternating import random_start
from tests.oracles.long_arithmetic import long_value

RNG = np.random.default_rng(5)


def off_by(members: LadderPolynomial, x: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
    """Distance of the found means (n, m) from the exact ones."""
    off = torch.zeros(found.shape, dtype=torch.float64)
    for i, row in enumerate(x):
        values = [long_value(member, row) for member in members]
        with mpmath.workprec(400):
            for o in range(found.shape[1]):
                mean = sum((value[o] for value in values), mpmath.mpf(0)) / len(values)
                off[i, o] = float(abs(mean - mpmath.mpf(float(found[i, o]))))
    return off


def kernels() -> LadderPolynomial:
    rows = 0.3 * RNG.normal(size=(12, 4))
    shape = Directions(rows, rows @ rows.T, 3)
    return stack_ladders([kernel_ladder(shape, {4: RNG.normal(size=12)}) for _ in range(2)])


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("by_units", [False, True])
def test_no_error_leaves_its_bound(by_units: bool, scale: float) -> None:
    members = kernels() if by_units else random_start(4, (5, 3, 4), 2, [0, 1, 2], 3)
    x = scale * torch.from_numpy(RNG.normal(size=(20, 4)))
    mean = single_mean(members, by_units)
    found = mean(x)
    assert found.dtype == torch.float32
    off = off_by(members, x, found)
    assert (off <= mean.error(x)).all()
    assert off.max() > 0  # single precision does round


def test_numbers_too_small_for_single_precision_are_part_of_the_bound() -> None:
    # x^3 by weights whose product is zero in float32, and then by as large ones.
    weights = [torch.full((1, 1, 1), t, dtype=torch.float64) for t in (1e-25, 1e25, 1.0)]
    zero = torch.zeros(1, 1, dtype=torch.float64)
    cube = LadderPolynomial(
        (weights[0], weights[1]), (zero, zero), (weights[0], weights[1]), (zero, zero), weights[2], zero
    )
    x = torch.tensor([[1.0], [1e-30]], dtype=torch.float64)
    mean = single_mean(cube, by_units=False)
    assert mean(x)[0] == 0
    assert (off_by(cube, x, mean(x)) <= mean.error(x)).all()
    line = LadderPolynomial((), (), (), (), weights[0] * 1e-25, zero)
    tiny = single_mean(line, by_units=True)
    assert (off_by(line, x, tiny(x)) <= tiny.error(x)).all()


def test_the_bound_says_something() -> None:
    mean = single_mean(random_start(4, (5, 4), 1, [0], 1), by_units=False)
    x = torch.from_numpy(RNG.normal(size=(50, 4)))
    assert mean.error(x).max() < 1e-4 * mean(x).abs().max()


def test_a_ladder_without_layers_is_a_line() -> None:
    line = LadderPolynomial((), (), (), (), torch.tensor([[[1 / 3, 3.0]]]).double(), torch.tensor([[0.1]]).double())
    x = torch.from_numpy(RNG.normal(size=(10, 2)))
    mean = single_mean(line, by_units=True)
    assert (off_by(line, x, mean(x)) <= mean.error(x)).all()


def test_what_overflows_has_no_bound() -> None:
    members = random_start(2, (3,) * 9, 1, [0], 1)
    x = torch.full((1, 2), 1e8, dtype=torch.float64)
    mean = single_mean(members, by_units=False)
    assert not mean(x).isfinite().all()
