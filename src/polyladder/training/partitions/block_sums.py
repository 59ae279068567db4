"""What one part of the rows adds to a block's normal equations, computed where the rows are stored.

States are recomputed from the weights, not stored: between two blocks of a sweep every state may change, and the states
of all rows are many times larger than the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.tables.partitions import Part
from polyladder.training.losses.loss import Loss
from polyladder.training.rows import check_inputs
from polyladder.training.solves.blocks import as_ladders, blocks_of, normal_equations, readout_equations
from polyladder.training.solves.quadratic_bound import quadratic_bound

STATE_NUMBERS = 2**21
"""Numbers that the states of the rows computed at once may hold: 16 MiB in float64."""


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Sums over rows, not yet divided by their weight.

    Attributes:
        gram: features times features. Shape (B, p, p).
        moment: features times the residuals of the present outputs. Shape (B, p, r).
        loss: of the present outputs. Shape (B,), or (B, m) where outputs are summed separately.
        scatter: what they add to an estimate of the noise variance. Shape as the loss.
        weight: of the rows. A scalar.
    """

    gram: Tensor
    moment: Tensor
    loss: Tensor
    scatter: Tensor
    weight: Tensor

    def __add__(self, other: BlockSums) -> BlockSums:
        return BlockSums(*(one + more for one, more in zip(vars(self).values(), vars(other).values(), strict=True)))

    def select(self, keep: Tensor) -> BlockSums:
        """The sums of some of the ladders."""
        return BlockSums(self.gram[keep], self.moment[keep], self.loss[keep], self.scatter[keep], self.weight)


@dataclass(frozen=True, eq=False)
class OfBlock:
    """The sums of one block over the rows of a part.

    Attributes:
        weights: layers, gates and readout, intercepts as last columns. Shapes (B, ...).
        block: its position among them.
        loss: what is lowered.
        precision: that the Gram matrices of a few thousand rows are computed in, before they are summed in float64.
    """

    weights: list[Tensor]
    block: int
    loss: Loss
    precision: torch.dtype

    def __call__(self, part: Part) -> BlockSums:
        """Over all rows of a part, a few thousand at a time."""
        return reduce(add, (self.of_rows(*rows) for rows in slices(part, as_ladders(self.weights))))

    def of_rows(self, first: int, x: Tensor, y: Tensor, weight: Tensor) -> BlockSums:
        """Over rows x (n, d) with weights (1, n); their numbers do not matter."""
        blocks = blocks_of(as_ladders(self.weights), x)
        bound = quadratic_bound(self.loss, y, x, blocks.R.shape[1])
        response, curvature = bound.quadratic(blocks.f)
        left, counted, one = response - blocks.f, weight * curvature, weight.new_ones(1)
        if self.block == len(self.weights) - 1:
            equations = readout_equations(blocks.below(len(blocks.W)), left, counted, one)
        else:
            g, h = blocks.features(self.block)
            equations = normal_equations(g, h, left, counted, one, precision=self.precision)
        loss, scatter = ((each * weight).sum(-1) for each in (bound.value(blocks.f), bound.scatter(blocks.f)))
        return BlockSums(equations.gram, equations.moment, loss, scatter, weight.sum())


def slices(part: Part, ladders: LadderPolynomial) -> Iterator[tuple[int, Tensor, Tensor, Tensor]]:
    """Number of the first row, rows, targets and weights (1, n) of a part, a few thousand at a time, in float64."""
    check_inputs(part.X, ladders.in_features)
    numbers = len(ladders) * (2 * sum(ladders.hidden) + ladders.in_features + 1)
    size = max(256, STATE_NUMBERS // numbers)
    for start in range(0, len(part.X), size):
        rows = slice(start, start + size)
        x = part.X[rows].to(torch.float64)
        weight = x.new_ones(1, len(x)) if part.weight is None else part.weight[rows].to(x).unsqueeze(0)
        yield part.first + start, x, part.y[rows], weight
