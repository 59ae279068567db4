from functools import partial

import pytest
import torch

from polyladder.models.feedforward import Feedforward
from tests.ladders import rows
from tests.models import contract
from tests.oracles.rivals import PlainNetwork

relu = partial(Feedforward, 3, (5, 4), 2)
square = partial(Feedforward, 3, (5, 4), 2, activation="quadratic")
KINDS = [relu, square, partial(relu, batch_norm=True), partial(square, batch_norm=True)]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("check", [contract.check_slices, contract.check_stacks, contract.check_seeds])
def test_contract(check, make):
    check(make)


@pytest.mark.parametrize("make", [relu, square])
def test_refuses_bad_shapes(make):
    contract.check_refusals(make)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("training", [False, True])
def test_equals_a_network_of_plain_layers(make, training):
    net = contract.scrambled(make).train(training)
    plain = PlainNetwork(net).train(training)
    x = rows(7, 3).requires_grad_()
    y, expected = net(x), plain(x)
    torch.testing.assert_close(y, expected, rtol=1e-11, atol=1e-11)
    gradient = torch.autograd.grad(y.sin().sum(), [x, *net.W, net.readout])
    layers = [layer.weight for layer in plain.layers]
    torch.testing.assert_close(
        gradient, torch.autograd.grad(expected.sin().sum(), [x, *layers, plain.readout.weight]), rtol=1e-9, atol=1e-11
    )
    for norm, own in zip(net.norms, plain.norms, strict=True):
        torch.testing.assert_close(norm.mean, own.running_mean)
        torch.testing.assert_close(norm.variance, own.running_var)


@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_order_doubles_with_every_square(layers, batch_norm):
    net = contract.scrambled(partial(Feedforward, 2, (3,) * layers, 1, activation="quadratic", batch_norm=batch_norm))
    assert net.order == 2**layers
    contract.check_order(net, 2**layers)


def test_only_polynomials_have_an_order():
    with pytest.raises(ValueError, match="activation must be 'quadratic' for a network to have an order; got 'relu'"):
        _ = relu().order
    assert Feedforward(3, (), 1).order == 1


@pytest.mark.parametrize("make", KINDS)
def test_dropout_belongs_to_each_model(make):
    """In train mode a model of rate 0 is untouched, one of rate 0.5 is not, and gradients pass through both."""
    net = make(dropout=torch.tensor([0.0, 0.5]), batch_shape=(2,), seed=0, dtype=torch.float64)
    dry = make(batch_shape=(2,), seed=0, dtype=torch.float64)
    x = rows(6, 3)
    y, expected = net.train()(x), dry.train()(x)
    assert torch.equal(y[0], expected[0])
    assert not torch.allclose(y[1], expected[1])
    y.square().sum().backward()
    expected.square().sum().backward()
    assert torch.equal(net.W[0].grad[0], dry.W[0].grad[0])
    assert net.W[0].grad[1].isfinite().all()


@pytest.mark.parametrize("make", [partial(relu, hidden=(40,) * 4), partial(square, hidden=(40,) * 3)])
@pytest.mark.parametrize("batch_norm", [False, True])
def test_starts_at_a_moderate_scale(make, batch_norm):
    def wide(**options):
        keywords = make.keywords | {"batch_norm": batch_norm} | options
        return Feedforward(in_features=10, out_features=1, **keywords)

    contract.check_scale(wide, 0.4, 2.5)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["relu", "quadratic"])
def test_learns(activation):
    contract.check_learns(partial(Feedforward, 3, (16, 16), 1, activation=activation))


def test_says_what_it_is():
    text = repr(square(batch_shape=(2,), batch_norm=True))
    assert "3 -> [5, 4] -> 2, activation=quadratic, batch_norm=True, batch_shape=(2,)" in text
    with pytest.raises(ValueError, match="activation must be 'relu' or 'quadratic'; got 'tanh'"):
        Feedforward(3, (4,), 1, activation="tanh")
