"""Law: along any line the (p+1)-th finite difference vanishes and the p-th does not."""

import torch
from hypothesis import given

from polyladder import LadderPolynomial
from tests.ladders import ladders, rows


@given(ladders(max_layers=5))
def test_order(p: LadderPolynomial) -> None:
    point, direction = rows(2, p.in_features)
    steps = torch.arange(p.order + 2, dtype=torch.float64)
    y = p(point + steps[:, None] * direction).movedim(-2, -1)
    scale = y.abs().amax(-1)
    assert (torch.diff(y, n=p.order + 1).abs().squeeze(-1) <= 1e-10 * scale * 2**p.order).all()
    # The leading coefficient of a random ladder is zero with probability zero.
    assert (torch.diff(y[..., :-1], n=p.order).abs().squeeze(-1) > 1e-12 * scale).any()
