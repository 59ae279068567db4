"""The posterior of a ladder, sampled block by block, each block exactly.

The regressions that `polyladder.fit_alternating` solves are, for Gaussian noise and Gaussian priors, also the
conditional posteriors: block by block they are Gaussian, with the same Gram matrix. So they can be drawn from at once,
without gradients and without a step size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from polyladder.models.batched import Seeds, positive_integer
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.bayes.noise import GammaPrior, Likelihood, Noise
from polyladder.training.bayes.probit import SeveralClasses, TwoClasses
from polyladder.training.bayes.streams import Streams
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED
from polyladder.training.rows import Rows, checked_rows, chosen_rows, row_weights
from polyladder.training.solves.block_step import DIRECT_LIMIT
from polyladder.training.solves.blocks import (
    Blocks,
    NormalEquations,
    as_ladders,
    blocks_of,
    normal_equations,
    readout_equations,
)
from polyladder.training.solves.cholesky import cholesky
from polyladder.training.solves.conjugate import MatrixFreeRidge

DEGREES = (3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 14.0, 20.0, 30.0, 50.0, math.inf)
"""Degrees of freedom that are compared where none are given; infinity is Gaussian noise. Below 3 the tails, not the
rows, would decide the variance of a prediction."""


@dataclass(frozen=True)
class Priors:
    """What is believed before any row is seen, for inputs and targets of variance about 1.

    Attributes:
        weights: of the precision that the weights of a block share; the weights are Gaussian around zero.
        noise: of the noise precision of an output.
        slopes: of the precision that the slopes of a log noise precision share; they are Gaussian around zero.
        offset: variance of the final offset, which is Gaussian around zero; large, so that it is nearly flat.
    """

    weights: GammaPrior = field(default_factory=lambda: GammaPrior(1.0, 0.1))
    noise: GammaPrior = field(default_factory=lambda: GammaPrior(0.5, 1e-4))
    slopes: GammaPrior = field(default_factory=lambda: GammaPrior(1.0, 1.0))
    offset: float = 100.0


@dataclass(frozen=True)
class GibbsState:
    """The state of a chain: enough to continue as if it had never stopped.

    Attributes:
        weights: the ladders as last drawn, float64.
        memory: what the likelihood remembers. Shapes (B, ...), the batch flattened.
        streams: the random streams.
    """

    weights: LadderPolynomial
    memory: tuple[Tensor, ...]
    streams: Streams


@dataclass(frozen=True)
class GibbsDraws:
    """Draws from the posterior of many ladders.

    Attributes:
        weights: float64. Batch shape (draws, *batch_shape).
        noise: scale of the noise; its standard deviation if it is Gaussian; 1 for classes.
            Shape (draws, *batch_shape, m).
        degrees: degrees of freedom of the noise; infinity if it is Gaussian. Shape (draws, *batch_shape, m).
        slopes: of the noise's log precision on ``noise_features``. Shape (draws, *batch_shape, m, q).
        precision: of each block (layers, gates, readout), or of each column that a block reads, with the intercept's
            last, under ``relevance``. Shapes (draws, *batch_shape, 1) or (draws, *batch_shape, columns).
        state: to continue from.
    """

    weights: LadderPolynomial
    noise: Tensor
    degrees: Tensor
    slopes: Tensor
    precision: tuple[Tensor, ...]
    state: GibbsState


@torch.no_grad()
def sample_gibbs(
    start: LadderPolynomial | GibbsState,
    x: Tensor,
    y: Tensor,
    *,
    likelihood: Literal["gaussian", "student", "probit"] = "gaussian",
    degrees: float | None = None,
    noise_features: Tensor | None = None,
    rows: Rows = None,
    sample_weight: Tensor | None = None,
    relevance: bool = False,
    priors: Priors | None = None,
    warmup: int = 100,
    draws: int = 100,
    seed: Seeds = 0,
    progress: Callable[[int, Tensor], None] | None = None,
) -> GibbsDraws:
    r"""Draw from the posterior of many ladders, every block from its exact conditional.

    .. math:: y_{no} \sim N(f_o(x_n), 1 / \tau_o), \quad \theta_b \sim N(0, I / \alpha_b), \quad
        \alpha_b, \tau_o \sim Gamma

    A sweep draws the blocks' precisions, the latent variables of the likelihood with the noise precision, the readout,
    from the last layer to the first the gate (V, c) and the layer (W, b), and then the scales of every unit's three
    vectors against each other (`rescale`). All is computed in float64. The chains of a batch are independent of each
    other; start several from different ladders, best from short fits by `fit_alternating`.

    Args:
        start: where to start; any ``batch_shape``. Or the state of earlier draws, to continue from: then ``seed`` is
            not used, and 50 draws after 50 draws are the same as 100.
        x: rows shared by all models. Shape (n, d).
        y: targets (n, m), or (n,) for one output; for "probit" class numbers of shape (n,): 0 and 1 with one output,
            0, ..., m - 1 with several.
        likelihood: "student" noise gives less weight to rows that no function could fit; "probit" is for classes: the
            sign, or the largest, of outputs plus standard normal noise.
        degrees: degrees of freedom of "student"; None draws them from `DEGREES`, Gaussian noise among them.
        noise_features: the logarithm of the noise precision may rise or fall linearly with these; best of mean zero
            and variance one. Without them the noise is the same everywhere. Shape (n, q).
        rows: numbers of the rows to learn from: one vector for all models, (r,); (*batch_shape, r); or a sequence of
            vectors, one per model of the flattened batch. A number given twice is a row of twice the weight.
        sample_weight: non-negative, (n,). For Gaussian noise a weight of 2 counts as much as the row given twice; see
            `polyladder.training.bayes.noise` and `polyladder.training.bayes.probit`.
        relevance: one precision for each column that a block reads from x, instead of one for the block, so that inputs
            that do not matter are detected.
        priors: see `Priors`.
        warmup: sweeps that are dropped, so that the draws do not depend on the start.
        draws: how many to keep.
        seed: one integer (model i of the flattened batch takes ``seed + i``) or one per model.
        progress: called after each sweep with its number and the mean noise scale of the outputs, shape batch_shape.
    """
    ladder = start.weights if isinstance(start, GibbsState) else start.to(torch.float64)
    batch_shape = ladder.batch_shape
    x = checked_rows(x, ladder.in_features, ladder.device)
    chosen, _ = chosen_rows(rows, None, sample_weight, len(x), batch_shape)
    weight = row_weights(chosen, sample_weight, x)
    priors = Priors() if priors is None else priors
    blocks = blocks_of(ladder, x)
    target = as_likelihood(likelihood, degrees, noise_features, y.to(x.device), blocks, weight, priors)
    if isinstance(start, GibbsState):
        streams = start.streams.copy()
        target.recall(start.memory)
    else:
        streams = Streams(seed, batch_shape, x.device)

    def drawn() -> Drawn:
        precision = one_draw(blocks, target, weight, priors, relevance, streams)
        return Drawn([t.clone() for t in blocks.weights()], target.kept(), precision)

    def state(last: LadderPolynomial) -> GibbsState:
        return GibbsState(last, target.memory(), streams)

    return collect(drawn, state, batch_shape, warmup, draws, progress)


class Drawn(NamedTuple):
    """What one sweep drew: blocks as in `Blocks.weights`, noise as in `Likelihood.kept`, precisions of the blocks."""

    weights: list[Tensor]
    noise: tuple[Tensor, Tensor, Tensor]
    precision: list[Tensor]


def collect(
    sweep: Callable[[], Drawn],
    state: Callable[[LadderPolynomial], GibbsState],
    batch_shape: torch.Size,
    warmup: int,
    draws: int,
    progress: Callable[[int, Tensor], None] | None,
) -> GibbsDraws:
    """Sweep ``warmup + draws`` times and join the draws of the last; ``state`` is asked for after the last sweep."""
    if isinstance(warmup, bool) or not isinstance(warmup, int) or warmup < 0:
        raise ValueError(f"warmup must be a non-negative integer; got {warmup!r}.")
    positive_integer("draws", draws)
    count = math.prod(batch_shape)
    kept: list[Drawn] = []
    for number in range(1, warmup + draws + 1):
        drawn = sweep()
        if number > warmup:
            kept.append(drawn)
        if progress is not None:
            progress(number, drawn.noise[0].mean(-1).expand(count).reshape(batch_shape))

    def joined(tensors: tuple[Tensor, ...]) -> Tensor:
        flat = torch.stack([t.expand(count, *t.shape[1:]) for t in tensors])
        return flat.reshape(len(tensors), *batch_shape, *flat.shape[2:])

    weights = as_ladders([joined(block) for block in zip(*(drawn.weights for drawn in kept), strict=True)])
    noise, degrees, slopes = (joined(each) for each in zip(*(drawn.noise for drawn in kept), strict=True))
    precision = tuple(joined(block) for block in zip(*(drawn.precision for drawn in kept), strict=True))
    return GibbsDraws(weights, noise, degrees, slopes, precision, state(weights[-1]))


def as_likelihood(
    name: str,
    degrees: float | None,
    features: Tensor | None,
    y: Tensor,
    blocks: Blocks,
    rows: Tensor,
    priors: Priors,
) -> Likelihood:
    """The likelihood by name, started at the blocks' present outputs."""
    n, m = blocks.x.shape[1], blocks.f.shape[1]
    if degrees is not None and (name != "student" or not degrees > 0):
        raise ValueError(f"degrees must be a positive number, for 'student' alone; got {degrees!r} for {name!r}.")
    if features is not None and (name == "probit" or features.dim() != 2 or len(features) != n):
        raise ValueError(
            f"noise_features must have shape ({n}, q), for noise alone; got {tuple(features.shape)} for {name!r}."
        )
    if name == "probit":
        if m == 1:
            return TwoClasses(2 * Logistic().coded(y, n, 1, blocks.f.dtype).mT.unsqueeze(0) - 1)
        return SeveralClasses(Softmax().coded(y, n, m, blocks.f.dtype).unsqueeze(0), blocks.f)
    if name not in ("gaussian", "student"):
        raise ValueError(f"likelihood must be 'gaussian', 'student' or 'probit'; got {name!r}.")
    target = SQUARED.coded(y, n, m, blocks.f.dtype).mT.unsqueeze(0)
    grid = (math.inf,) if name == "gaussian" else DEGREES if degrees is None else (degrees,)
    squares = (rows.unsqueeze(1) * (target - blocks.f).square()).sum(-1)
    total = rows.sum(-1, keepdim=True)
    start = (priors.noise.shape + total / 2) / (priors.noise.rate + squares / 2)
    phi = target.new_empty(0, n) if features is None else features.to(target).mT.contiguous()
    return Noise(target, target.new_tensor(grid), priors.noise, start, phi, priors.slopes)


