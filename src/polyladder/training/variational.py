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
from typing import Literal

import torch
from torch import Tensor

from polyladder.analysis.moments import GaussianWeights, output_moments
from polyladder.models.batched import positive_integer
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.alternating import checked_rows, checked_targets, cholesky, flat_weights
from polyladder.training.blocks import NormalEquations, blocks_of
from polyladder.training.factors import Block, Factors, RowMoments, equations, row_chunks

START = 1e-3
"""Variances start at this share of their block's prior variance. At the prior variance itself the first updates would
find nothing but noise in every unit, and switch it off."""

WIDTH = 1e-2
"""Least prior variance of a block at the start."""

WARM_UP = 10
"""Sweeps over the bound before "predictive" is handed to Adam, which would take hundreds of steps to bring the
variances to their scale."""

BATCH_ROWS = 256
"""Rows of one step of Adam."""

LEARNING_RATE = 3e-3
"""Of Adam, at the start; it falls to zero along a cosine."""

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
        bound: the objective, in nats, at the start and after every sweep. Shape (sweeps + 1, *batch_shape).
        seconds: what it cost.
    """

    weights: GaussianWeights
    noise: Tensor
    prior: tuple[Tensor, ...]
    bound: Tensor
    seconds: float


def fit_variational(
    start: LadderPolynomial,
    x: Tensor,
    y: Tensor,
    *,
    weight: Tensor | None = None,
    objective: Literal["elbo", "predictive"] = "elbo",
    relevance: bool = False,
    sweeps: int = 50,
    seed: int = 0,
    progress: Callable[[int, Tensor], None] | None = None,
) -> VariationalFit:
    r"""Fit independent Gaussian weights to data, all noise and prior variances included.

    .. math::
        \mathrm{elbo} &= \sum_n w_n E_q \log N(y_n; f(x_n), s) - KL(q \,\|\, p) \\
        \mathrm{predictive} &= \sum_n w_n \log N(y_n; E_q f(x_n), \mathrm{Var}_q f(x_n) + s) - KL(q \,\|\, p)

    The prior of a block is N(0, variance), the variance learned. The first is a lower bound of the log-evidence, and no
    update lowers it: a sweep solves the readout, then from the last layer to the first the gate and the layer, rescales
    units against their readers, and sets prior and noise variances to their optima. The second scores what is used in
    the end, the moment-matched Gaussian prediction; it is not a bound of the evidence, and is climbed by Adam on
    mini-batches after some sweeps over the first.

    Args:
        start: where the means start; best a fit by `fit_alternating`, since units that a random start leaves useless
            are switched off for good. Any ``batch_shape``.
        x: rows shared by all models. Shape (n, d).
        y: targets, best of variance about 1. Shape (n, m), or (n,) for one output.
        weight: of every row, shared (n,) or for each model (*batch_shape, n); zero leaves a row out, two counts it
            twice.
        objective: what is raised.
        relevance: one prior variance for each column that a block reads, instead of one for the block: inputs and units
            that are not needed are switched off.
        sweeps: over the blocks, or epochs of Adam.
        seed: of the order of rows in which Adam sees them.
        progress: called after each sweep with its number and the objective, shape batch_shape.
    """
    began = time.perf_counter()
    start = start.to(torch.float64)
    x = checked_rows(start, x)
    y = checked_targets("squared", y.to(x), len(x), start.out_features)
    rows = flat_weights("weight", weight, x, start.batch_shape)
    positive_integer("sweeps", sweeps)
    if objective not in ("elbo", "predictive"):
        raise ValueError(f"objective must be 'elbo' or 'predictive'; got {objective!r}.")
    posterior = start_posterior(start, x, y, rows, relevance)

    def report(sweep: int, value: Tensor) -> None:
        if progress is not None:
            progress(sweep, value.reshape(start.batch_shape))

    if objective == "elbo":
        bound = ascend_blocks(posterior, x, y, rows, sweeps, report)
    else:
        ascend_blocks(posterior, x, y, rows, WARM_UP, lambda *_: None)
        bound = ascend_gradient(posterior, x, y, rows, sweeps, seed, report)
    shape = start.batch_shape
    flat = posterior.factors.weights()
    return VariationalFit(
        weights=GaussianWeights(
            *(p.map(lambda t: t.reshape((*shape, *t.shape[1:]))) for p in (flat.mean, flat.variance))
        ),
        noise=posterior.noise.reshape(*shape, -1),
        prior=tuple(p.reshape(*shape, -1) for p in posterior.prior),
        bound=bound.reshape(-1, *shape),
        seconds=time.perf_counter() - began,
    )


@dataclass
class Posterior:
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


def start_posterior(start: LadderPolynomial, x: Tensor, y: Tensor, rows: Tensor, relevance: bool) -> Posterior:
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
    posterior = Posterior(factors, prior, x.new_empty(0), relevance)
    learn_noise(posterior, (y.mT - blocks.f).square(), y, rows)
    return posterior


def ascend_blocks(
    posterior: Posterior, x: Tensor, y: Tensor, rows: Tensor, sweeps: int, report: Callable[[int, Tensor], None]
) -> Tensor:
    """Raise the bound block by block. Shape (sweeps + 1, B)."""
    chunks = row_chunks(posterior.factors, x, y, rows)
    bounds = [lower_bound(posterior, expected_squares(posterior, x, y), rows)]
    for sweep in range(1, sweeps + 1):
        one_sweep(posterior, chunks)
        squares = expected_squares(posterior, x, y)
        learn_noise(posterior, squares, y, rows)
        bounds.append(lower_bound(posterior, squares, rows))
        report(sweep, bounds[-1])
    return torch.stack(bounds)


@torch.no_grad()
def one_sweep(posterior: Posterior, chunks: list[RowMoments]) -> None:
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


def update_readout(posterior: Posterior, chunks: list[RowMoments]) -> None:
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


def update_gate(posterior: Posterior, chunks: list[RowMoments], layer: int) -> None:
    """Move a gate's factor to its optimum."""
    system = equations(chunk.gate_equations(layer) for chunk in chunks)
    V = posterior.factors.V
    V[layer] = optimum(system, V[layer][0], posterior.prior[len(V) + layer])


