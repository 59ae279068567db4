"""A factorized Gaussian posterior over all weights of a ladder, by a bound that needs no sampling.

A ladder is multilinear in its weights, so under independent weights the mean and the variance of its output are closed
forms, eq. (14) and eq. (15), and with them the expected log-likelihood. With all other blocks' factors fixed the bound
is quadratic in the means of one block, and its maximum over the variances is a closed form: it is raised block by
block, without a gradient and without a step size.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.moments import GaussianWeights, output_moments
from polyladder.models.batched import positive_integer
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.bayes.factors import Block, Factors, RowMoments, equations, row_chunks
from polyladder.training.losses.squared import SQUARED
from polyladder.training.rows import Rows, checked_rows, chosen_rows, row_weights
from polyladder.training.solves.blocks import NormalEquations, blocks_of
from polyladder.training.solves.cholesky import cholesky

START = 1e-3
"""Variances start at this share of their block's prior variance. At the prior variance itself the first updates would
see only noise in every unit, and switch it off."""

WIDTH = 1e-2
"""Least prior variance of a block at the start."""

NOISE_FLOOR = 1e-12
"""Noise variances stay above this share of the targets' mean square: data without noise would divide by zero."""


@dataclass(frozen=True)
class VariationalFit:
    """A factorized Gaussian posterior and how it was reached.

    Attributes:
        weights: mean and variance of every weight, float64. Batch shape as the start's.
        noise: variance of the observation noise of every output. Shape (*batch_shape, m).
        prior: prior variance of each block (layers, gates, readout), or of each column that a block reads, the
            intercept's last, under ``relevance``. Shapes (*batch_shape, 1) or (*batch_shape, columns).
        bound: of the log-evidence, in nats, after every sweep. Shape (*batch_shape, sweeps).
        seconds: what it cost.
    """

    weights: GaussianWeights
    noise: Tensor
    prior: tuple[Tensor, ...]
    bound: Tensor
    seconds: float


@torch.no_grad()
def fit_variational(
    start: LadderPolynomial,
    x: Tensor,
    y: Tensor,
    *,
    rows: Rows = None,
    sample_weight: Tensor | None = None,
    relevance: bool = False,
    sweeps: int = 50,
    progress: Callable[[int, Tensor], None] | None = None,
) -> VariationalFit:
    r"""Fit independent Gaussian weights to data, all noise and prior variances included.

    .. math:: \sum_n w_n E_q \log N(y_n; f(x_n), s) - KL(q \,\|\, p)

    The prior of a block is N(0, variance), the variance learned. This is a lower bound of the log-evidence, and no
    update lowers it: a sweep solves the readout, then from the last layer to the first the gate and the layer, rescales
    units against their readers, and sets prior and noise variances to their optima.

    Args:
        start: where the means start. A fit by `fit_alternating` is best: units that a random start leaves useless are
            switched off forever. Any ``batch_shape``.
        x: rows shared by all models. Shape (n, d).
        y: targets, best of variance about 1. Shape (n, m), or (n,) for one output.
        rows: numbers of the rows to learn from: one vector for all models, (r,); (*batch_shape, r); or a sequence of
            vectors, one per model of the flattened batch. A number given twice counts twice.
        sample_weight: non-negative, (n,). A weight of 2 counts as much as the row given twice.
        relevance: one prior variance for each column that a block reads, instead of one for the block: inputs and units
            that are not needed are switched off.
        sweeps: over the blocks.
        progress: called after each sweep with its number and the bound, shape batch_shape.
    """
    began = time.perf_counter()
    start = start.to(torch.float64)
    x = checked_rows(x, start.in_features, start.device)
    y = SQUARED.coded(y, len(x), start.out_features, x.dtype).to(x.device)
    chosen, _ = chosen_rows(rows, None, sample_weight, len(x), start.batch_shape)
    weight = row_weights(chosen, sample_weight, x)
    positive_integer("sweeps", sweeps)
    posterior = start_posterior(start, x, y, weight, relevance)
    chunks, shape = row_chunks(posterior.factors, x, y, weight), start.batch_shape
    bounds = []
    for sweep in range(1, sweeps + 1):
        one_sweep(posterior, chunks)
        squares = expected_squares(posterior, x, y)
        learn_noise(posterior, squares, y, weight)
        bounds.append(lower_bound(posterior, squares, weight))
        if progress is not None:
            progress(sweep, bounds[-1].reshape(shape))
    flat = posterior.factors.weights()
    return VariationalFit(
        weights=GaussianWeights(
            *(p.map(lambda t: t.reshape((*shape, *t.shape[1:]))) for p in (flat.mean, flat.variance))
        ),
        noise=posterior.noise.reshape(*shape, -1),
        prior=tuple(p.reshape(*shape, -1) for p in posterior.prior),
        bound=torch.stack(bounds, -1).reshape(*shape, sweeps),
        seconds=time.perf_counter() - began,
    )