def one_draw(
    blocks: Blocks, likelihood: Likelihood, rows: Tensor, priors: Priors, relevance: bool, streams: Streams
) -> list[Tensor]:
    """Draw everything once, given everything else; return the precisions of the blocks, (B, 1) or (B, columns)."""
    depth = len(blocks.W)
    precision = draw_precisions(blocks, priors.weights, relevance, streams)
    response, accuracy = likelihood.renew(blocks.f, rows, streams)
    root = (rows.unsqueeze(1) * accuracy).sqrt()
    draw_readout(blocks, response, root, precision[-1], priors.offset, streams)
    slope = blocks.R[..., :-1].unsqueeze(-1).expand(-1, -1, -1, blocks.x.shape[-1])
    for l in reversed(range(depth)):
        u, gate = blocks.W[l] @ blocks.below(l), blocks.V[l] @ blocks.x
        gate = draw_layer(blocks, depth + l, slope * u.unsqueeze(1), gate, response, root, precision, streams)
        g = slope * gate.unsqueeze(1)
        draw_layer(blocks, l, g, u, response, root, precision, streams)
        if l:
            slope = blocks.W[l][:, None, :, :-1].mT @ g
    rescale(blocks, precision, streams)
    blocks.forward()
    return precision


def draw_precisions(blocks: Blocks, prior: GammaPrior, relevance: bool, streams: Streams) -> list[Tensor]:
    """Precisions of layers, gates and readout given their weights. Shapes (B, 1), or (B, columns) for relevance."""
    readers = [*blocks.W[:1], *blocks.V] if relevance else []
    drawn = []
    for weights in (*blocks.W, *blocks.V, blocks.R[..., :-1]):
        squares = weights.square().sum(1)
        count = weights.shape[1]
        if not any(weights is reader for reader in readers):
            squares, count = squares.sum(1, keepdim=True), count * weights.shape[2]
        shape = torch.full_like(squares, prior.shape + count / 2)
        drawn.append(streams.gamma(shape, prior.rate + squares / 2))
    return drawn


