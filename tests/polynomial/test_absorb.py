import pytest
import torch

from polyladder import absorb
from polyladder.polynomial.absorb import append_one, bordered
from tests.ladders import BATCH_SHAPES, random_ladder, rows


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_absorbed_form_is_the_same_function(batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(batch_shape=batch_shape)
    absorbed = absorb(p)
    assert absorbed.hidden == (5, 6)
    assert not any(t.any() for t in (*absorbed.b, *absorbed.c, absorbed.offset))
    x = rows(5, 3)
    torch.testing.assert_close(absorbed(append_one(x)), p(x))


def test_a_ladder_without_layers_is_an_absorbed_affine_map() -> None:
    p, x = random_ladder(hidden=()), rows(4, 3)
    absorbed = absorb(p)
    assert absorbed.hidden == ()
    torch.testing.assert_close(append_one(x) @ absorbed.readout.T, p(x))


def test_the_absorbed_form_is_homogeneous() -> None:
    """Without intercepts every monomial has the full order: scaling x-hat by t scales the output by t to the order."""
    p, x = random_ladder(), append_one(rows(4, 3))
    torch.testing.assert_close(absorb(p)(2 * x), 2.0**p.order * absorb(p)(x))


def test_borders() -> None:
    weight, intercept = torch.tensor([[1.0, 2.0]]), torch.tensor([3.0])
    assert bordered(weight, intercept).tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]
    assert append_one(torch.tensor([[4.0, 5.0]])).tolist() == [[4.0, 5.0, 1.0]]
    many = bordered(weight.expand(2, 3, 1, 2), intercept.expand(2, 3, 1))
    assert many.shape == (2, 3, 2, 3)
    assert torch.equal(many[1, 2], bordered(weight, intercept))
    assert append_one(torch.zeros(2, 5, 3)).shape == (2, 5, 4)
