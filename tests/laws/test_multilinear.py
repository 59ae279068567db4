"""Law: with the other blocks fixed, the output is affine in each block."""

import torch
from hypothesis import given

from polyladder import LadderPolynomial
from tests.ladders import ladders, random_ladder, rows


def replaced(p: LadderPolynomial, name: str, value: torch.Tensor) -> LadderPolynomial:
    t = {**p.tensors(), name: value}
    per_layer = {key: tuple(t[f"{key}.{l}"] for l in range(len(p.W))) for key in "WbVc"}
    return LadderPolynomial(**per_layer, readout=t["readout"], offset=t["offset"])


@given(ladders())
def test_multilinear(p: LadderPolynomial) -> None:
    x = rows(4, p.in_features)
    other = random_ladder(p.in_features, p.hidden, p.out_features, p.batch_shape, seed=12345)
    for name, value in p.tensors().items():
        end = other.tensors()[name]
        middle = replaced(p, name, 0.3 * value + 0.7 * end)(x)
        torch.testing.assert_close(middle, 0.3 * p(x) + 0.7 * replaced(p, name, end)(x), rtol=1e-9, atol=1e-9)
