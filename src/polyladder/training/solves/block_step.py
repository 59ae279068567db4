"""One block's regression, and the step to its minimizer: by a Gram matrix, in either precision, or by products.

The cheapest way is chosen by the block's shape alone, not by the number of ladders or their weights: a ladder is solved
in the same way alone and among others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from polyladder.training.solves.blocks import NormalEquations, block_moment, gram_dtype, normal_equations
from polyladder.training.solves.cholesky import solve_ridge
from polyladder.training.solves.conjugate import MatrixFreeRidge, probes_of

DIRECT_LIMIT = 4000
"""Blocks with more weights than this are solved by conjugate gradients, without forming their Gram matrix."""

ITERATIONS = 25
"""Blocks are also solved by conjugate gradients if this many iterations cost less than the Gram matrix and its
factor."""

STREAMING = 4
"""How much slower an operation of conjugate gradients is than one of a large matrix product: it waits for memory."""

SMALL_BLOCK = 400
"""Blocks with fewer weights than this are always solved directly, as they cost little."""

CONJUGATE_TOLERANCE = 1e-2
"""Conjugate gradients stop when a block's gradient has fallen to this part of its start: the next sweep continues."""

CONJUGATE_LIMIT = ITERATIONS
"""Conjugate gradients stop after this many iterations at the latest."""

SINGLE_ROUNDING = 3e-7
"""The error of a Gram matrix in single precision, relative to its diagonal."""

SINGLE_MISS = 0.5
"""How far from the length 1 the best length of a step may lie before its Gram matrix is summed again, in double."""


ALL = slice(None)
"""All rows."""


class BlockStep(NamedTuple):
    """A step of one block.

    Attributes:
        weights: change of the weights. Shape (B, k, q).
        values: change of the block's values at the rows. Shape (B, k, n).
        outputs: change of the outputs. Shape (B, m, n).
        determined: how many weights the data determine, if asked for; zero otherwise. Shape (B,).
    """

    weights: Tensor
    values: Tensor
    outputs: Tensor
    determined: Tensor

    def times(self, length: float | Tensor) -> BlockStep:
        """The step of another length, one number or (B, 1, 1)."""
        return BlockStep(self.weights * length, self.values * length, self.outputs * length, self.determined)


@dataclass(frozen=True, eq=False)
class BlockRegression:
    """The ridge regression of one block of B ladders, all others fixed.

    Attributes:
        g: derivative of each output with respect to the block's output. Shape (B, m, k, n).
        h: what the block reads. Shape (q, n), shared, or (B, q, n).
        theta: the present weights. Shape (B, k, q).
        left: the residuals of the present outputs. Shape (B, m, n).
        weight: of every row. Shape (B, n) or (1, n).
        total: the sum of weights to divide by. Shape (B,) or (1,).
        alpha: ridge weights. Shape (B,).
        precision: that the Gram matrix is summed in; by default as `gram_dtype` says.
        gram_rows: how many of the rows, evenly spread, it is summed over; None for all.
    """

    g: Tensor
    h: Tensor
    theta: Tensor
    left: Tensor
    weight: Tensor
    total: Tensor
    alpha: Tensor
    precision: torch.dtype | None = None
    gram_rows: int | None = None

    @property
    def sampled(self) -> slice:
        """The rows that the Gram matrix is summed over."""
        n = self.g.shape[-1]
        every = n // summed_rows(n, self.theta[0].numel(), self.gram_rows)
        return slice(None, None, every) if every > 1 else ALL

    def select(self, keep: Tensor) -> BlockRegression:
        """The regressions of some of the ladders."""

        def some(t: Tensor) -> Tensor:
            return t[keep] if len(t) == len(self.theta) else t

        h = self.h if self.h.dim() == 2 else self.h[keep]
        chosen = (self.g[keep], h, self.theta[keep], self.left[keep], some(self.weight), some(self.total))
        return BlockRegression(*chosen, self.alpha[keep], self.precision, self.gram_rows)

    def effect(self, step: Tensor, determined: Tensor) -> BlockStep:
        """What a change (B, k, q) of the weights does."""
        change = step @ self.h
        if self.g.shape[1] == 1:
            moved = (self.g[:, 0] * change).sum(1, keepdim=True)
        else:
            moved = (self.g * change.unsqueeze(1)).sum(2)
        return BlockStep(step, change, moved, determined)


def block_step(block: BlockRegression, estimating: bool) -> BlockStep:
    """The step to the minimizer of a block's regression, in the cheapest way for its shape."""
    _, m, k, n = block.g.shape
    if iterates(m, k, n, block.h.shape[-2], block.gram_rows, estimating):
        return conjugate_step(block, estimating)
    dtype = gram_dtype(n) if block.precision is None else block.precision
    exact = dtype == torch.float64 and block.sampled == ALL
    return gram_step(block, estimating) if exact else rounded_step(block, estimating)


def iterates(m: int, k: int, n: int, q: int, gram_rows: int | None = None, estimating: bool = False) -> bool:
    """Whether a block of k units that read q numbers is solved by conjugate gradients."""
    if k * q > DIRECT_LIMIT:
        return True
    solves = 1 + probes_of(k * q) if estimating else 1
    direct = direct_operations(m, k, summed_rows(n, k * q, gram_rows), q)
    return k * q > SMALL_BLOCK and solves * iterative_operations(m, k, n, q) < direct


