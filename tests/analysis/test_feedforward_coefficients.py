from functools import partial

import pytest
import sympy
import torch

from polyladder.analysis.feedforward_coefficients import feedforward_coefficients
from polyladder.models.feedforward import Feedforward
from tests.ladders import rows
from tests.models.contract import scrambled


def quadratic(d: int, hidden: tuple[int, ...], batch_shape: tuple[int, ...] = (), batch_norm: bool = True):
    make = partial(Feedforward, d, hidden, 2, activation="quadratic", batch_norm=batch_norm)
    return scrambled(make, batch_shape=batch_shape)


@pytest.mark.parametrize(("d", "hidden"), [(1, (2, 3)), (3, (4,)), (2, (3, 2, 2)), (4, ())])
@pytest.mark.parametrize("batch_norm", [False, True])
@pytest.mark.parametrize("batch_shape", [(), (2, 3)])
def test_the_monomials_sum_to_the_network(d, hidden, batch_norm, batch_shape):
    net = quadratic(d, hidden, batch_shape, batch_norm)
    found = feedforward_coefficients(net)
    assert found.degree == 2 ** len(hidden)
    x = rows(6, d)
    torch.testing.assert_close(found(x), net(x), rtol=1e-9, atol=1e-9)


def test_the_monomials_are_those_of_sympy():
    net = quadratic(2, (3, 2)).requires_grad_(False)
    symbols = sympy.symbols("x:2")
    h = list(symbols)
    for W, b, norm in zip(net.W, net.b, net.norms, strict=True):
        u = [sum(float(w) * v for w, v in zip(row, h, strict=True)) + float(c) for row, c in zip(W, b, strict=True)]
        scale, shift = norm.affine()
        h = [float(s) * v**2 + float(t) for s, v, t in zip(scale, u, shift, strict=True)]
    found = feedforward_coefficients(net)
    for o in range(2):
        y = sum(float(w) * v for w, v in zip(net.readout[o], h, strict=True)) + float(net.offset[o])
        expected = sympy.Poly(sympy.expand(y), *symbols).as_dict()
        values = {tuple(e): v for e, v in zip(found.exponents.tolist(), found.values[:, o].tolist(), strict=True)}
        assert len(values) == 15
        for exponents, value in values.items():
            assert value == pytest.approx(float(expected.get(exponents, 0)), rel=1e-9, abs=1e-12)


def test_the_blow_up_is_stated():
    net = Feedforward(54, (2, 2, 2), 1, activation="quadratic")
    with pytest.raises(ValueError, match=r"at least 3,381,098,545, the number of monomials of order 8 in 54 inputs"):
        feedforward_coefficients(net)
    with pytest.raises(ValueError, match="activation 'quadratic'; got 'relu', which is not a polynomial"):
        feedforward_coefficients(Feedforward(2, (2,), 1))
