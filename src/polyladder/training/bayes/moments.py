"""Independent Gaussian weights of greatest marginal likelihood, row by row, by the moments of the output.

The paper's own proposal for training with uncertainty: under independent weights the mean and the variance of the
output are closed forms, eq. (14) and eq. (15), and a Gaussian of these moments is nearly the distribution of a target.
Its density is raised directly, by exact gradients; nothing is sampled and no other weights are integrated out.

`fit_variational` raises the expected log density; here it is the log of the expected density, nearly. The variance of
the output changes from row to row, so the weights may explain noise that does: error bars widen where targets scatter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from polyladder.analysis.moments import GaussianWeights, Moments, output_moments, rows_per_chunk
from polyladder.models.batched import positive_integer
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.bayes.quasi_newton import descend
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.squared import SQUARED
from polyladder.training.rows import Rows, checked_rows, chosen_rows, row_weights
from polyladder.training.solves.blocks import as_ladders

WIDTH = 1e-2
"""Least variance at which the weights of a ladder without variances start. At zero they would never leave it."""

LEAST_NOISE = 0.1
"""The noise variance stays above this share of the start's mean squared error. Lower, weights may take the place of
nearly all noise: a mixture over draws of them would be a row of spikes."""

NOISE_FLOOR = 1e-12
"""The same, as a share of the targets' mean square: a start may fit them exactly."""

TOLERANCE = 1e-5
"""A model ends when steps gain less than this share of a nat per row."""


@dataclass(frozen=True)
class MomentsFit:
    """Gaussian weights and how they were reached.

    Attributes:
        weights: mean and variance of every weight, float64. Batch shape as the start's.
        noise: variance of the observation noise of every output; 1 for classes. Shape (*batch_shape, m).
        prior: prior variance of each block (layers, gates, readout), or of each column that a block reads, the
            intercept's last, under ``relevance``. Shapes (*batch_shape, 1) or (*batch_shape, columns).
        objective: what `fit_moments` raises, in nats, at the start and after every step; constant once a model has
            ended. Shape (*batch_shape, steps + 1).
        seconds: what it cost.
    """

    weights: GaussianWeights
    noise: Tensor
    prior: tuple[Tensor, ...]
    objective: Tensor
    seconds: float


def fit_moments(
    start: LadderPolynomial | GaussianWeights,
    x: Tensor,
    y: Tensor,
    *,
    likelihood: Literal["gaussian", "probit"] = "gaussian",
    rows: Rows = None,
    sample_weight: Tensor | None = None,
    relevance: bool = False,
    steps: int = 100,
    progress: Callable[[int, Tensor], None] | None = None,
) -> MomentsFit:
    r"""Fit independent Gaussian weights, and the noise, by the Gaussian that has the moments of the output.

    .. math:: \sum_n w_n \log N(y_n; \mu(x_n), \Sigma(x_n) + \mathrm{diag}(s)) - KL(q \,\|\, p)

    with the exact mean and covariance over the weights of `output_moments`; for two classes the first term is
    :math:`\log \Phi(\pm \mu / \sqrt{1 + \Sigma})`. The likelihood alone would let variances go to zero, or shape them
    around single residuals. The divergence from the prior holds means and variances: the prior of a block is N(0,
    variance), its variance always the best one, so it is a ridge by empirical Bayes on the means, and a weight that the
    rows say little about keeps the variance of its block.

    All weights move at once, by L-BFGS on all rows, and no step lowers the objective.

    Args:
        start: where the means start, by block solves, and the variances if it has them. For numbers the weights of a
            short `fit_variational` are best: from wide variances the steps widen the error bars and give up the
            mean. Any ``batch_shape``.
        x: rows shared by all models. Shape (n, d).
        y: targets, best of variance about 1: (n, m), or (n,) for one output. For "probit" 0 and 1, shape (n,).
        likelihood: "probit" is for two classes, by a ladder with one output.
        rows: numbers of the rows to learn from, as for `fit_variational`.
        sample_weight: non-negative, (n,). A weight of 2 counts as much as the row given twice.
        relevance: one prior variance for each column that a block reads, instead of one for the block.
        steps: at most this many. A model ends sooner where they gain nothing.
        progress: called after each step with its number and the objective, shape batch_shape.
    """
    began = time.perf_counter()
    weights = start if isinstance(start, GaussianWeights) else unsure(start)
    mean, shape = weights.mean.to(torch.float64), weights.batch_shape
    x = checked_rows(x, mean.in_features, mean.device)
    if likelihood not in ("gaussian", "probit"):
        raise ValueError(f"likelihood must be 'gaussian' or 'probit'; got {likelihood!r}.")
    loss = SQUARED if likelihood == "gaussian" else Logistic()
    if likelihood == "probit" and mean.out_features != 1:
        raise ValueError(
            f"start must have 1 output for two classes; got {mean.out_features}. Take sample_gibbs for several classes."
        )
    y = loss.coded(y, len(x), mean.out_features, x.dtype).to(x.device)
    chosen, _ = chosen_rows(rows, None, sample_weight, len(x), shape)
    weight = row_weights(chosen, sample_weight, x)
    positive_integer("steps", steps)
    coding = Coding.of(mean, relevance)
    with torch.no_grad():
        noise = least_noise(mean, x, y, weight) if likelihood == "gaussian" else None
        point = coding.point(weights, noise)
    objective = MarginalLikelihood(coding, x, y, weight, noise)

    def told(step: int, value: Tensor) -> None:
        if progress is not None:
            progress(step, -value.reshape(shape))

    tolerance = TOLERANCE * weight.sum(-1).expand(coding.count)
    found = descend(objective.lowered, point, steps, tolerance, told)
    flat, learned = coding.weights(found.points), objective.noise(found.points)
    return MomentsFit(
        weights=GaussianWeights(
            *(p.map(lambda t: t.reshape((*shape, *t.shape[1:]))) for p in (flat.mean, flat.variance))
        ),
        noise=learned.reshape(*shape, -1),
        prior=tuple(p.reshape(*shape, -1) for p in coding.prior(found.points)),
        objective=-found.values.reshape(*shape, -1),
        seconds=time.perf_counter() - began,
    )


