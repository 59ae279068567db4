"""Trimmed ladders are the same functions."""

import torch

from polyladder.polynomial.members import padded
from polyladder.polynomial.trim import trim
from tests.ladders import random_ladder


def test_padding_is_taken_off_again() -> None:
    ladder = random_ladder(d=3, hidden=[4, 2, 5], m=2, seed=0)
    trimmed = trim(padded(ladder, (7, 6, 8)))
    assert trimmed == ladder


def test_units_that_nothing_reads_change_nothing() -> None:
    ladder = random_ladder(d=3, hidden=[4, 4], m=1, seed=1)
    ladder.readout[:, 1:3] = 0
    ladder.W[1][:, 0] = 0
    x = torch.randn(20, 3, dtype=torch.float64)
    trimmed = trim(ladder)
    assert trimmed.hidden == (3, 2)
    torch.testing.assert_close(trimmed(x), ladder(x), rtol=1e-12, atol=1e-12)


def test_a_constant_keeps_one_unit() -> None:
    ladder = random_ladder(d=2, hidden=[3, 3], m=1, seed=2)
    ladder.readout.zero_()
    assert trim(ladder).hidden == (3, 1)
