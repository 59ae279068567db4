"""Ladders that read few directions."""

import pytest
import torch

from polyladder.polynomial.few_directions import few_directions
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import substitute
from tests.ladders import random_ladder, rows


def turned(k: int, d: int, scale: float = 1.0, m: int = 2) -> LadderPolynomial:
    """A ladder over k coordinates of d inputs, one of which counts little."""
    matrix = rows(k, d, seed=3)
    matrix[0] *= scale
    return substitute(random_ladder(d=k, hidden=(6, 5, 6), m=m, seed=1), matrix, rows(1, k, seed=4)[0])


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e-9])
def test_the_directions_are_found_and_say_the_same(scale: float) -> None:
    ladder = turned(3, 20, scale)
    found = few_directions(ladder)
    assert found is not None
    assert found.directions.shape == (20, 3)
    assert found.inner.in_features == 3
    x = rows(50, 20, seed=8)
    torch.testing.assert_close(found(x), ladder(x), rtol=1e-11, atol=1e-11)
    # Each direction is an input of its own, and multiples of those that have none.
    alone = (found.directions != 0).sum(1) == 1
    assert (found.directions[alone] == 1).any(0).all()


def test_many_directions_are_not_worth_it() -> None:
    assert few_directions(turned(16, 20)) is None
    assert few_directions(random_ladder(d=4, hidden=(3, 3), m=1)) is None


def test_a_ladder_that_reads_nothing_has_no_directions() -> None:
    zero = random_ladder(d=5, hidden=(3,), m=1).map(torch.zeros_like)
    assert few_directions(zero) is None


def test_inputs_that_nothing_reads_are_no_direction() -> None:
    ladder = random_ladder(d=30, hidden=(4, 4), m=1, seed=2)
    for weight in (ladder.W[0], *ladder.V):
        weight[:, 2:] = 0.0
    found = few_directions(ladder)
    assert found is not None
    assert found.directions.shape == (30, 2)
    assert found.directions[2:].abs().max() == 0
    x = rows(20, 30)
    torch.testing.assert_close(found(x), ladder(x), rtol=1e-12, atol=1e-12)
