import pytest
import torch

from polyladder.training.rivals.kernel_units import KernelStructure, kernel_weights, set_kernel_weights
from tests.ladders import rows
from tests.oracles import rivals as oracle
from tests.training.rivals.families import check_outputs_and_derivatives, kernel, kernel_structure


@pytest.mark.parametrize("shift", [1.0, 0.0])
def test_outputs_are_those_of_the_module_and_derivatives_those_of_autograd(shift: float) -> None:
    check_outputs_and_derivatives(*kernel_structure(shift), kernel(3, 2, (2,), shift))


def test_units_with_intercepts_of_their_own_are_exact_sums_of_powers() -> None:
    structure, theta = kernel_structure(1.0)
    theta = theta + 0.3 * torch.randn(theta.shape, generator=torch.Generator().manual_seed(2), dtype=theta.dtype)
    weights, units = structure.parts(theta)
    f = structure.outputs(theta)
    for b in range(2):
        for o in range(2):
            for i in range(7):
                x = structure.x[:3, i].tolist()
                unit = units[b, 0]
                exact = oracle.polynomial_kernel(weights[b, 0, o].tolist(), unit[:, 3].tolist(), unit[:, :3], 3, x)
                assert f[b, 0, o, i].item() == pytest.approx(exact, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("shift", [1.0, 0.0])
def test_balancing_changes_no_output_and_makes_the_norm_least(shift: float) -> None:
    structure, theta = kernel_structure(shift)
    # Every unit ten times as large, some of its weights smaller: another network, out of balance.
    scaled = theta.clone()
    scaled[..., :2] /= 1000.0
    scaled[..., structure.sizes[0] :] *= 10.0
    balanced = structure.balanced(scaled)
    torch.testing.assert_close(structure.outputs(balanced), structure.outputs(scaled))
    torch.testing.assert_close(balanced, structure.balanced(balanced))
    assert (balanced.square().sum(-1) <= scaled.square().sum(-1) * (1 + 1e-12)).all()
    for factor in (0.99, 1.01):
        weights, units = (t.clone() for t in structure.parts(balanced))
        weights[..., 0] /= factor**3
        units[..., 0, :] *= factor
        other = torch.cat([weights.flatten(-2), units.flatten(-2)], -1)
        assert (other.square().sum(-1) > balanced.square().sum(-1)).all()


def test_a_dead_unit_is_left_alone_by_balancing() -> None:
    structure, theta = kernel_structure(1.0)
    weights, units = (t.clone() for t in structure.parts(theta))
    weights[..., 1] = 0.0
    dead = torch.cat([weights.flatten(-2), units.flatten(-2)], -1)
    again = structure.parts(structure.balanced(dead))
    assert not again[0][..., 1].any()
    assert torch.equal(again[1][..., 1, :], units[..., 1, :])


@pytest.mark.parametrize("shift", [1.0, 0.3, 0.0])
def test_kernel_weights_go_to_units_and_back(shift: float) -> None:
    net = kernel(4, 2, (2,), shift)
    x = rows(6, 3)
    before = net(x).detach()
    structure = KernelStructure(net, x.mT)
    theta = structure.balanced(kernel_weights(net))
    with torch.no_grad():
        net.weights.zero_()
        net.directions.zero_()
    set_kernel_weights(net, structure, theta)
    torch.testing.assert_close(net(x).detach(), before)
    assert (net.intercept == shift).all()


def test_a_unit_without_intercept_is_written_with_a_tiny_one() -> None:
    net = kernel(2)
    x = rows(6, 3)
    structure = KernelStructure(net, x.mT)
    theta = kernel_weights(net)
    theta[..., structure.sizes[0] + 3 :: 4] = 0.0
    expected = structure.outputs(theta).squeeze(0).squeeze(0).mT
    set_kernel_weights(net, structure, theta)
    torch.testing.assert_close(net(x).detach(), expected, rtol=1e-6, atol=1e-6)
