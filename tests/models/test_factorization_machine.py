from functools import partial

import pytest
import torch

from polyladder import from_factorization_machine
from polyladder.models.factorization_machine import FactorizationMachine, anova_kernel
from tests.ladders import rows
from tests.models import contract
from tests.oracles.rivals import factorization_machine

pairs = partial(FactorizationMachine, 4, 3, 2)
triples = partial(FactorizationMachine, 4, 3, 2, order=3)


@pytest.mark.parametrize("make", [pairs, triples])
@pytest.mark.parametrize(
    "check", [contract.check_slices, contract.check_stacks, contract.check_seeds, contract.check_refusals]
)
def test_contract(check, make):
    check(make)


@pytest.mark.parametrize("make", [pairs, triples, partial(FactorizationMachine, 2, 3, 1, order=3)])
def test_equals_its_definition(make):
    net = contract.scrambled(make)
    x = rows(3, net.in_features)
    y = net(x)
    for n in range(3):
        for o in range(net.out_features):
            factors = [t[o].detach() for t in (net.factors, net.factors3) if t is not None]
            expected, _ = factorization_machine(net.offset[o].item(), net.linear[o].detach(), factors, x[n].tolist())
            assert y[n, o].item() == pytest.approx(expected, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("make", [pairs, triples])
def test_has_its_order(make):
    net = contract.scrambled(make)
    contract.check_order(net, net.order)


@pytest.mark.parametrize("make", [pairs, triples])
def test_has_no_squares(make):
    """Along a single input the machine is affine: only different inputs interact."""
    net = contract.scrambled(make)
    for i in range(4):
        line = rows(1, 4).repeat(5, 1)
        line[:, i] = torch.linspace(-2, 2, 5)
        assert net(line).diff(n=2, dim=-2).abs().max() < 1e-12


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_the_recursion_counts_sets(order):
    """With all factors and inputs 1 the kernel is the number of sets of inputs."""
    count = torch.combinations(torch.arange(5), order).shape[0]
    kernel = anova_kernel(torch.ones(1, 1, 5).double(), torch.ones(5, 1).double(), order)
    assert kernel.item() == pytest.approx(count, abs=1e-12)


@pytest.mark.parametrize("make", [pairs, triples])
def test_is_a_ladder(make):
    net = contract.scrambled(make, batch_shape=(2,))
    ladder = from_factorization_machine(net.offset, net.linear, net.factors, net.factors3, several_outputs=True)
    x = rows(5, 4)
    torch.testing.assert_close(ladder(x), net(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("order", [2, 3])
def test_starts_at_a_moderate_scale(order):
    contract.check_scale(partial(FactorizationMachine, 10, 8, 1, order=order), 0.05, 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 3])
def test_learns(order):
    contract.check_learns(partial(FactorizationMachine, 3, 4, 1, order=order))


def test_says_what_it_is():
    assert "4 -> 2, order=3, rank=3, batch_shape=(5,)" in repr(triples(batch_shape=(5,)))
    assert "factors3" not in pairs().state_dict()
    with pytest.raises(ValueError, match="order must be 2 or 3; got 4"):
        FactorizationMachine(3, 2, 1, order=4)
    with pytest.raises(ValueError, match="rank must be a positive integer; got 0"):
        FactorizationMachine(3, 0, 1)