def draw_readout(
    blocks: Blocks, response: Tensor, root: Tensor, precision: Tensor, offset: float, streams: Streams
) -> None:
    """Draw the readout given everything else and update the outputs; each output is a regression of its own."""
    h = blocks.below(len(blocks.W))
    wanted, one = response.expand(blocks.count, -1, -1), root.new_ones(1)
    outputs = range(blocks.R.shape[1])
    equations = [readout_equations(h, wanted[:, o : o + 1], root[:, o].square(), one) for o in outputs]
    blocks.R = drawn_readout(equations, precision, offset, streams)
    blocks.f = blocks.R @ h


def drawn_readout(equations: list[NormalEquations], precision: Tensor, offset: float, streams: Streams) -> Tensor:
    """A draw of the readout (B, m, q), given the normal equations of each output."""
    q = equations[0].gram.shape[-1]
    penalty = torch.cat([precision.expand(-1, q - 1), torch.full_like(precision, 1 / offset)], -1)
    drawn = [draw_gaussian(each, penalty, streams.normal(q, 1)) for each in equations]
    return torch.cat(drawn, -1).mT.contiguous()


def draw_layer(
    blocks: Blocks,
    block: int,
    g: Tensor,
    old: Tensor,
    response: Tensor,
    root: Tensor,
    precision: list[Tensor],
    streams: Streams,
) -> Tensor:
    """Draw one layer or gate given everything else and update the outputs; the states are left as they were.

    Args:
        blocks: with its outputs ``f`` up to date.
        block: the block's position: layers, then gates.
        g: derivative of each output with respect to the block's output. Shape (B, m, k, n).
        old: the block's present values. Shape (B, k, n).
        response: of the likelihood. Shape (B, m, n) or (1, m, n).
        root: square root of its precision, row weights included. Shape (B, m, n).
        precision: of the blocks' weights.
        streams: random streams.

    Returns:
        The block's new values. Shape (B, k, n).
    """
    layer = block % len(blocks.W)
    weights, h = (blocks.W, blocks.below(layer)) if block == layer else (blocks.V, blocks.x)
    theta = weights[layer]
    rest, scaled, wanted = in_units_of_noise(blocks, g, old, response, root)
    if theta[0].numel() > DIRECT_LIMIT:
        theta = draw_by_rows(scaled, h, wanted, precision[block], theta, streams)
    else:
        equations = normal_equations(scaled, h, wanted, root.new_ones(1, root.shape[-1]), root.new_ones(1))
        theta = drawn_layer(equations, precision[block], theta, streams)
    weights[layer] = theta
    new = theta @ h
    blocks.f = rest + (g * new.unsqueeze(1)).sum(2)
    return new