def summed_rows(n: int, weights: int, gram_rows: int | None) -> int:
    """How many of n rows the Gram matrix of a block is summed over; a small block's over all."""
    return n if gram_rows is None or weights <= SMALL_BLOCK else min(n, gram_rows)


def direct_operations(m: int, k: int, n: int, q: int) -> float:
    """Cost of forming a block's Gram matrix and factorizing it; a factorization is slower than a product."""
    return n * (2.0 * m * k**2 + k * (k + 1) * q * (q + 1) / 2) + (k * q) ** 3


def iterative_operations(m: int, k: int, n: int, q: int) -> float:
    """Cost of conjugate gradients, counted as operations of a large matrix product."""
    return float(ITERATIONS * STREAMING * 4 * n * m * k * q)


def block_operations(m: int, k: int, n: int, q: int, gram_rows: int | None = None) -> float:
    """Cost of one block of one ladder: its solve, and reading and writing its values and pairs."""
    direct = direct_operations(m, k, summed_rows(n, k * q, gram_rows), q)
    solve = iterative_operations(m, k, n, q) if iterates(m, k, n, q, gram_rows) else direct
    return solve + 8.0 * n * k * (q + 8 * m + 3 * k)


def gram_step(
    block: BlockRegression, estimating: bool, dtype: torch.dtype = torch.float64, rows: slice = ALL
) -> BlockStep:
    """Form the Gram matrix, of all rows or some, and factorize it."""
    penalty = block.alpha.unsqueeze(1).expand(-1, block.theta[0].numel())
    rounding = SINGLE_ROUNDING if dtype == torch.float32 else 0.0
    old = block.theta.flatten(1).unsqueeze(2)
    flat, determined = solve_ridge(equations_of(block, dtype, rows), penalty, old, estimating, rounding)
    return block.effect(flat.reshape(block.theta.shape), determined)


def equations_of(block: BlockRegression, dtype: torch.dtype, rows: slice) -> NormalEquations:
    """The normal equations of a block: the gradient of all rows, the Gram matrix of those given."""
    if rows == ALL:
        return normal_equations(block.g, block.h, block.left, block.weight, block.total, dtype)
    weight = block.weight[:, rows]
    total = block.total * weight.sum(-1) / block.weight.sum(-1)
    some = normal_equations(block.g[..., rows], block.h[..., rows], block.left[..., rows], weight, total, dtype)
    h = block.h if block.h.dim() == 3 else block.h.unsqueeze(0)
    moment = block_moment(block.g, h, block.left, block.weight.unsqueeze(1)) / block.total.reshape(-1, 1, 1)
    return replace(some, moment=moment.flatten(1).unsqueeze(2))


def rounded_step(block: BlockRegression, estimating: bool) -> BlockStep:
    """The same with a Gram matrix in single precision, at half the cost, or of some rows only, and checked.

    The gradient is exact, so only the direction of the step is approximate. Its best length is known from the outputs;
    it is 1 for the exact direction. Ladders for which it is far from that are solved again, in double precision and on
    all rows. A step of the best length cannot raise the quadratic.
    """
    step = gram_step(block, estimating, torch.float32, block.sampled)
    length = best_length(block, step)
    again = ((length - 1).abs() > SINGLE_MISS).flatten().nonzero().squeeze(-1)
    found = step.times(length)
    if len(again):
        exact = gram_step(block.select(again), estimating)
        for rounded, better in zip(found, exact, strict=True):
            rounded[again] = better
    return found


def best_length(block: BlockRegression, step: BlockStep) -> Tensor:
    """The length of a step at which the quadratic is lowest; 1 for the step to its minimizer. Shape (B, 1, 1)."""
    scale = block.total.reshape(-1, 1, 1)
    toward = (step.outputs * block.left * block.weight.unsqueeze(1)).sum((1, 2), keepdim=True) / scale
    curvature = (step.outputs.square() * block.weight.unsqueeze(1)).sum((1, 2), keepdim=True) / scale
    alpha = block.alpha.reshape(-1, 1, 1)
    toward -= alpha * (step.weights * block.theta).sum((1, 2), keepdim=True)
    curvature += alpha * step.weights.square().sum((1, 2), keepdim=True)
    return torch.where(curvature > 0, toward / curvature, 1.0)


def conjugate_step(block: BlockRegression, estimating: bool) -> BlockStep:
    """By products with the Gram matrix, which is never formed."""
    system = MatrixFreeRidge(block.g, block.h, block.weight, block.total, block.alpha)
    gradient = system.moment(block.left) - system.alpha * block.theta
    # Stopping early is safe: every iteration lowers the quadratic.
    step = system.solve(gradient, torch.zeros_like(block.theta), CONJUGATE_TOLERANCE, CONJUGATE_LIMIT)
    determined = torch.zeros_like(block.alpha)
    if estimating:
        determined = system.determined(CONJUGATE_TOLERANCE, CONJUGATE_LIMIT)
    return block.effect(step, determined)
