"""What every batched model must do, whatever it computes: each test file supplies only the constructor."""

from collections.abc import Callable

import pytest
import torch

from polyladder import stack
from polyladder.models.batched import BatchedModule
from polyladder.training.gradient.train import Adam, train
from tests.ladders import rows

Make = Callable[..., BatchedModule]


def scrambled(make: Make, **options: object) -> BatchedModule:
    """A model none of whose parameters or statistics are where they started, in eval mode."""
    net = make(dtype=torch.float64, seed=3, **options)
    generator = torch.Generator().manual_seed(8)
    with torch.no_grad():
        for name, t in net.state_dict().items():
            if name.endswith("rate"):
                continue
            noise = torch.rand(t.shape, generator=generator, dtype=torch.float64)
            t.copy_(t + noise if name.endswith(("variance", "intercept")) else t + 0.3 * (noise - 0.5))
    return net.eval()


def check_slices(make: Make) -> None:
    """Each model of a batch computes what it computes alone, on shared rows and on rows of its own."""
    net = scrambled(make, batch_shape=(2, 3))
    x = rows(5, net.in_features)
    y = net(x)
    assert y.shape == (2, 3, 5, net.out_features)
    own = torch.stack([rows(5, net.in_features, seed=i) for i in range(6)]).view(2, 3, 5, -1)
    z = net(own)
    for i in range(2):
        assert net[i].batch_shape == (3,)
        for j in range(3):
            torch.testing.assert_close(net[i, j](x), y[i, j], rtol=1e-11, atol=1e-11)
            torch.testing.assert_close(net[i, j](own[i, j]), z[i, j], rtol=1e-11, atol=1e-11)
    assert not torch.allclose(y[0, 0], y[1, 2])


def check_stacks(make: Make) -> None:
    """`stack` undoes slicing, parameters and buffers alike, and the state goes through a state_dict."""
    net = scrambled(make, batch_shape=(3,))
    again = stack([net[i] for i in range(3)])
    assert again.batch_shape == (3,)
    assert not again.training
    other = make(dtype=torch.float64, seed=99, batch_shape=(3,)).eval()
    x = rows(4, net.in_features)
    assert not torch.allclose(other(x), net(x))
    other.load_state_dict(net.state_dict())
    for name, value in net.state_dict().items():
        assert torch.equal(again.state_dict()[name], value), name
    assert torch.equal(other(x), net(x))


def check_seeds(make: Make) -> None:
    """A model's start depends on its own seed alone."""
    together, later = make(batch_shape=(2, 2), seed=5), make(seed=8)
    chosen = make(batch_shape=(2,), seed=[8, 5])
    for name, value in later.state_dict().items():
        assert torch.equal(together[1, 1].state_dict()[name], value), name
        assert torch.equal(chosen[0].state_dict()[name], value), name
    drawn = [n for n, p in together.named_parameters() if not torch.equal(p[0, 0], p[1, 1])]
    assert drawn


def check_scale(make: Make, low: float, high: float) -> None:
    """For standardized inputs the outputs start at a moderate scale."""
    net = make(batch_shape=(200,), seed=0).train()
    with torch.no_grad():
        deviation = net(rows(200, net.in_features, dtype=torch.float32)).square().mean().sqrt()
    assert low < deviation < high


def check_learns(make: Make, seed: int = 0) -> None:
    """The gradient engine lowers the loss on a product of two inputs plus a linear part, for every model."""
    x = rows(100, 3, dtype=torch.float32)
    y = 0.7 * x[:, :1] * x[:, 1:2] - 0.5 * x[:, 2:]
    net = make(batch_shape=(3,), seed=seed)
    history = train(net, x, y, options=Adam(epochs=50, learning_rate=0.03, schedule="cosine"))
    assert not history.diverged.any()
    assert (history.training_loss[:, -1] < 0.05 * y.var()).all()


def check_refusals(make: Make) -> None:
    """Bad shapes are refused with what was expected."""
    net = make(batch_shape=(2,))
    d = net.in_features
    for shape in ((4, d + 1), (3, 4, d), (d,)):
        with pytest.raises(ValueError, match=rf"x must have shape \(n, {d}\) or \(2, n, {d}\); got shape"):
            net(torch.zeros(shape))
    with pytest.raises(IndexError, match="single model already"):
        make()[0]
    with pytest.raises(ValueError, match="batch_shape must be a positive integer; got 0"):
        make(batch_shape=(0,))


def check_order(net: BatchedModule, order: int) -> None:
    """Along a line the finite difference of degree order + 1 vanishes and that of degree ``order`` does not."""
    t = torch.linspace(-2, 2, order + 2, dtype=torch.float64).unsqueeze(-1)
    point, direction = rows(2, net.in_features, seed=4)
    y = net(point + t * direction).detach()
    weight = max(1.0, y.abs().max().item()) * 2.0**order
    assert y.diff(n=order + 1, dim=-2).abs().max() < 1e-12 * weight
    assert y.diff(n=order, dim=-2).abs().min() > 1e-9 * weight
