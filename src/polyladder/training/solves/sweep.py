"""A sweep of exact solves over the blocks of many ladders, from the readout down to the first layer."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.training.solves.blocks import Blocks, balance, normal_equations, readout_equations
from polyladder.training.solves.cholesky import solve_ridge
from polyladder.training.solves.conjugate import MatrixFreeRidge
from polyladder.training.solves.descent import Objective

DIRECT_LIMIT = 4000
"""Blocks with more weights than this are solved by conjugate gradients, without forming their Gram matrix."""


@dataclass(frozen=True)
class Ladders:
    """Ladders on their way down, a sweep a step. Their groups of weights are the blocks: layers, gates, readout."""

    blocks: Blocks

    @property
    def f(self) -> Tensor:
        """Outputs."""
        return self.blocks.f

    def step(self, objective: Objective, estimating: bool) -> tuple[Tensor, Tensor]:
        """Solve every block once."""
        determined = one_sweep(self.blocks, objective, estimating)
        penalized = determined.clone()
        penalized[-1] -= self.blocks.f.shape[1]  # the offsets, which have no prior
        return penalized, determined.sum(0)

    def norms(self) -> Tensor:
        """Squared norm of each block, the offset left out."""
        blocks = self.blocks
        return torch.stack([t.square().sum((1, 2)) for t in (*blocks.W, *blocks.V, blocks.R[..., :-1])])

    def weights(self) -> list[Tensor]:
        """The blocks."""
        return self.blocks.weights()

    def restless(self) -> Tensor:
        """None: a sweep that gains nothing is the end."""
        return torch.zeros(self.blocks.count, dtype=torch.bool, device=self.blocks.f.device)

    def select(self, keep: Tensor) -> Ladders:
        """Some of the ladders."""
        return Ladders(self.blocks.select(keep))


def one_sweep(blocks: Blocks, objective: Objective, estimating: bool) -> Tensor:
    """Solve every block once, from the readout down to the first layer, and rescale unless ridges are re-estimated.

    Returns:
        If estimating, how many weights of each block the data determine, offsets included; zero otherwise. Shape
        (2 L + 1, B).
    """
    depth, alpha = len(blocks.W), objective.ridge.alpha
    determined = torch.zeros_like(alpha)
    determined[-1] = solve_readout(blocks, objective, estimating)
    # Derivatives of the outputs with respect to the state below: at first the readout itself, the same for all rows.
    slope = blocks.R[..., :-1].unsqueeze(-1).expand(-1, -1, -1, blocks.x.shape[-1])
    for l in reversed(range(depth)):
        u, gate = blocks.W[l] @ blocks.below(l), blocks.V[l] @ blocks.x
        gate, determined[depth + l] = solve_layer(
            blocks, depth + l, slope * u.unsqueeze(1), gate, objective, estimating
        )
        g = slope * gate.unsqueeze(1)
        _, determined[l] = solve_layer(blocks, l, g, u, objective, estimating)
        if l:
            slope = blocks.W[l][:, None, :, :-1].mT @ g
    if not estimating:
        # What reads a layer is the next layer or, above the last, the readout.
        readers = [*alpha[1:depth], alpha[-1]][:depth]
        balance(blocks, list(zip(alpha[:depth], alpha[depth:-1], readers, strict=True)))
    blocks.forward()
    return determined


def solve_readout(blocks: Blocks, objective: Objective, estimating: bool) -> Tensor:
    """Replace the readout by its exact minimizer and update the outputs; returns how many weights are determined."""
    response, curvature = objective.bound.quadratic(blocks.f)
    h = blocks.below(len(blocks.W))
    equations = readout_equations(h, response, objective.weight * curvature, objective.rows)
    penalty = objective.ridge.alpha[-1].unsqueeze(1).repeat(1, equations.gram.shape[-1])
    penalty[:, -1] = 0.0
    readout, determined = solve_ridge(equations, penalty, blocks.R.mT, estimating)
    blocks.R = readout.mT.contiguous()
    blocks.f = blocks.R @ h
    return determined


def solve_layer(
    blocks: Blocks, block: int, g: Tensor, old: Tensor, objective: Objective, estimating: bool
) -> tuple[Tensor, Tensor]:
    """Replace one layer or gate by its exact minimizer and update the outputs; the states are left as they were.

    Args:
        blocks: with its outputs ``f`` up to date.
        block: the block's position: layers, then gates.
        g: derivative of each output with respect to the block's output. Shape (B, m, k, n).
        old: the block's present values. Shape (B, k, n).
        objective: of which the block minimizes the quadratic bound.
        estimating: see `one_sweep`.

    Returns:
        The block's new values, (B, k, n), and how many of its weights the data determine, (B,).
    """
    layer = block % len(blocks.W)
    weights, h = (blocks.W, blocks.below(layer)) if block == layer else (blocks.V, blocks.x)
    theta, alpha = weights[layer], objective.ridge.alpha[block]
    response, curvature = objective.bound.quadratic(blocks.f)
    rest = blocks.f - (g * old.unsqueeze(1)).sum(2)
    weight = objective.weight * curvature
    if theta[0].numel() > DIRECT_LIMIT:
        system = MatrixFreeRidge(g, h, weight, objective.rows, alpha)
        theta = system.solve(system.moment(response - rest), theta)
        determined = system.determined() if estimating else torch.zeros_like(alpha)
    else:
        equations = normal_equations(g, h, response - rest, weight, objective.rows)
        penalty = alpha.unsqueeze(1).expand(-1, theta[0].numel())
        flat, determined = solve_ridge(equations, penalty, theta.flatten(1).unsqueeze(2), estimating)
        theta = flat.reshape(theta.shape)
    weights[layer] = theta
    new = theta @ h
    blocks.f = rest + (g * new.unsqueeze(1)).sum(2)
    return new, determined
