"""Law: the merged polynomial is the evaluated network, batch norm really trained."""

import pytest
import torch

from polyladder import LPNN, merge
from tests.ladders import BATCH_SHAPES, rows


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("layers", range(1, 11))
@pytest.mark.parametrize("gate_bias", [True, False])
def test_merge(layers: int, batch_shape: tuple[int, ...], gate_bias: bool) -> None:
    net = LPNN(4, (6,) * layers, 2, gate_bias, True, 0.1, batch_shape, seed=layers, dtype=torch.float64)
    x = rows(40, 4)
    y = x[:, :2] * x[:, 2:]
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(5):
        optimizer.zero_grad()
        (net(x) - y).square().mean((-1, -2)).sum().backward()
        optimizer.step()
    p = merge(net)
    assert net.training
    assert p.order == net.order == layers + 1
    assert net.norms[0].mean.abs().min() > 0
    with torch.no_grad():
        expected = net.eval()(x)
    error = (p(x) - expected).abs().amax((-1, -2)) / expected.abs().amax((-1, -2))
    assert error.max() < 1e-10
