import numpy as np
import pytest
import torch

from polyladder_lab.experiments.runners.tanh import TanhNetwork
from tests.models import contract


def test_the_tanh_network_is_what_it_says():
    net = TanhNetwork(2, 3, 1, (2,), seed=0)
    x = torch.randn(4, 2)
    one = net[1]
    expected = [
        sum(one.readout[0, k].item() * np.tanh((one.W[k] @ row + one.b[k]).item()) for k in range(3))
        + one.offset.item()
        for row in x
    ]
    assert net(x)[1, :, 0].tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


def make(**options):
    options.pop("dtype", None)
    return TanhNetwork(3, 4, 2, **options).double()


def test_a_batch_is_its_models():
    contract.check_slices(make)
    contract.check_stacks(make)
    contract.check_seeds(make)


def test_outputs_start_at_a_moderate_scale():
    contract.check_scale(lambda **options: TanhNetwork(8, 50, 1, **options), 0.3, 1.5)


def test_gradients_reach_every_parameter():
    net = TanhNetwork(3, 4, 2, seed=0).double()
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(net, x)
    net(x).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in net.parameters())
