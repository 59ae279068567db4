"""Ladders of all shapes as members whose mean is their sum."""

import numpy as np
import torch

from polyladder.polynomial.members import as_members, padded, placed, times, with_outputs
from tests.ladders import random_ladder

X = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_the_mean_of_the_members_is_the_sum_of_the_parts() -> None:
    parts = [random_ladder(4, hidden, 2, seed=i) for i, hidden in enumerate([(3,), (2, 5), (4, 4, 1)])]
    members = as_members(parts)
    assert members.batch_shape == (3,)
    torch.testing.assert_close(members(X).mean(0), sum(p(X) for p in parts))


def test_a_ladder_of_some_inputs_ignores_the_others() -> None:
    ladder = random_ladder(2, (3, 3), 1, seed=3)
    torch.testing.assert_close(placed(ladder, np.array([3, 1]), 4)(X), ladder(X[:, [3, 1]]))


def test_padding_and_multiples() -> None:
    ladder = random_ladder(4, (2, 3), 2, seed=4)
    assert padded(ladder, (5, 4)).hidden == (5, 4)
    torch.testing.assert_close(padded(ladder, (5, 4))(X), ladder(X))
    torch.testing.assert_close(times(ladder, -2.5)(X), -2.5 * ladder(X))


def test_outputs_among_others_that_are_zero() -> None:
    ladder = random_ladder(4, (3, 2), 2, seed=5)
    found = with_outputs(ladder, 1, 5)(X)
    torch.testing.assert_close(found[:, 1:3], ladder(X))
    assert not found[:, [0, 3, 4]].any()
