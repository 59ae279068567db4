"""A family of each kind as weight vectors at a few rows, for the tests of their steps."""

from typing import Any

import torch

from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.training.rivals.gauss_newton import Quadratic
from polyladder.training.rivals.kernel_units import KernelStructure, kernel_weights
from polyladder.training.rivals.machine_columns import MachineStructure
from tests.ladders import rows
from tests.models import contract


def machine(order: int = 3, m: int = 1, shape: tuple[int, ...] = ()) -> FactorizationMachine:
    return contract.scrambled(lambda **options: FactorizationMachine(3, 2, m, order, **options), batch_shape=shape)


def kernel(degree: int = 3, m: int = 1, shape: tuple[int, ...] = (), shift: float = 1.0) -> PolynomialKernel:
    return PolynomialKernel(3, 2, m, degree, shift, batch_shape=shape, seed=4, dtype=torch.float64)


def machine_structure(order: int) -> tuple[MachineStructure, torch.Tensor]:
    """Machines of two outputs at 7 rows, with the weight vectors of two models."""
    net = machine(order, 2, (2,))
    parts = [t for t in (net.offset, net.linear, net.factors, net.factors3) if t is not None]
    return MachineStructure(net, rows(7, 3).mT), torch.cat([t.detach().reshape(2, 2, -1) for t in parts], -1)


def kernel_structure(shift: float) -> tuple[KernelStructure, torch.Tensor]:
    """Kernel networks of two outputs at 7 rows, with the weight vectors of two models."""
    net = kernel(3, 2, (2,), shift)
    return KernelStructure(net, rows(7, 3).mT), kernel_weights(net)


def structures() -> list[Any]:
    """Machines of order 2 and 3, kernel networks with and without an intercept."""
    return [machine_structure(2), machine_structure(3), kernel_structure(1.0), kernel_structure(0.0)]


def some_quadratic(structure: Any, theta: torch.Tensor, penalty: float = 0.1) -> Quadratic:
    f = structure.outputs(theta)
    response = torch.randn(f.shape, generator=torch.Generator().manual_seed(3), dtype=f.dtype)
    weight = rows(f.shape[-1], len(theta), seed=8).abs().T
    ridge = torch.where(structure.groups >= 0, penalty, 0.0).double().expand(len(theta), 1, -1)
    return Quadratic(response, weight, weight.sum(-1), ridge)


def check_outputs_and_derivatives(structure: Any, theta: torch.Tensor, net: Any) -> None:
    """Outputs are those of the module, derivatives those of autograd, at some of the rows."""
    f = structure.outputs(theta)
    torch.testing.assert_close(f.flatten(1, 2).mT, net(structure.x[:3].mT).detach())
    found = structure.derivatives(theta, slice(2, 6))
    B, s, o, _ = f.shape
    for b in range(B):
        for part in range(s):

            def outputs(vector: torch.Tensor, b: int = b, part: int = part) -> torch.Tensor:
                moved = theta.clone()
                moved[b, part] = vector
                return structure.outputs(moved)[b, part]

            expected = torch.autograd.functional.jacobian(outputs, theta[b, part])
            torch.testing.assert_close(found[b, part], expected[:, 2:6].mT)
    assert found.shape == (B, s, o, theta.shape[-1], 4)