@dataclass(frozen=True)
class Coding:
    """How B ladders of Gaussian weights are one point each: means, logarithms of variances, then the noise's.

    Attributes:
        shapes: of the blocks (layers, gates, readout), intercepts as last columns. (B, rows, columns) each.
        relevance: see `fit_moments`.
    """

    shapes: tuple[torch.Size, ...]
    relevance: bool

    @classmethod
    def of(cls, polynomial: LadderPolynomial, relevance: bool) -> Coding:
        """That of ladders as large as this one, the batch flattened."""
        return cls(tuple(block.shape for block in blocks(polynomial)), relevance)

    @property
    def count(self) -> int:
        """B, the number of ladders."""
        return self.shapes[0][0]

    @property
    def size(self) -> int:
        """Weights of one ladder."""
        return sum(shape[1] * shape[2] for shape in self.shapes)

    def point(self, weights: GaussianWeights, noise: Tensor | None) -> Tensor:
        """The points of these weights and of a noise that starts far above its floor (B, m). Shape (B, p)."""
        mean, variance = (torch.cat([t.flatten(1) for t in blocks(p)], 1) for p in (weights.mean, weights.variance))
        tiny = torch.finfo(mean.dtype).tiny
        end = [] if noise is None else [(noise * (1 / LEAST_NOISE - 1)).log()]
        return torch.cat([mean, variance.clamp_min(tiny).log(), *end], 1)

    def split(self, point: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Means and logarithms of variances of each block."""
        sizes = [shape[1] * shape[2] for shape in self.shapes]
        means, logs = (
            [t.reshape(s) for t, s in zip(torch.split(part, sizes, 1), self.shapes, strict=True)]
            for part in torch.split(point[:, : 2 * self.size], self.size, 1)
        )
        return list(zip(means, logs, strict=True))

    def weights(self, point: Tensor) -> GaussianWeights:
        """The Gaussian weights, batch shape (B,)."""
        means, logs = zip(*self.split(point), strict=True)
        return GaussianWeights(as_ladders(means), as_ladders([log.exp() for log in logs]))

    def prior(self, point: Tensor) -> list[Tensor]:
        """The best prior variances: the mean second moments of the weights that share one. (B, 1, 1 or columns)."""
        axes = (1,) if self.relevance else (1, 2)
        return [(mean.square() + log.exp()).mean(axes, keepdim=True) for mean, log in self.split(point)]

    def divergence(self, point: Tensor) -> Tensor:
        """KL divergence from the best prior to the weights. Shape (B,)."""
        each = [
            # The squares over the prior variance average to one, whatever the weights: the rest is logarithms.
            0.5 * (prior.log() - log).sum((1, 2))
            for (_, log), prior in zip(self.split(point), self.prior(point), strict=True)
        ]
        return torch.stack(each).sum(0)


@dataclass(frozen=True)
class MarginalLikelihood:
    """What is maximized, with the sign of a minimum and with its gradient.

    Attributes:
        coding: of points.
        x: rows. Shape (n, d).
        y: targets, or 0 and 1. Shape (n, m).
        weight: of the rows. Shape (B, n) or (1, n).
        floor: least noise variance, (B, m); None for two classes.
    """

    coding: Coding
    x: Tensor
    y: Tensor
    weight: Tensor
    floor: Tensor | None

    def noise(self, point: Tensor) -> Tensor:
        """Noise variance of every output. Shape (B, m)."""
        if self.floor is None:
            return point.new_ones(len(point), 1)
        return self.floor + point[:, 2 * self.coding.size :].exp()

    def lowered(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """Divergence less log-likelihood (B,) and its gradient (B, p); rows are taken in chunks, to bound memory."""
        with torch.enable_grad():
            leaf = point.detach().requires_grad_()
            value = self.coding.divergence(leaf)
            (gradient,) = torch.autograd.grad(value.sum(), leaf)
            value = value.detach()
            for chunk in torch.split(torch.arange(len(self.x)), self.chunk_rows()):
                part = -self.log_likelihood(leaf, chunk)
                gradient = gradient + torch.autograd.grad(part.sum(), leaf)[0]
                value = value + part.detach()
        return value, gradient

    def chunk_rows(self) -> int:
        """How many rows one pass reads."""
        return rows_per_chunk(as_ladders([torch.empty(shape, device="meta") for shape in self.coding.shapes]))

    def log_likelihood(self, point: Tensor, chunk: Tensor) -> Tensor:
        """Weighted sum of the log densities of some rows' targets. Shape (B,)."""
        moments = output_moments(self.coding.weights(point), self.x[chunk])
        noise, y = self.noise(point), self.y[chunk]
        each = log_probability(moments, y) if self.floor is None else log_density(moments, noise, y)
        return (self.weight[:, chunk] * each).sum(-1)


def log_density(moments: Moments, noise: Tensor, y: Tensor) -> Tensor:
    """Of targets (n, m) under the Gaussian with these moments plus independent noise (B, m). Shape (B, n)."""
    error = y - moments.mean
    if y.shape[1] == 1:
        variance = moments.covariance.flatten(-3) + noise
        return -0.5 * ((2 * math.pi * variance).log() + error.squeeze(-1).square() / variance)
    factor = torch.linalg.cholesky(moments.covariance + torch.diag_embed(noise).unsqueeze(1))
    scaled = torch.linalg.solve_triangular(factor, error.unsqueeze(-1), upper=False).squeeze(-1)
    logs = factor.diagonal(dim1=-2, dim2=-1).log()
    return -(0.5 * (math.log(2 * math.pi) + scaled.square()) + logs).sum(-1)


def log_probability(moments: Moments, y: Tensor) -> Tensor:
    """Of classes 0 and 1 (n, 1) under a probit of a Gaussian output with these moments. Shape (B, n)."""
    margin = moments.mean.squeeze(-1) / (1 + moments.covariance.flatten(-3)).sqrt()
    logs: Tensor = torch.special.log_ndtr((2 * y - 1).mT * margin)
    return logs


def unsure(start: LadderPolynomial) -> GaussianWeights:
    """A ladder with variances as large as its blocks' mean squares: they shrink where the rows speak.

    From small variances steps would gain most by switching units off, and ladders of two classes ended as constants.
    """
    start = start.to(torch.float64)
    squares = [b.square().mean((1, 2), keepdim=True).clamp_min(WIDTH).expand_as(b).clone() for b in blocks(start)]
    return GaussianWeights(start, as_ladders(squares).map(lambda t: t.reshape(*start.batch_shape, *t.shape[1:])))


def least_noise(mean: LadderPolynomial, x: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """The floor of the noise variance, from the errors at the mean weights. Shape (B, m)."""
    squares = (mean(x) - y).square().reshape(-1, *y.shape)
    total = weight.sum(-1, keepdim=True)
    found = (weight.unsqueeze(1) @ squares).squeeze(1) / total
    least = NOISE_FLOOR * (weight @ y.square()) / total
    return (LEAST_NOISE * found).maximum(least.clamp_min(1e-300))


def blocks(polynomial: LadderPolynomial) -> list[Tensor]:
    """Layers, gates and readout, intercepts as last columns, the batch flattened. Shapes (B, rows, columns)."""
    pairs = [
        *zip(polynomial.W, polynomial.b, strict=True),
        *zip(polynomial.V, polynomial.c, strict=True),
        (polynomial.readout, polynomial.offset),
    ]
    joined = [torch.cat([matrix, intercept.unsqueeze(-1)], -1) for matrix, intercept in pairs]
    return [t.reshape(-1, *t.shape[-2:]).to(torch.float64) for t in joined]