def in_units_of_noise(
    blocks: Blocks, g: Tensor, old: Tensor, response: Tensor, root: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """A block of values ``old`` as a regression in which all rows and outputs have unit noise.

    Returns:
        The outputs without the block, (B, m, n); its derivatives g, scaled, (B, m, k, n); and what they should add up
        to, (B, m, n).
    """
    rest = blocks.f - (g * old.unsqueeze(1)).sum(2)
    return rest, g * root.unsqueeze(2), (response - rest) * root


def drawn_layer(equations: NormalEquations, precision: Tensor, old: Tensor, streams: Streams) -> Tensor:
    """A draw of a layer or gate like ``old`` (B, k, q), given its normal equations in units of the noise."""
    penalty = precision.unsqueeze(1).expand(-1, *old.shape[1:]).flatten(1)
    return draw_gaussian(equations, penalty, streams.normal(penalty.shape[1], 1)).reshape(old.shape)


def draw_gaussian(equations: NormalEquations, penalty: Tensor, normal: Tensor) -> Tensor:
    """A draw with precision matrix P = gram + diag(penalty) and mean P^-1 moment. Shape (B, p, 1).

    Args:
        equations: sums over the rows, not means.
        penalty: prior precisions. Shape (B, p).
        normal: standard normal draws. Shape (B, p, 1).
    """
    factor = cholesky(equations.gram, penalty)
    # With P = L L', L'^-1 times standard normal numbers has covariance P^-1.
    half = torch.linalg.solve_triangular(factor, equations.moment, upper=False)
    return torch.linalg.solve_triangular(factor.mT, half + normal, upper=True)


def draw_by_rows(g: Tensor, h: Tensor, response: Tensor, precision: Tensor, old: Tensor, streams: Streams) -> Tensor:
    """A draw of a block too large for its Gram matrix: solve the regression on perturbed responses and a prior draw.

    With unit noise e added to the responses and the weights shrunk towards a draw from their prior, the solution is a
    draw from the posterior: its covariance is P^-1 (gram + precision) P^-1 = P^-1.

    Args:
        g: derivatives in units of the noise. Shape (B, m, k, n).
        h: what the block reads. Shape (q, n) or (B, q, n).
        response: in units of the noise. Shape (B, m, n).
        precision: of the block's weights. Shape (B, 1).
        old: where conjugate gradients start. Shape (B, k, q).
        streams: random streams.
    """
    if precision.shape[1] > 1:
        raise ValueError(
            f"relevance must be False for blocks of more than {DIRECT_LIMIT} weights; got {old[0].numel()}."
        )
    system = MatrixFreeRidge(g, h, g.new_ones(1, g.shape[-1]), g.new_ones(1), precision[:, 0])
    noisy = response + streams.normal(*response.shape[1:])
    prior = streams.normal(*old.shape[1:]) * precision.sqrt().unsqueeze(2)
    return system.solve(system.moment(noisy) + prior, old)


def rescale(blocks: Blocks, precision: list[Tensor], streams: Streams) -> None:
    r"""Draw the scale of every unit's layer row, and of its gate row, against the column that reads the unit.

    Multiplying the row by r and the column by 1 / r leaves the function as it is, so only the prior matters for r: a
    density of log r proportional to exp(t (p - q) - (A e^{2t} + B e^{-2t}) /
    2), with p and q entries, and A and B squared norms times precisions. It is log-concave; a Gaussian at its mode
    proposes, and the ratio of the two densities at the proposal and at t = 0 decides. Without this step scales would
    move between blocks only slowly, because each block holds the others in place.

    Args:
        blocks: rescaled in place; states and outputs are left to `Blocks.forward`.
        precision: of the blocks' weights.
        streams: random streams.
    """
    depth = len(blocks.W)
    for l in range(depth):
        reader, outside = (blocks.W[l + 1], precision[l + 1]) if l + 1 < depth else (blocks.R, precision[-1])
        column = reader[..., : blocks.W[l].shape[1]]
        for weights, inside in ((blocks.W, precision[l]), (blocks.V, precision[depth + l])):
            row = weights[l]
            entries = (row.shape[2] - column.shape[1]) / 2
            a = (row.square() * inside.unsqueeze(1)).sum(2) / 2
            b = (column.square() * outside.unsqueeze(1)).sum(1) / 2
            factor = draw_scale(entries, a, b, streams)
            weights[l] = row * factor.unsqueeze(2)
            column /= factor.unsqueeze(1)


def draw_scale(entries: float, a: Tensor, b: Tensor, streams: Streams) -> Tensor:
    """One Metropolis-Hastings step from s = 0 on the density exp(2 entries s - a e^2s - b e^-2s); e^s is returned.

    Args:
        entries: half the difference of the numbers of entries.
        a: Shape (B, k).
        b: Shape (B, k).
        streams: random streams.
    """
    a, b = a.clamp_min(1e-300), b.clamp_min(1e-300)
    # In t = 2 s the slope is entries - a e^t + b e^-t: a quadratic in e^t.
    root = (entries**2 + 4 * a * b).sqrt()
    mode = (2 * b / (root - entries) if entries < 0 else (entries + root) / (2 * a)).log()
    deviation = root.rsqrt()
    normal, uniform = streams.normal(a.shape[1]), streams.uniform(a.shape[1])
    t = mode + deviation * normal

    def excess(t: Tensor) -> Tensor:
        """Log density over log proposal density."""
        return entries * t - a * t.exp() - b * (-t).exp() + ((t - mode) / deviation).square() / 2

    accepted = uniform.log() < excess(t) - excess(torch.zeros_like(t))
    return torch.where(accepted, (t / 2).exp(), 1.0)