@dataclass
class FlatPosterior:
    """What is fitted, the batch flattened.

    Attributes:
        factors: means and variances of all blocks.
        prior: prior variances: layers, gates, readout. Shapes (B, 1, 1), or (B, 1, columns) under relevance.
        noise: noise variances. Shape (B, m).
        relevance: see `fit_variational`.
    """

    factors: Factors
    prior: list[Tensor]
    noise: Tensor
    relevance: bool

    def divergence(self) -> Tensor:
        """KL divergence from the prior to the factors, in closed form. Shape (B,)."""
        terms = [divergence(block, prior) for block, prior in zip(self.factors.blocks(), self.prior, strict=True)]
        return torch.stack(terms).sum(0)

    def learn_prior(self) -> None:
        """Set the prior variances to those of least divergence: the mean of the second moments that share one."""
        axes = (1,) if self.relevance else (1, 2)
        self.prior = [(mean.square() + variance).mean(axes, keepdim=True) for mean, variance in self.factors.blocks()]


def start_posterior(start: LadderPolynomial, x: Tensor, y: Tensor, rows: Tensor, relevance: bool) -> FlatPosterior:
    """Means from the start, small variances; noise from its residuals, prior variances from its blocks."""
    blocks = blocks_of(start, x)

    def width(mean: Tensor) -> Tensor:
        # A narrow prior around a block that is (next to) zero would keep it there.
        return mean.square().mean((1, 2), keepdim=True).clamp_min(WIDTH)

    def factor(mean: Tensor) -> Block:
        return mean, (START * width(mean)).expand_as(mean).clone()

    factors = Factors([factor(t) for t in blocks.W], [factor(t) for t in blocks.V], factor(blocks.R))
    columns = [mean.shape[2] if relevance else 1 for mean, _ in factors.blocks()]
    prior = [width(mean).repeat(1, 1, c) for (mean, _), c in zip(factors.blocks(), columns, strict=True)]
    posterior = FlatPosterior(factors, prior, x.new_empty(0), relevance)
    learn_noise(posterior, (y.mT - blocks.f).square(), y, rows)
    return posterior


def one_sweep(posterior: FlatPosterior, chunks: list[RowMoments]) -> None:
    """Update every block once, from the readout down to the first layer, then the scales and the prior variances."""
    factors, depth = posterior.factors, len(posterior.factors.W)
    for chunk in chunks:
        chunk.climb(factors)
    update_readout(posterior, chunks)
    for chunk in chunks:
        chunk.top(factors, posterior.noise)
    for l in reversed(range(depth)):
        update_gate(posterior, chunks, l)
        update_layer(posterior, chunks, l)
        if l:
            for chunk in chunks:
                chunk.descend(factors, l)
    for l in range(depth):
        rescale(posterior, l)
    posterior.learn_prior()


def update_readout(posterior: FlatPosterior, chunks: list[RowMoments]) -> None:
    """Move the readout's factor to its optimum: outputs share the states' second moments, apart from their noise."""
    mean, _ = posterior.factors.R
    B, m, q = mean.shape
    parts = [chunk.readout_equations(posterior.factors) for chunk in chunks]
    noise = posterior.noise.reshape(B * m, 1, 1)
    gram = torch.stack([gram for gram, _ in parts]).sum(0).expand(B, q, q).repeat_interleave(m, 0) / noise
    moment = torch.stack([moment for _, moment in parts]).sum(0).expand(B, m, q).reshape(B * m, q, 1) / noise
    prior = posterior.prior[-1].expand(B, m, q).reshape(B * m, 1, q)
    flat = optimum(NormalEquations(gram, moment), mean.reshape(B * m, 1, q), prior)
    posterior.factors.R = (flat[0].reshape(B, m, q), flat[1].reshape(B, m, q))


def update_gate(posterior: FlatPosterior, chunks: list[RowMoments], layer: int) -> None:
    """Move a gate's factor to its optimum."""
    system = equations(chunk.gate_equations(layer) for chunk in chunks)
    V = posterior.factors.V
    V[layer] = optimum(system, V[layer][0], posterior.prior[len(V) + layer])


