"""A polynomial-kernel network as weight vectors, each unit with an intercept of its own."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.models.polynomial_kernel import PolynomialKernel


class KernelStructure:
    r"""Polynomial-kernel networks of one shape at fixed rows; all outputs are one part, as they share the directions.

    .. math:: f_o(x) = \sum_k \pi_{ok} (c_k + p_k \cdot x)^q

    The scale of a unit may move between pi and (c, p), so one common lambda > 0 is no restriction: `kernel_weights`
    and `set_kernel_weights` go from a network with lambda to such units and back. Free scales, held small by the ridge
    and by `balanced`, keep the units well conditioned where a common lambda would need huge weights that cancel.

    A weight vector is [pi (m K), units (K (d + 1))], the units with their intercepts last; with lambda = 0 they have
    none. The weights pi have one ridge weight, the units another.

    Args:
        net: networks of this shape.
        x: inputs, rows last. Shape (d, n).
    """

    def __init__(self, net: PolynomialKernel, x: Tensor) -> None:
        homogeneous = not bool(net.intercept.any())
        self.x = x if homogeneous else torch.cat([x, x.new_ones(1, x.shape[-1])])
        self.power, self.rank, self.m = net.degree, net.rank, net.out_features
        self.degree = net.degree + 1
        self.sizes = [self.m * self.rank, self.rank * len(self.x)]
        self.groups = torch.arange(2, device=x.device).repeat_interleave(torch.tensor(self.sizes, device=x.device))

    def parts(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """Weights pi (..., m, K) and units (..., K, inputs)."""
        weights, units = torch.split(theta, self.sizes, -1)
        lead = theta.shape[:-1]
        return weights.reshape(*lead, self.m, self.rank), units.reshape(*lead, self.rank, len(self.x))

    def outputs(self, theta: Tensor) -> Tensor:
        """Outputs at all rows."""
        weights, units = self.parts(theta)
        return weights @ (units @ self.x) ** self.power

    def derivatives(self, theta: Tensor, rows: slice) -> Tensor:
        """The powers, for the output's own weights, and q pi u^(q-1) x."""
        weights, units = self.parts(theta)
        x = self.x[:, rows]
        u = units @ x
        lower = u ** (self.power - 1)
        slopes = self.power * weights.unsqueeze(-1) * lower.unsqueeze(-3)
        by_unit = (slopes.unsqueeze(-2) * x).flatten(-3, -2)
        own = torch.eye(self.m, dtype=x.dtype, device=x.device)[:, :, None, None]
        by_weight = (own * (lower * u)[..., None, None, :, :]).flatten(-3, -2)
        return torch.cat([by_weight, by_unit], -2)

    def balanced(self, theta: Tensor) -> Tensor:
        """Move the scale of every unit to where |pi|^2 + |unit|^2 is least: q |pi|^2 = |unit|^2."""
        weights, units = self.parts(theta)
        squares = weights.square().sum(-2), units.square().sum(-1)
        # Logarithms: ratios of tiny norms would overflow.
        logs = (squares[0].log() + torch.tensor(float(self.power)).log() - squares[1].log()) / (2 * self.power + 2)
        scale = torch.where(logs.isfinite(), logs.exp(), torch.ones_like(logs))
        weights, units = weights * scale.unsqueeze(-2) ** -self.power, units * scale.unsqueeze(-1)
        return torch.cat([weights.flatten(-2), units.flatten(-2)], -1)


def kernel_weights(net: PolynomialKernel) -> Tensor:
    """The weight vectors of networks. Shape (B, 1, p)."""
    weights, directions = net.weights.detach().double(), net.directions.detach().double()
    units = directions
    if bool(net.intercept.any()):
        shift = net.intercept.detach().double()[..., None, None].expand(*directions.shape[:-1], 1)
        units = torch.cat([directions, shift], -1)
    return torch.cat([t.flatten(-2).reshape(-1, 1, t.shape[-2] * t.shape[-1]) for t in (weights, units)], -1)


@torch.no_grad()
def set_kernel_weights(net: PolynomialKernel, structure: KernelStructure, theta: Tensor) -> None:
    """Write weight vectors, shape (B, 1, p), into the networks; their lambda stays.

    A unit c + p . x is (c / lambda) (lambda + (lambda / c) p . x). An intercept below 1e-9 of its unit is raised to
    that: without an intercept the unit has no such form.
    """
    weights, units = (t.squeeze(1) for t in structure.parts(theta))
    shift = net.intercept.detach().double().reshape(-1, 1)
    if bool(shift.any()):
        c = units[..., -1]
        least = 1e-9 * units.norm(dim=-1).clamp_min(1e-300)
        ratio = torch.where(c < 0, -1.0, 1.0) * c.abs().maximum(least) / shift
        weights = weights * ratio.unsqueeze(-2) ** net.degree
        units = units[..., :-1] / ratio.unsqueeze(-1)
    net.weights.copy_(weights.reshape(net.weights.shape))
    net.directions.copy_(units.reshape(net.directions.shape))
