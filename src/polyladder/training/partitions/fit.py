"""`fit_partitions`: exact block solves of rows in parts, with the steps of `polyladder.fit_alternating`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import add
from typing import Self

import torch
from torch import Tensor

from polyladder.models.batched import positive_integer
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.tables.partitions import Partitions
from polyladder.training.history import Progress
from polyladder.training.losses import AnyLoss, loss_named
from polyladder.training.losses.loss import Loss
from polyladder.training.partitions.block_sums import BlockSums, OfBlock
from polyladder.training.solves.alternating import RENEWAL, AlternatingFit, check_precision
from polyladder.training.solves.block_step import DIRECT_LIMIT, SINGLE_ROUNDING
from polyladder.training.solves.blocks import NormalEquations, as_ladders, balance, blocks_without_rows, gram_dtype
from polyladder.training.solves.cholesky import solve_ridge
from polyladder.training.solves.descent import DescentOptions, Objective, descend
from polyladder.training.solves.ridge import Alpha
from polyladder.training.solves.sweep import SweptLadders, solved_readout


class MeanLoss:
    """A loss whose sums over all rows are already known.

    The descent sees a single row that weighs as much as all of them and whose loss is their mean.
    """

    def __init__(self, noise: float | None) -> None:
        self.noise = noise

    def value(self, f: Tensor) -> Tensor:
        """Mean losses, as `PartitionedLadders.f` holds them. Shape (B, m, 2) to (B, 1)."""
        return f[..., :1].sum(1)

    def scatter(self, f: Tensor) -> Tensor:
        """Mean scatters, the second entries. Shape (B, m, 2) to (B, 1)."""
        return f[..., 1:].sum(1)

    def quadratic(self, f: Tensor) -> tuple[Tensor, Tensor]:
        """Not available: the blocks' quadratics are sums over parts."""
        raise NotImplementedError


@dataclass(kw_only=True)
class PartitionedLadders(SweptLadders):
    """Ladders during a fit, whose rows are stored elsewhere: the blocks have no states.

    Attributes:
        rows: coded rows and targets, as tensors.
        loss: what is lowered.
        ahead: the sums of the readout at the present weights. They include the loss, which so needs no pass of its own.
    """

    rows: Partitions
    loss: Loss
    ahead: BlockSums

    @property
    def f(self) -> Tensor:
        """The mean loss and scatter in place of the outputs; see `MeanLoss`. Shape (B, m, 2)."""
        means = torch.stack([self.ahead.loss, self.ahead.scatter], -1) / self.ahead.weight
        found = means.new_zeros(self.blocks.count, self.blocks.R.shape[1], 2)
        found[:, 0] = means
        return found

    def sweep(self, objective: Objective, estimating: bool, rescaling: bool, relaxation: float) -> Tensor:
        """The readout, then gates and layers from the last to the first, a pass over the rows for each."""
        blocks, alpha = self.blocks, objective.ridge.alpha
        depth, counted = len(blocks.W), torch.zeros_like(alpha)
        blocks.R, counted[-1] = solved_readout(mean_equations(self.ahead), blocks.R, alpha[-1], estimating)
        for l in reversed(range(depth)):
            for block in (depth + l, l):
                counted[block] = self.solve(block, alpha[block], estimating)
        if rescaling:
            balance(blocks, alpha)
        self.ahead = sums_of(self.rows, blocks.weights(), 2 * depth, self.loss, blocks.precision)
        return counted

    def solve(self, block: int, alpha: Tensor, estimating: bool) -> Tensor:
        """Replace a layer or a gate by its exact minimizer; returns how many weights are determined. Shape (B,)."""
        theta, precision = self.blocks.weights(), self.blocks.precision
        equations, old = mean_equations(sums_of(self.rows, theta, block, self.loss, precision)), theta[block]
        penalty = alpha.unsqueeze(1).expand(-1, old[0].numel())
        # Damped by the rounding error of the Gram matrix, so that a step cannot raise the loss.
        rounding = SINGLE_ROUNDING if precision == torch.float32 else 0.0
        step, determined = solve_ridge(equations, penalty, old.flatten(1).unsqueeze(2), estimating, rounding)
        self.blocks.put(block, old + step.reshape(old.shape))
        return determined

    def select(self, keep: Tensor) -> Self:
        """Some of the ladders."""
        return replace(super().select(keep), ahead=self.ahead.select(keep))