def update_layer(posterior: FlatPosterior, chunks: list[RowMoments], layer: int) -> None:
    """Move a layer's factor to its optimum."""
    system = equations(chunk.layer_equations(posterior.factors, layer) for chunk in chunks)
    W = posterior.factors.W
    W[layer] = optimum(system, W[layer][0], posterior.prior[layer])


def optimum(system: NormalEquations, old: Tensor, prior: Tensor) -> Block:
    """The factor of one block at which the bound is largest.

    With A the expected Gram matrix over the noise, the bound is -(1/2) (mean' A mean - 2 c' mean + sum A_ii variance_i)
    less the divergence from the prior: the mean solves (A + 1/prior) mean = c, the variances are 1 / (A_ii + 1/prior).

    Args:
        system: A and c. Shapes (B, k q, k q), (B, k q, 1).
        old: present means. Shape (B, k, q). The change from them is solved for, so that rounding affects only the step.
        prior: prior variances, broadcast against ``old``.
    """
    flat = old.reshape(len(old), -1, 1)
    precision = (1 / prior).expand_as(old).reshape(len(old), -1)
    factor = cholesky(system.gram, precision)
    residual = system.moment - system.gram @ flat - precision.unsqueeze(2) * flat
    mean = flat + torch.cholesky_solve(residual, factor)
    variance = 1 / (system.gram.diagonal(dim1=-2, dim2=-1) + precision)
    return mean.reshape(old.shape), variance.reshape(old.shape)


def rescale(posterior: FlatPosterior, layer: int) -> None:
    """Scale every unit's layer row, then its gate row, against the column that reads it, to the least divergence.

    The output's distribution does not change. With u the squared scale of a row of p weights, read by a column of r,
    the divergence is (a u + e / u - (p - r) log u) / 2 with a and e their second moments over their prior variances:
    least at the positive root of a u^2 - (p - r) u - e. Without this step the scales reach their optimum only after
    many sweeps.
    """
    factors, prior, depth = posterior.factors, posterior.prior, len(posterior.factors.W)
    last = layer + 1 == depth
    reader, reader_prior = (factors.R, prior[-1]) if last else (factors.W[layer + 1], prior[layer + 1])
    k = factors.W[layer][0].shape[1]
    for rows, position in ((factors.W, layer), (factors.V, depth + layer)):
        mean, variance = rows[layer]
        inner = ((mean.square() + variance) / prior[position]).sum(2)
        outer = ((reader[0].square() + reader[1]) / reader_prior)[..., :k].sum(1)
        more = mean.shape[2] - reader[0].shape[1]
        square = (more + (more**2 + 4 * inner * outer).sqrt()) / (2 * inner)
        rows[layer] = (mean * square.sqrt().unsqueeze(2), variance * square.unsqueeze(2))
        columns = torch.cat([square, torch.ones_like(square[:, :1])], 1).unsqueeze(1)
        reader = (reader[0] / columns.sqrt(), reader[1] / columns)
    if last:
        factors.R = reader
    else:
        factors.W[layer + 1] = reader


def learn_noise(posterior: FlatPosterior, squares: Tensor, y: Tensor, rows: Tensor) -> None:
    """Set the noise variances to their optimum, the mean expected squared error. ``squares`` has shape (B, m, n)."""
    total = rows.sum(-1, keepdim=True)
    floor = NOISE_FLOOR * (rows @ y.square()) / total
    posterior.noise = ((squares * rows.unsqueeze(1)).sum(-1) / total).maximum(floor.clamp_min(1e-300))


def expected_squares(posterior: FlatPosterior, x: Tensor, y: Tensor) -> Tensor:
    """Expected squared error of every output and row, exactly. Shape (B, m, n)."""
    moments = output_moments(posterior.factors.weights(), x)
    return ((y - moments.mean).square() + moments.variance).mT


def lower_bound(posterior: FlatPosterior, squares: Tensor, rows: Tensor) -> Tensor:
    """The bound of the log-evidence, given the expected squared errors (B, m, n). Shape (B,)."""
    noise = posterior.noise.unsqueeze(-1)
    expected = -0.5 * ((2 * math.pi * noise).log() + squares / noise).sum(1)
    return (rows * expected).sum(-1) - posterior.divergence()


def divergence(block: Block, prior: Tensor) -> Tensor:
    """KL divergence of one block's independent Gaussians from N(0, prior). Shape (B,)."""
    mean, variance = block
    return 0.5 * ((mean.square() + variance) / prior - 1 - (variance / prior).log()).sum((1, 2))
