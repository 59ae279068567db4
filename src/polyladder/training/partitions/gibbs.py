"""`sample_partitions`: exact block draws for rows in parts, the draws of `polyladder.sample_gibbs`.

Given the noise, the distribution of a block follows from its Gram matrix and its right-hand side, and both are sums
over rows. The driver draws all random numbers but those of the latent values of two classes: each row has its own place
in a chain's random stream, so that a part can draw them again in every pass without storing them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal

import torch
from torch import Tensor

from polyladder.models.batched import Seeds
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.tables.partitions import Part, Partitions
from polyladder.training.bayes.gibbs import (
    Drawn,
    GibbsDraws,
    GibbsState,
    Priors,
    collect,
    draw_precisions,
    drawn_layer,
    drawn_readout,
    in_units_of_noise,
    rescale,
)
from polyladder.training.bayes.probit import TwoClasses
from polyladder.training.bayes.streams import Streams
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.squared import SQUARED
from polyladder.training.partitions.block_sums import BlockSums, slices
from polyladder.training.partitions.fit import check_solvable
from polyladder.training.solves.blocks import (
    Blocks,
    NormalEquations,
    as_ladders,
    blocks_of,
    blocks_without_rows,
    normal_equations,
    readout_equations,
)


@dataclass(frozen=True, eq=False)
class Latent:
    """The latent values of two classes in one sweep.

    Attributes:
        weights: of the ladders when the sweep began.
        streams: as they were then; row number i takes uniform draw number i from there.
    """

    weights: list[Tensor]
    streams: Streams

    def of_rows(self, first: int, x: Tensor, sign: Tensor, weight: Tensor) -> Tensor:
        """Of rows x (n, d) with numbers from ``first`` on. Shape (B, 1, n)."""
        f = blocks_of(as_ladders(self.weights), x).f
        return TwoClasses(sign).renew(f, weight, self.streams.beyond(first))[0]


@dataclass(frozen=True, eq=False)
class OfDraw:
    """What one part adds to the conditional distribution of a block.

    Attributes:
        weights: layers, gates and readout, intercepts as last columns. Shapes (B, ...).
        block: its position among them.
        accuracy: precision of the noise of each output. Shape (B, m).
        latent: of two classes; None for numbers.
    """

    weights: list[Tensor]
    block: int
    accuracy: Tensor
    latent: Latent | None

    def __call__(self, part: Part) -> BlockSums:
        """Over all rows of a part; the loss is the sum of the squared residuals of each output."""
        return reduce(add, (self.of_rows(*rows) for rows in slices(part, as_ladders(self.weights))))

    def of_rows(self, first: int, x: Tensor, y: Tensor, weight: Tensor) -> BlockSums:
        """Over rows x (n, d) with numbers from ``first`` on and weights (1, n)."""
        blocks = blocks_of(as_ladders(self.weights), x)
        if self.latent is None:
            response = SQUARED.coded(y, len(x), blocks.R.shape[1], x.dtype).mT.unsqueeze(0)
        else:
            sign = 2 * Logistic().coded(y, len(x), 1, x.dtype).mT.unsqueeze(0) - 1
            response = self.latent.of_rows(first, x, sign, weight)
        equations = self.equations(blocks, response, weight)
        squares = (weight.unsqueeze(1) * (response - blocks.f).square()).sum(-1)
        return BlockSums(equations.gram, equations.moment, squares, squares, weight.sum())

    def equations(self, blocks: Blocks, response: Tensor, weight: Tensor) -> NormalEquations:
        """Of the responses (B, m, n) or (1, m, n); of the readout without the precision of the noise."""
        one = weight.new_ones(1)
        if self.block == len(self.weights) - 1:
            wanted = response.expand(blocks.count, -1, -1)
            return readout_equations(blocks.below(len(blocks.W)), wanted, weight, one)
        g, h = blocks.features(self.block)
        root = (weight.unsqueeze(1) * self.accuracy.unsqueeze(-1)).sqrt()
        _, scaled, wanted = in_units_of_noise(blocks, g, self.weights[self.block] @ h, response, root)
        return normal_equations(scaled, h, wanted, torch.ones_like(weight), one)


@dataclass
class Chains:
    """Chains during sampling, whose rows are stored elsewhere.

    Attributes:
        rows: coded rows and targets, as tensors.
        blocks: the weights, at no rows.
        accuracy: precision of the noise of each output. Shape (B, m).
        streams: random streams.
        priors, relevance: as in `sample_partitions`.
        end: the number after that of the last row, for classes; 0 for numbers.
    """

    rows: Partitions
    blocks: Blocks
    accuracy: Tensor
    streams: Streams
    priors: Priors
    relevance: bool
    end: int

    def draw(self) -> list[Tensor]:
        """Draw everything once; returns the precisions of the blocks. A pass over the rows for each block."""
        depth = len(self.blocks.W)
        precision = draw_precisions(self.blocks, self.priors.weights, self.relevance, self.streams)
        latent = None
        if self.end:
            latent = Latent(self.blocks.weights(), self.streams.copy())
            self.streams = self.streams.beyond(self.end)
        self.draw_readout(precision[-1], latent)
        for l in reversed(range(depth)):
            for block in (depth + l, l):
                sums, old = self.sums(block, latent), self.blocks.weights()[block]
                equations = NormalEquations(sums.gram, sums.moment)
                self.blocks.put(block, drawn_layer(equations, precision[block], old, self.streams))
        rescale(self.blocks, precision, self.streams)
        return precision

    def draw_readout(self, precision: Tensor, latent: Latent | None) -> None:
        """Draw the readout; if the targets are numbers, draw the precision of the noise before it."""
        sums, prior = self.sums(2 * len(self.blocks.W), latent), self.priors.noise
        if latent is None:
            count = sums.weight.expand(self.accuracy.shape)
            self.accuracy = self.streams.gamma(prior.shape + count / 2, prior.rate + sums.loss / 2)
        accuracies = self.accuracy.unsqueeze(-1).unsqueeze(-1).unbind(1)
        moments = torch.split(sums.moment, 1, -1)
        equations = [NormalEquations(a * sums.gram, a * b) for a, b in zip(accuracies, moments, strict=True)]
        self.blocks.R = drawn_readout(equations, precision, self.priors.offset, self.streams)

    def sums(self, block: int, latent: Latent | None) -> BlockSums:
        """Of a block over all rows: one pass."""
        return self.rows.fold(OfDraw(self.blocks.weights(), block, self.accuracy, latent), add)

    def drawn(self) -> Drawn:
        """Draw everything once more, and keep it."""
        precision = self.draw()
        scale = self.accuracy.rsqrt()
        noise = (scale, torch.full_like(scale, torch.inf), scale.new_empty(*scale.shape, 0))
        return Drawn([t.clone() for t in self.blocks.weights()], noise, precision)


@torch.no_grad()
def sample_partitions(
    start: LadderPolynomial | GibbsState,
    rows: Partitions,
    *,
    likelihood: Literal["gaussian", "probit"] = "gaussian",
    relevance: bool = False,
    priors: Priors | None = None,
    warmup: int = 100,
    draws: int = 100,
    seed: Seeds = 0,
    progress: Callable[[int, Tensor], None] | None = None,
) -> GibbsDraws:
    """Draws from the posterior of ladders, of rows in parts: those of `polyladder.sample_gibbs`, up to rounding.

    A sweep reads all rows once for each block, 2 L + 1 times with L layers. Noise is Gaussian and the same everywhere,
    or there are two classes. Other noise, and more classes, need random numbers for each row that a part could not draw
    again in the next pass.

    Args:
        start: where to start; batch shape (B,). Or the state of earlier draws, to continue from.
        rows: parts whose X are tensors (n, d), and whose targets are as in `polyladder.sample_gibbs`.
        likelihood: "gaussian", or "probit" for two classes, 0 and 1.
        relevance, priors, warmup, draws, seed, progress: as in `polyladder.sample_gibbs`.
    """
    ladder = start.weights if isinstance(start, GibbsState) else start.to(torch.float64)
    check_solvable(ladder)
    if likelihood not in ("gaussian", "probit") or (likelihood == "probit" and ladder.out_features > 1):
        raise ValueError(
            f"likelihood must be 'gaussian', or 'probit' for two classes, where rows lie in parts; got {likelihood!r} "
            f"with {ladder.out_features} outputs."
        )
    streams = start.streams.copy() if isinstance(start, GibbsState) else Streams(seed, ladder.batch_shape)
    accuracy = ladder.offset.new_ones(len(ladder), ladder.out_features)
    end = rows.fold(end_of, max) if likelihood == "probit" else 0
    blocks = blocks_without_rows(ladder)
    chains = Chains(rows, blocks, accuracy, streams, Priors() if priors is None else priors, relevance, end)

    def state(last: LadderPolynomial) -> GibbsState:
        # As `sample_gibbs` would store it, so that it can continue from here.
        memory = (chains.accuracy, chains.accuracy.new_empty(*chains.accuracy.shape, 0))
        return GibbsState(last, memory if likelihood == "gaussian" else (), chains.streams)

    return collect(chains.drawn, state, ladder.batch_shape, warmup, draws, progress)


def end_of(part: Part) -> int:
    """The number after that of a part's last row."""
    return part.first + len(part.X)
