import copy

import pytest
import torch
from torch import nn

from polyladder import LPNN, merge
from tests.ladders import rows


@pytest.mark.parametrize("gate_bias", [True, False])
def test_the_scale_of_activations_is_steady_with_depth(gate_bias: bool) -> None:
    """Root mean square over units, rows and 20 starts stays within a factor of two of h^1's, ten layers up."""
    x = rows(400, 16, dtype=torch.float32)
    p = merge(LPNN(16, (64,) * 10, 1, gate_bias=gate_bias, batch_shape=(20,), seed=0))
    scales = torch.stack([h.square().mean(-1).median(-1).values.mean().sqrt() for h in p.hidden_states(x)[1:]])
    assert (scales / scales[0]).log2().abs().max() < 1.0, scales


def test_gates_start_at_one_or_are_absent() -> None:
    net = LPNN(3, (4,), 1)
    assert torch.equal(net.c[0], torch.ones(4))
    literal = LPNN(3, (4,), 1, gate_bias=False)
    assert len(literal.c) == 0
    assert literal(torch.zeros(1, 3)).item() == 0
    assert not any(c.any() for c in merge(literal).c)


def test_equals_a_ladder_of_torch_layers() -> None:
    """The same weights in nn.Linear and nn.BatchNorm1d give the same outputs, gradients and running statistics."""
    net = LPNN(3, (4, 5), 2, batch_norm=True, dtype=torch.float64, seed=0)
    layers = [nn.Linear(3, 4).double(), nn.Linear(4, 5).double()]
    gates = [nn.Linear(3, 4).double(), nn.Linear(3, 5).double()]
    norms = [nn.BatchNorm1d(4).double(), nn.BatchNorm1d(5).double()]
    with torch.no_grad():
        for l in range(2):
            layers[l].weight.copy_(net.W[l])
            layers[l].bias.copy_(net.b[l])
            gates[l].weight.copy_(net.V[l])
            gates[l].bias.copy_(net.c[l])
    x = rows(10, 3)
    h = x
    for layer, gate, norm in zip(layers, gates, norms, strict=True):
        h = norm(layer(h) * gate(x))
    y = h @ net.readout.T.detach() + net.offset.detach()
    torch.testing.assert_close(net(x), y)
    net(x).square().sum().backward()
    y.square().sum().backward()
    torch.testing.assert_close(net.W[0].grad, layers[0].weight.grad)
    torch.testing.assert_close(net.V[1].grad, gates[1].weight.grad)
    assert net.norms[0].gamma.grad is not None
    net.train()
    once = norms[0].running_var
    fresh = LPNN(3, (4, 5), 2, batch_norm=True, dtype=torch.float64, seed=0)
    fresh(x)
    torch.testing.assert_close(fresh.norms[0].variance, once)
    torch.testing.assert_close(fresh.norms[0].mean, norms[0].running_mean)


def test_dropout_leaves_gradients_right() -> None:
    net = LPNN(2, (3, 3), 1, dropout=0.4, dtype=torch.float64, seed=0)
    x = rows(5, 2).requires_grad_()

    def f(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(3)
        return net(x)

    assert torch.autograd.gradcheck(f, x)


def test_behaves_as_a_module_should() -> None:
    net = LPNN(3, (4, 4), 1, batch_norm=True, dropout=0.1, batch_shape=(2,), seed=0)
    x = rows(6, 3, dtype=torch.float32)
    net(x)
    net.eval()
    twin = LPNN(3, (4, 4), 1, batch_norm=True, dropout=0.5, batch_shape=(2,), seed=9)
    twin.load_state_dict(net.state_dict())
    torch.testing.assert_close(twin.eval()(x), net(x), rtol=0, atol=0)
    torch.testing.assert_close(copy.deepcopy(net)(x), net(x), rtol=0, atol=0)
    assert net.double()(x.double()).dtype == torch.float64
    assert "3 -> [4, 4] -> 1, order=3" in repr(net)
    assert "batch_shape=(2,)" in repr(net)
    assert "0.1" in repr(net)


@pytest.mark.slow
def test_compiles() -> None:
    """Traced whole, without a C++ toolchain at hand: no graph break, equal outputs."""
    net = LPNN(3, (4, 4), 1, batch_norm=True, batch_shape=(2,), seed=0).eval()
    compiled = torch.compile(net, backend="aot_eager", fullgraph=True)
    x = rows(6, 3, dtype=torch.float32)
    torch.testing.assert_close(compiled(x), net(x))


def test_seeds() -> None:
    assert torch.equal(LPNN(3, (4,), 1, seed=5).W[0], LPNN(3, (4,), 1, seed=5).W[0])
    torch.manual_seed(0)
    first = LPNN(3, (4,), 1)
    torch.manual_seed(0)
    assert torch.equal(first.W[0], LPNN(3, (4,), 1).W[0])
    assert torch.equal(LPNN(3, (4,), 1, batch_shape=(2,), seed=5)[1].W[0], LPNN(3, (4,), 1, seed=6).W[0])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"in_features": 0}, "in_features must be a positive integer; got 0"),
        ({"hidden": (4, -1)}, "hidden must be a positive integer; got -1"),
        ({"out_features": 1.5}, "out_features must be a positive integer; got 1.5"),
        ({"batch_shape": (0,)}, "batch_shape must be a positive integer; got 0"),
        ({"dropout": 1.0}, r"dropout must be in \[0, 1\); got 1.0"),
        ({"dropout": float("nan")}, r"dropout must be in \[0, 1\); got nan"),
        ({"dropout": torch.zeros(3)}, r"dropout must be one number or have shape \(\)"),
        ({"seed": [1, 2]}, "seed must be one integer or 1 of them"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        LPNN(**{"in_features": 3, "hidden": (4,), "out_features": 1, **arguments})  # type: ignore[arg-type]


def test_bad_rows_are_named() -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\); got shape \(5, 4\)"):
        LPNN(3, (4,), 1)(torch.zeros(5, 4))
    with pytest.raises(ValueError, match="at least 2 rows in train mode; got 1"):
        LPNN(3, (4,), 1, batch_norm=True)(torch.zeros(1, 3))
