"""Laws: a widened ladder is the mean of its members; a shallower one is the deeper one with W = 0 and b = 1."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder import LadderPolynomial, lengthen, shallower, widen
from polyladder.polynomial.widen import sharing
from tests.ladders import BATCH_SHAPES, ladders, random_ladder, rows


@given(st.lists(st.lists(st.integers(1, 4), max_size=4), min_size=1, max_size=4), st.sampled_from(BATCH_SHAPES))
def test_widen(hiddens: list[list[int]], batch_shape: tuple[int, ...]) -> None:
    members = [random_ladder(3, hidden, 2, batch_shape, seed=i) for i, hidden in enumerate(hiddens)]
    wide = widen(members)
    x = rows(5, 3)
    assert wide.order == max(p.order for p in members)
    torch.testing.assert_close(wide(x), torch.stack([p(x) for p in members]).mean(0))


def test_widen_takes_a_batch() -> None:
    p, x = random_ladder(batch_shape=(4,)), rows(5, 3)
    assert widen(p).hidden == (16, 20)
    torch.testing.assert_close(widen(p)(x), p(x).mean(0))


@given(ladders(), st.integers(0, 3))
def test_lengthen(p: LadderPolynomial, more: int) -> None:
    longer, x = lengthen(p, len(p.W) + more), rows(5, p.in_features)
    assert longer.order == p.order + more
    torch.testing.assert_close(longer(x), p(x))


@given(ladders(min_layers=1), st.data())
def test_shallower(p: LadderPolynomial, data: st.DataObject) -> None:
    layer = data.draw(st.integers(1, len(p.W)))
    W, b = list(p.W), list(p.b)
    W[layer - 1], b[layer - 1] = torch.zeros_like(W[layer - 1]), torch.ones_like(b[layer - 1])
    cut = LadderPolynomial(tuple(W), tuple(b), p.V, p.c, p.readout, p.offset)
    x = rows(5, p.in_features)
    assert shallower(p, layer).order == p.order - layer
    torch.testing.assert_close(shallower(p, layer)(x), cut(x))


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="widen must be given at least one ladder; got none"):
        widen([])
    with pytest.raises(ValueError, match="widen must be given ladders of equal inputs"):
        widen([random_ladder(d=3), random_ladder(d=4)])
    with pytest.raises(ValueError, match="depth must be at least the 2 layers of the ladder; got 1"):
        lengthen(random_ladder(), 1)
    for layer in (0, 3, True, 1.0):
        with pytest.raises(ValueError, match="layer must be an integer from 1 to 2; got"):
            shallower(random_ladder(), layer)  # type: ignore[arg-type]


def test_equal_weights_are_held_once() -> None:
    ladder = random_ladder(4, (4, 4, 4), 1, seed=5)
    identity = torch.eye(4, dtype=torch.float64)
    twice = type(ladder)(
        (ladder.W[0], identity, identity.clone()), ladder.b, ladder.V, ladder.c, ladder.readout, ladder.offset
    )
    found = sharing(twice)
    assert found.W[1] is found.W[2]
    assert found == twice
