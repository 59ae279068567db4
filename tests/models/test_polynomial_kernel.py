from functools import partial

import pytest
import torch

from polyladder import from_polynomial_kernel
from polyladder.models.polynomial_kernel import PolynomialKernel, power_moment
from tests.ladders import rows
from tests.models import contract
from tests.oracles.rivals import polynomial_kernel

fixed = partial(PolynomialKernel, 3, 4, 2, 3)
learned = partial(PolynomialKernel, 3, 4, 2, 4, learn_intercept=True)


@pytest.mark.parametrize("make", [fixed, learned])
@pytest.mark.parametrize(
    "check", [contract.check_slices, contract.check_stacks, contract.check_seeds, contract.check_refusals]
)
def test_contract(check, make):
    check(make)


@pytest.mark.parametrize("make", [fixed, learned, partial(fixed, intercept=0.0)])
def test_equals_its_definition(make):
    net = contract.scrambled(make)
    x = rows(3, 3)
    y = net(x)
    for n in range(3):
        for o in range(2):
            shifts = [net.intercept.item()] * net.rank
            weights, directions = net.weights[o].tolist(), net.directions.detach()
            expected = polynomial_kernel(weights, shifts, directions, net.degree, x[n].tolist())
            assert y[n, o].item() == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_has_its_order(degree):
    net = contract.scrambled(partial(PolynomialKernel, 3, 4, 1, degree))
    assert net.order == degree
    contract.check_order(net, degree)


def test_without_intercept_it_is_homogeneous():
    net = fixed(intercept=0.0, dtype=torch.float64, seed=0)
    x = rows(4, 3)
    torch.testing.assert_close(net(2 * x), 8 * net(x))


def test_a_fixed_intercept_is_no_parameter_and_may_differ_by_model():
    values = torch.tensor([0.5, 2.0])
    net = fixed(intercept=values, batch_shape=(2,))
    assert {name for name, _ in net.named_parameters()} == {"weights", "directions"}
    assert torch.equal(net.intercept, values)
    assert net[1].intercept.item() == 2.0
    free = learned(intercept=values, batch_shape=(2,))
    assert {name for name, _ in free.named_parameters()} == {"weights", "directions", "intercept"}
    free(torch.ones(3, 3)).sum().backward()
    assert (free.intercept.grad != 0).all()


@pytest.mark.parametrize("make", [fixed, learned])
def test_is_a_ladder(make):
    net = contract.scrambled(make, batch_shape=(2,))
    ladder = from_polynomial_kernel(net.weights, net.intercept.unsqueeze(-1), net.directions, net.degree)
    x = rows(5, 3)
    torch.testing.assert_close(ladder(x), net(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("intercept", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_starts_at_a_moderate_scale(degree, intercept):
    contract.check_scale(partial(PolynomialKernel, 10, 8, 1, degree, intercept=intercept), 0.5, 2.0)


def test_power_moment_is_that_of_a_normal():
    z = torch.randn(400_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    shift, spread = torch.tensor(0.7, dtype=torch.float64), torch.tensor(0.4, dtype=torch.float64)
    sample = (shift + spread * z).pow(6)
    error = 5 * sample.std() / len(z) ** 0.5
    assert abs(power_moment(shift, spread, 6) - sample.mean()) < error


@pytest.mark.slow
@pytest.mark.parametrize("learn_intercept", [False, True])
def test_learns(learn_intercept):
    contract.check_learns(partial(PolynomialKernel, 3, 8, 1, 2, learn_intercept=learn_intercept))


def test_says_what_it_is():
    text = repr(learned(batch_shape=(5,)))
    assert "3 -> 2, degree=4, rank=4, intercept=learned, batch_shape=(5,)" in text
    with pytest.raises(ValueError, match="degree must be a positive integer; got 0"):
        PolynomialKernel(3, 2, 1, 0)
    with pytest.raises(ValueError, match=r"intercept must be in \[0, inf\); got -1"):
        PolynomialKernel(3, 2, 1, 2, intercept=-1.0)
