"""A sweep of exact solves over the blocks of many ladders, from the readout down to the first layer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from polyladder.training.solves.block_step import BlockRegression, block_step
from polyladder.training.solves.blocks import Blocks, NormalEquations, balance, readout_equations
from polyladder.training.solves.cholesky import solve_ridge
from polyladder.training.solves.descent import Objective


@dataclass
class SweptLadders:
    """Ladders during a fit; a step is a sweep. Their groups of weights are the blocks: layers, gates, readout.

    Attributes:
        blocks: the weights, and their states at the training rows.
        relaxation: length of the steps of layers and gates; 1 ends at a block's minimizer.
        exact: how many sweeps are still to be made with steps of length 1.
        determined: how many weights of each block the data determine, as last counted. Shape (2 L + 1, B).
    """

    blocks: Blocks
    relaxation: float = 1.0
    exact: int = 0
    determined: Tensor | None = None

    @property
    def f(self) -> Tensor:
        """Outputs."""
        return self.blocks.f

    def step(self, objective: Objective, estimating: bool) -> tuple[Tensor, Tensor]:
        """Solve every block once."""
        # Rescaling makes the blocks' penalties equal, and estimating their ridge weights makes them differ: once
        # estimates have begun, rescaling would undo them.
        rescaling = self.determined is None and not estimating
        counted = self.sweep(objective, estimating, rescaling, 1.0 if self.exact > 0 else self.relaxation)
        self.exact -= 1
        if estimating:
            self.determined = counted
        penalized = (counted if self.determined is None else self.determined).clone()
        total = penalized.sum(0)
        penalized[-1] -= self.blocks.R.shape[1]  # the offsets, which have no prior
        return penalized, total

    def sweep(self, objective: Objective, estimating: bool, rescaling: bool, relaxation: float) -> Tensor:
        """As `one_sweep`."""
        return one_sweep(self.blocks, objective, estimating, rescaling, relaxation)

    def norms(self) -> Tensor:
        """Squared norm of each block, the offset left out."""
        return torch.stack([t.square().sum((1, 2)) for t in (*self.blocks.W, *self.blocks.V, self.blocks.R[..., :-1])])

    def weights(self) -> list[Tensor]:
        """The blocks."""
        return self.blocks.weights()

    def restless(self) -> Tensor:
        """No model: a sweep without gain ends a fit."""
        return torch.zeros(self.blocks.count, dtype=torch.bool, device=self.blocks.R.device)

    def select(self, keep: Tensor) -> Self:
        """Some of the ladders."""
        counted = None if self.determined is None else self.determined[:, keep]
        return replace(self, blocks=self.blocks.select(keep), determined=counted)


def one_sweep(
    blocks: Blocks, objective: Objective, estimating: bool, rescaling: bool = True, relaxation: float = 1.0
) -> Tensor:
    """Solve every block once, from the readout down to the first layer, and rescale (`balance`) where that is wanted.

    Args:
        blocks: of many ladders; they change.
        objective: to be lowered.
        estimating: whether to count the weights that the data determine.
        rescaling: whether to rescale.
        relaxation: length of the steps of layers and gates, below 2.

    Returns:
        If estimating, how many weights of each block the data determine, offsets included; zero otherwise. Shape
        (2 L + 1, B).
    """
    depth, alpha = len(blocks.W), objective.ridge.alpha
    determined = torch.zeros_like(alpha)
    determined[-1] = solve_readout(blocks, objective, estimating)
    # Derivatives of the outputs with respect to the state below: at first the readout itself, the same for all rows.
    slope = blocks.R[..., :-1].unsqueeze(-1)
    for l in reversed(range(depth)):
        u, gate = blocks.W[l] @ blocks.below(l), blocks.V[l] @ blocks.x
        gate, determined[depth + l] = solve_layer(
            blocks, depth + l, slope * u.unsqueeze(1), gate, objective, estimating, relaxation
        )
        g = slope * gate.unsqueeze(1)
        _, determined[l] = solve_layer(blocks, l, g, u, objective, estimating, relaxation)
        if l:
            slope = blocks.W[l][:, None, :, :-1].mT @ g
    if rescaling:
        balance(blocks, alpha)
    blocks.forward()
    return determined


def solve_readout(blocks: Blocks, objective: Objective, estimating: bool) -> Tensor:
    """Replace the readout by its exact minimizer and update the outputs; returns how many weights are determined."""
    response, curvature = objective.bound.quadratic(blocks.f)
    h = blocks.below(len(blocks.W))
    equations = readout_equations(h, response - blocks.f, objective.weight * curvature, objective.rows)
    blocks.R, determined = solved_readout(equations, blocks.R, objective.ridge.alpha[-1], estimating)
    blocks.f = blocks.R @ h
    return determined


def solved_readout(equations: NormalEquations, old: Tensor, alpha: Tensor, estimating: bool) -> tuple[Tensor, Tensor]:
    """The minimizer of the readout's regression (B, m, q), and how many of its weights are determined, (B,)."""
    penalty = alpha.unsqueeze(1).repeat(1, old.shape[-1])
    penalty[:, -1] = 0.0
    step, determined = solve_ridge(equations, penalty, old.mT, estimating)
    return (old.mT + step).mT.contiguous(), determined


def solve_layer(
    blocks: Blocks,
    block: int,
    g: Tensor,
    old: Tensor,
    objective: Objective,
    estimating: bool,
    relaxation: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Move one layer or gate to its exact minimizer and update the outputs; the states are left as they were.

    Args:
        blocks: with its outputs ``f`` up to date.
        block: the block's position: layers, then gates.
        g: derivative of each output with respect to the block's output. Shape (B, m, k, n).
        old: the block's present values. Shape (B, k, n).
        objective: of which the block minimizes the quadratic bound.
        estimating: see `one_sweep`.
        relaxation: how far to go, 1 being the minimizer. The quadratic falls for every length between 0 and 2.

    Returns:
        The block's new values, (B, k, n), and how many of its weights the data determine, (B,).
    """
    layer = block % len(blocks.W)
    weights, h = (blocks.W, blocks.below(layer)) if block == layer else (blocks.V, blocks.x)
    theta, alpha = weights[layer], objective.ridge.alpha[block]
    response, curvature = objective.bound.quadratic(blocks.f)
    weight = objective.weight * curvature
    left = response - blocks.f
    regression = BlockRegression(g, h, theta, left, weight, objective.rows, alpha, blocks.precision, blocks.gram_rows)
    step = block_step(regression, estimating)
    weights[layer] = torch.add(theta, step.weights, alpha=relaxation)
    blocks.f = torch.add(blocks.f, step.outputs, alpha=relaxation)
    return torch.add(old, step.values, alpha=relaxation), step.determined
