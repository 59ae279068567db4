"""A wide ladder taken apart."""

import pytest
import torch

from polyladder import LadderPolynomial
from polyladder.polynomial.separate import separate, shortened
from polyladder.polynomial.widen import lengthen, widen
from tests.ladders import random_ladder, rows

X = rows(30, 3)


def total(ladders: list[LadderPolynomial]) -> torch.Tensor:
    return torch.stack([ladder(X) for ladder in ladders]).sum(0)


@pytest.mark.parametrize("hidden", [[(4, 5)], [(2,), (3,)], [(4, 5), (3, 2), (2, 2)], [(3, 3, 3), (4,), (2, 5)]])
def test_what_was_put_together_is_taken_apart(hidden: list[tuple[int, ...]]) -> None:
    members = [random_ladder(hidden=each, seed=i) for i, each in enumerate(hidden)]
    wide = lengthen(widen(members), 5)
    found = separate(wide)
    torch.testing.assert_close(total(found), wide(X), rtol=1e-12, atol=1e-12)
    if all(len(each) > 1 for each in hidden):
        assert sorted(ladder.hidden for ladder in found) == sorted(hidden)
    for ladder in found[1:]:
        assert not ladder.offset.any()


def test_each_ladder_is_one_that_was_put_in() -> None:
    members = [random_ladder(hidden=(3, 3), seed=i) for i in range(3)]
    found = separate(widen(members))
    for ladder in found:
        own = [m(X) - m.offset for m in members]
        gap = min(float((3 * (ladder(X) - ladder.offset) - each).abs().max()) for each in own)
        assert gap < 1e-12


def test_units_of_one_layer_stand_alone() -> None:
    ladder = random_ladder(hidden=(4,))
    found = separate(ladder)
    assert [each.hidden for each in found] == [(1,)] * 4
    torch.testing.assert_close(total(found), ladder(X))


@pytest.mark.parametrize("which", [[0], [1], [0, 1, 2]])
def test_units_that_read_no_other_are_not_lost(which: list[int]) -> None:
    # Their state is their bias times their gate, which reads the inputs.
    ladder = random_ladder(hidden=(3, 3))
    W = ladder.W[1].clone()
    W[which] = 0.0
    idle = LadderPolynomial((ladder.W[0], W), ladder.b, ladder.V, ladder.c, ladder.readout, ladder.offset)
    torch.testing.assert_close(total(separate(idle)), idle(X))


def test_only_rungs_that_change_nothing_are_taken_off() -> None:
    ladder = random_ladder(hidden=(3, 3))
    longer = lengthen(ladder, 6)
    assert shortened(longer).hidden == (3, 3)
    c = (*longer.c[:-1], 2 * longer.c[-1])
    doubled = LadderPolynomial(longer.W, longer.b, longer.V, c, longer.readout, longer.offset)
    assert shortened(doubled).hidden == (3,) * 6
    torch.testing.assert_close(shortened(doubled)(X), doubled(X))