def update_layer(posterior: Posterior, chunks: list[RowMoments], layer: int) -> None:
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
        old: present means. Shape (B, k, q). Solved for the change from them, so that rounding spoils only a part of a
            step upward.
        prior: prior variances, broadcast against ``old``.
    """
    flat = old.reshape(len(old), -1, 1)
    precision = (1 / prior).expand_as(old).reshape(len(old), -1)
    factor = cholesky(system.gram, precision)
    residual = system.moment - system.gram @ flat - precision.unsqueeze(2) * flat
    mean = flat + torch.cholesky_solve(residual, factor)
    variance = 1 / (system.gram.diagonal(dim1=-2, dim2=-1) + precision)
    return mean.reshape(old.shape), variance.reshape(old.shape)


def rescale(posterior: Posterior, layer: int) -> None:
    """Scale every unit's layer row, then its gate row, against the column that reads it, to the least divergence.

    The output's distribution does not change. With u the squared scale of a row of p weights, read by a column of r,
    the divergence is (a u + e / u - (p - r) log u) / 2 with a and e their second moments over their prior variances:
    least at the positive root of a u^2 - (p - r) u - e. Without it the scales creep to their optimum over many sweeps.
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


def learn_noise(posterior: Posterior, squares: Tensor, y: Tensor, rows: Tensor) -> None:
    """Set the noise variances to their optimum, the mean expected squared error. ``squares`` has shape (B, m, n)."""
    total = rows.sum(-1, keepdim=True)
    floor = NOISE_FLOOR * (rows @ y.square()) / total
    posterior.noise = ((squares * rows.unsqueeze(1)).sum(-1) / total).maximum(floor.clamp_min(1e-300))


@torch.no_grad()
def expected_squares(posterior: Posterior, x: Tensor, y: Tensor) -> Tensor:
    """Expected squared error of every output and row, exactly. Shape (B, m, n)."""
    moments = output_moments(posterior.factors.weights(), x)
    return ((y - moments.mean).square() + moments.variance).mT


def lower_bound(posterior: Posterior, squares: Tensor, rows: Tensor) -> Tensor:
    """The bound of the log-evidence, given the expected squared errors (B, m, n). Shape (B,)."""
    noise = posterior.noise.unsqueeze(-1)
    expected = -0.5 * ((2 * math.pi * noise).log() + squares / noise).sum(1)
    return (rows * expected).sum(-1) - posterior.divergence()


def divergence(block: Block, prior: Tensor) -> Tensor:
    """KL divergence of one block's independent Gaussians from N(0, prior). Shape (B,)."""
    mean, variance = block
    return 0.5 * ((mean.square() + variance) / prior - 1 - (variance / prior).log()).sum((1, 2))


def ascend_gradient(
    posterior: Posterior,
    x: Tensor,
    y: Tensor,
    rows: Tensor,
    epochs: int,
    seed: int,
    report: Callable[[int, Tensor], None],
) -> Tensor:
    """Raise the predictive log-likelihood, less the divergence, by Adam on mini-batches. Shape (epochs + 1, B)."""
    # Each weight is moved in units of its own standard deviation, and each variance as a logarithm: one learning rate
    # then fits weights of all scales, and every model of the batch steps as if it were alone.
    begin = posterior.factors.blocks()
    units = [variance.sqrt() for _, variance in begin]
    shift = [torch.zeros_like(mean, requires_grad=True) for mean, _ in begin]
    growth = [torch.zeros_like(mean, requires_grad=True) for mean, _ in begin]
    noise = posterior.noise.log().requires_grad_()
    depth = len(posterior.factors.W)

    def adopt() -> None:
        blocks = [
            (mean + unit * s, variance * g.exp())
            for (mean, variance), unit, s, g in zip(begin, units, shift, growth, strict=True)
        ]
        posterior.factors = Factors(blocks[:depth], blocks[depth:-1], blocks[-1])
        posterior.noise = noise.exp()

    def likelihood(part: Tensor) -> Tensor:
        moments = output_moments(posterior.factors.weights(), x[part])
        variance = moments.variance + posterior.noise.unsqueeze(1)
        terms = -0.5 * ((2 * math.pi * variance).log() + (y[part] - moments.mean).square() / variance)
        return (rows[:, part] * terms.sum(-1)).sum(-1)

    @torch.no_grad()
    def value() -> Tensor:
        adopt()
        posterior.learn_prior()
        return likelihood(torch.arange(len(x), device=x.device)) - posterior.divergence()

    values = [value()]
    generator = torch.Generator().manual_seed(seed)
    steps = math.ceil(len(x) / BATCH_ROWS)
    optimizer = torch.optim.Adam([*shift, *growth, noise], lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * steps)
    for epoch in range(1, epochs + 1):
        for part in torch.randperm(len(x), generator=generator).to(x.device).chunk(steps):
            optimizer.zero_grad()
            adopt()
            # Summed over models: a mean would shrink every model's gradient by the number of its neighbors.
            loss = posterior.divergence() - likelihood(part) * len(x) / len(part)
            loss.sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
        values.append(value())
        report(epoch, values[-1])
    return torch.stack(values)
