"""`sample_partitions`: exact block draws of rows that lie in parts, the draws of `polyladder.sample_gibbs`.

Given the noise, what a block is drawn from is its Gram matrix and its right-hand side, and both are sums over rows. All
random numbers are drawn by the driver, but those of the latent values of two classes: each row has its own place in a
chain's random stream, so that a part can draw them again in every pass without storing them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import add
from typing import Literal

import torch
from torch import Tensor

from polyladder.models.batched import Seeds, positive_integer
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.tables.partitions import Part, Partitions
from polyladder.training.bayes.gibbs import GibbsDraws, GibbsState, Priors, draw_gaussian, draw_precisions, rescale
from polyladder.training.bayes.probit import TwoClasses
from polyladder.training.bayes.streams import Streams
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.squared import SQUARED
from polyladder.training.partitions.block_sums import BlockSums, features_of_block, slices
from polyladder.training.partitions.fit import check_solvable
from polyladder.training.solves.blocks import (
    Blocks,
    NormalEquations,
    as_ladders,
    blocks_of,
    normal_equations,
    readout_equations,
)


@dataclass(frozen=True, eq=False)
class Latent:
    """The latent values of two classes in one sweep.

    Attributes:
        weights: of the ladders when the sweep began.
        streams: where they stood then; row number i takes uniform draw number i from there.
    """

    weights: list[Tensor]
    streams: Streams

    def of_rows(self, first: int, x: Tensor, sign: Tensor, weight: Tensor) -> Tensor:
        """Of rows x (n, d) with numbers from ``first`` on. Shape (B, 1, n)."""
        f = blocks_of(as_ladders(self.weights), x, keep_pairs=False).f
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
        ladders = as_ladders(self.weights)
        found: BlockSums | None = None
        for first, x, y, weight in slices(part, ladders):
            blocks = blocks_of(ladders, x, keep_pairs=False)
            if self.latent is None:
                response = SQUARED.coded(y, len(x), ladders.out_features, x.dtype).mT.unsqueeze(0)
            else:
                sign = 2 * Logistic().coded(y, len(x), 1, x.dtype).mT.unsqueeze(0) - 1
                response = self.latent.of_rows(first, x, sign, weight)
            equations = self.equations(blocks, response, weight)
            squares = (weight.unsqueeze(1) * (response - blocks.f).square()).sum(-1)
            sums = BlockSums(equations.gram, equations.moment, squares, squares, weight.sum())
            found = sums if found is None else found + sums
        assert found is not None
        return found

    def equations(self, blocks: Blocks, response: Tensor, weight: Tensor) -> NormalEquations:
        """Of the responses (B, m, n) or (1, m, n); of the readout without the precision of the noise."""
        one = weight.new_ones(1)
        if self.block == len(self.weights) - 1:
            wanted = response.expand(blocks.count, -1, -1)
            return readout_equations(blocks.below(len(blocks.W)), wanted, weight, one)
        g, h = features_of_block(blocks, self.block)
        rest = blocks.f - (g * (self.weights[self.block] @ h).unsqueeze(1)).sum(2)
        root = (weight.unsqueeze(1) * self.accuracy.unsqueeze(-1)).sqrt()
        scaled, wanted = g * root.unsqueeze(2), (response - rest) * root
        return normal_equations(scaled, h, wanted, torch.ones_like(weight), one)


@dataclass
class Chains:
    """Chains on their way, whose rows lie elsewhere.

    Attributes:
        rows: coded rows and targets, as tensors.
        theta: layers, gates and readout, intercepts as last columns. Shapes (B, ...).
        accuracy: precision of the noise of each output. Shape (B, m).
        streams: random streams.
        priors, relevance: as in `sample_partitions`.
        end: the number after that of the last row, for classes; 0 for numbers.
    """

    rows: Partitions
    theta: list[Tensor]
    accuracy: Tensor
    streams: Streams
    priors: Priors
    relevance: bool
    end: int

    def draw(self) -> list[Tensor]:
        """Draw everything once; returns the precisions of the blocks. A pass over the rows for each block."""
        depth = len(self.theta) // 2
        precision = draw_precisions(self.blocks(), self.priors.weights, self.relevance, self.streams)
        latent = None
        if self.end:
            latent = Latent(list(self.theta), self.streams.copy())
            self.streams = self.streams.beyond(self.end)
        self.draw_readout(precision[-1], latent)
        for l in reversed(range(depth)):
            for block in (depth + l, l):
                sums = self.sums(block, latent)
                theta = self.theta[block]
                penalty = precision[block].unsqueeze(1).expand(-1, *theta.shape[1:]).flatten(1)
                normal = self.streams.normal(penalty.shape[1], 1)
                drawn = draw_gaussian(NormalEquations(sums.gram, sums.moment), penalty, normal)
                self.theta[block] = drawn.reshape(theta.shape)
        blocks = self.blocks()
        rescale(blocks, precision, self.streams)
        self.theta = blocks.weights()
        return precision

    def draw_readout(self, precision: Tensor, latent: Latent | None) -> None:
        """Draw the readout, and of numbers the precision of the noise before it."""
        sums, prior = self.sums(len(self.theta) - 1, latent), self.priors.noise
        if latent is None:
            count = sums.weight.expand(self.accuracy.shape)
            self.accuracy = self.streams.gamma(prior.shape + count / 2, prior.rate + sums.loss / 2)
        m, q = self.theta[-1].shape[1:]
        penalty = torch.cat([precision.expand(-1, q - 1), torch.full_like(precision, 1 / self.priors.offset)], -1)
        drawn = []
        for o in range(m):
            accuracy = self.accuracy[:, o].reshape(-1, 1, 1)
            equations = NormalEquations(accuracy * sums.gram, accuracy * sums.moment[..., o : o + 1])
            drawn.append(draw_gaussian(equations, penalty, self.streams.normal(q, 1)))
        self.theta[-1] = torch.cat(drawn, -1).mT.contiguous()

    def sums(self, block: int, latent: Latent | None) -> BlockSums:
        """Of a block over all rows: one pass."""
        return self.rows.fold(OfDraw(list(self.theta), block, self.accuracy, latent), add)

    def blocks(self) -> Blocks:
        """The weights, at no rows."""
        ladders = as_ladders(self.theta)
        return blocks_of(ladders, self.theta[-1].new_empty(0, ladders.in_features))


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
    or there are two classes. Other noise, and more classes, draw numbers for each row that a part could not draw again
    in the next pass.

    Args:
        start: where to start; batch shape (B,). Or the state of earlier draws, to go on from.
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
    if isinstance(warmup, bool) or not isinstance(warmup, int) or warmup < 0:
        raise ValueError(f"warmup must be a non-negative integer; got {warmup!r}.")
    positive_integer("draws", draws)
    theta = blocks_of(ladder, ladder.readout.new_empty(0, ladder.in_features)).weights()
    streams = start.streams.copy() if isinstance(start, GibbsState) else Streams(seed, ladder.batch_shape)
    accuracy = ladder.offset.new_ones(len(ladder), ladder.out_features)
    end = rows.fold(end_of, max) if likelihood == "probit" else 0
    chains = Chains(rows, theta, accuracy, streams, Priors() if priors is None else priors, relevance, end)
    kept: list[list[Tensor]] = []
    noises: list[Tensor] = []
    precisions: list[list[Tensor]] = []
    for sweep in range(1, warmup + draws + 1):
        precision = chains.draw()
        if sweep > warmup:
            kept.append(list(chains.theta))
            noises.append(chains.accuracy.rsqrt())
            precisions.append(precision)
        if progress is not None:
            progress(sweep, chains.accuracy.rsqrt().mean(-1))
    weights = as_ladders([torch.stack(block) for block in zip(*kept, strict=True)])
    noise = torch.stack(noises)
    no_slopes = noise.new_empty(*noise.shape, 0)
    # What a likelihood in memory would remember, so that draws can go on there.
    memory = (chains.accuracy, no_slopes[-1]) if likelihood == "gaussian" else ()
    return GibbsDraws(
        weights=weights,
        noise=noise,
        degrees=torch.full_like(noise, torch.inf),
        slopes=no_slopes,
        precision=tuple(torch.stack(block) for block in zip(*precisions, strict=True)),
        state=GibbsState(weights[-1], memory, chains.streams),
    )


def end_of(part: Part) -> int:
    """The number after that of a part's last row."""
    return part.first + len(part.X)
