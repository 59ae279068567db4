import pytest
import torch
from hypothesis import given

from polyladder import LadderPolynomial
from polyladder.polynomial.substitute import recenter, rescale_outputs, substitute
from tests.ladders import ladders, random_ladder, rows


@given(ladders(max_layers=3))
def test_substitute(p: LadderPolynomial) -> None:
    matrix, shift = rows(p.in_features, 2, seed=5), rows(1, p.in_features, seed=6)[0]
    z = rows(6, 2, seed=7)
    folded = substitute(p, matrix, shift)
    assert (folded.in_features, folded.order) == (2, p.order)
    torch.testing.assert_close(folded(z), p(z @ matrix.T + shift), rtol=1e-9, atol=1e-9)


@given(ladders(max_layers=3))
def test_rescale_outputs(p: LadderPolynomial) -> None:
    scale, shift = rows(2, p.out_features, seed=5)
    x = rows(6, p.in_features)
    torch.testing.assert_close(rescale_outputs(p, scale, shift)(x), scale * p(x) + shift, rtol=1e-12, atol=1e-12)


def test_maps_come_in_the_ladders_dtype() -> None:
    p = random_ladder(dtype=torch.float32)
    assert substitute(p, rows(3, 3), rows(1, 3)[0]).dtype == torch.float32
    assert rescale_outputs(p, *rows(2, 2)).dtype == torch.float32


def test_refusals() -> None:
    p = random_ladder()
    with pytest.raises(ValueError, match=r"matrix and shift must have shapes \(3, e\) and \(3,\); got shapes \(2, 3\)"):
        substitute(p, rows(2, 3), rows(1, 3)[0])
    with pytest.raises(ValueError, match=r"matrix and shift .* got shapes \(3, 3\) and \(2,\)"):
        substitute(p, rows(3, 3), rows(1, 2)[0])
    with pytest.raises(ValueError, match=r"scale and shift must have shape \(2,\); got shapes \(3,\) and \(3,\)"):
        rescale_outputs(p, *rows(2, 3))


def test_recentered_ladder_is_the_same_function() -> None:
    x = rows(5, 3)
    for hidden in ((), (4,), (4, 5)):
        p, center, radius = random_ladder(3, hidden, 2, batch_shape=(3,)), rows(3, 3, 7), rows(3, 3, 8)
        torch.testing.assert_close(recenter(p, center)(x), p(x + center.unsqueeze(-2)))
        moved = center.unsqueeze(-2) + radius.unsqueeze(-2) * x
        torch.testing.assert_close(recenter(p, center, radius)(x), p(moved))