@dataclass(frozen=True, eq=False)
class PartitionedFit(AlternatingFit):
    """What `fit_partitions` found.

    Args:
        ahead: after a single sweep, the sums of the readout at the weights found, to continue from; else None.
    """

    ahead: BlockSums | None


def sums_of(rows: Partitions, theta: list[Tensor], block: int, loss: Loss, precision: torch.dtype) -> BlockSums:
    """The sums of a block over all rows: one pass."""
    return rows.fold(OfBlock(theta, block, loss, precision), add)


def mean_equations(sums: BlockSums) -> NormalEquations:
    """Normal equations from sums over all rows."""
    return NormalEquations(sums.gram / sums.weight, sums.moment / sums.weight)


def passes(layers: int, sweeps: int) -> int:
    """How often a fit reads all rows: once for each block of each sweep, and once for the first loss."""
    return sweeps * (2 * layers + 1) + 1


def check_solvable(start: LadderPolynomial) -> None:
    """Refuse ladders whose batch is not flat, or whose Gram matrices are too large to be sent."""
    if len(start.batch_shape) != 1:
        raise ValueError(f"start must have a batch shape (B,); got {tuple(start.batch_shape)}.")
    layers = [w[0].numel() + b[0].numel() for w, b in zip((*start.W, *start.V), (*start.b, *start.c), strict=True)]
    if max(layers, default=0) > DIRECT_LIMIT:
        raise ValueError(
            f"A block must have at most {DIRECT_LIMIT} weights to be solved over parts; got {max(layers)}. "
            "Lower the width, or leave out columns."
        )


@torch.no_grad()
def fit_partitions(
    start: LadderPolynomial,
    rows: Partitions,
    *,
    loss: AnyLoss = "squared",
    alpha: Alpha = "auto",
    noise_inflation: float | Tensor = 1.0,
    sweeps: int = 2,
    tolerance: float = 1e-3,
    progress: Progress | None = None,
    known_alpha: Tensor | None = None,
    precision: torch.dtype | None = None,
    ahead: BlockSums | None = None,
) -> PartitionedFit:
    """Block solves of rows in parts: the fit of `polyladder.fit_alternating`, up to rounding.

    Each block's Gram matrix and right-hand side are summed where the rows are stored, and solved here. A pass sends the
    weights to the parts, and p (p + 1) numbers back from each of them for a block of p weights. A fit takes
    ``sweeps * (2 L + 1) + 1`` passes, L being the number of layers (`passes`).

    Args:
        start: where to start; batch shape (B,).
        rows: parts whose X are tensors (n, d) and whose targets are as in `polyladder.fit_alternating`.
        loss, alpha, noise_inflation, tolerance, progress, known_alpha: as in `polyladder.fit_alternating`.
        sweeps: at most this many.
        precision: of the Gram matrices of a few thousand rows, which are summed in float64. By default float32 from
            1,000 rows on, float64 below. Steps are damped by the rounding error, so that none raises the loss.
        ahead: the sums of the readout at ``start``, if an earlier fit of these rows ended there: they save a pass.
    """
    positive_integer("sweeps", sweeps)
    check_precision(precision)
    loss = loss_named(loss)
    if not loss.settled:
        raise ValueError(f"loss must be settled for rows in parts, as {loss!r} is not. Use `Loss.settle` on a sample.")
    start = start.to(torch.float64)
    check_solvable(start)
    blocks = blocks_without_rows(start)
    if ahead is None:
        ahead = sums_of(rows, blocks.weights(), 2 * len(blocks.W), loss, torch.float64)
    blocks.precision = gram_dtype(int(ahead.weight)) if precision is None else precision
    ladders = PartitionedLadders(blocks, rows=rows, loss=loss, ahead=ahead)
    found, fields = descend(
        ladders,
        MeanLoss(loss.noise),
        ahead.weight.reshape(1, 1),
        DescentOptions(
            alpha,
            noise_inflation,
            sweeps,
            tolerance,
            progress=progress,
            renewal=RENEWAL,
            known=None if known_alpha is None else known_alpha.reshape(len(known_alpha), -1),
        ),
        start.batch_shape,
    )
    return PartitionedFit(**fields, polynomial=as_ladders(found), ahead=ladders.ahead if sweeps == 1 else None)
