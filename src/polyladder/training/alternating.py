"""Exact block solves: fit a ladder by solving one block after another, each a ridge regression.

The paper notes that the loss is convex in each block with the others fixed, and does not use it. Here it replaces the
gradient: no learning rate, and the regularized loss never rises.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from polyladder.models.batched import Seeds
from polyladder.models.ladder import LPNN
from polyladder.models.merge import merge
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.blocks import (
    Blocks,
    NormalEquations,
    balance,
    blocks_of,
    normal_equations,
    readout_equations,
)
from polyladder.training.conjugate import solve_iteratively
from polyladder.training.majorize import Logistic, Loss, Softmax, SquaredError

DIRECT_LIMIT = 4000
"""Blocks with more weights than this are solved by conjugate gradients, without forming their Gram matrix."""

START = 0.3
"""Where ``alpha="auto"`` starts: this over the number of rows. More would switch units off before they learn anything,
and they do not come back."""

WARM_UP = 3
"""Sweeps with the starting ridge weight before ``alpha="auto"`` re-estimates it: a random ladder fits only noise."""


@dataclass(frozen=True)
class AlternatingFit:
    """What a fit by block solves found.

    Attributes:
        polynomial: the fitted ladders. Batch shape as the start's.
        objective: regularized loss after every sweep, first entry at the start; NaN after a model stopped.
            Shape (sweeps + 1, *batch_shape).
        held_out: unregularized loss on the validation rows after every sweep; empty without validation rows.
        alpha: the ridge weight of each block as last used: layers, gates, readout. Shape (2 L + 1, *batch_shape).
        noise: estimated noise variance (mean squared residual where ``alpha`` is given). Shape batch_shape.
        sweeps: how many sweeps each model took. Shape batch_shape.
        seconds: what it cost.
    """

    polynomial: LadderPolynomial
    objective: Tensor
    held_out: Tensor
    alpha: Tensor
    noise: Tensor
    sweeps: Tensor
    seconds: float


def random_start(
    in_features: int, hidden: tuple[int, ...], out_features: int, seeds: Seeds, count: int
) -> LadderPolynomial:
    """Ladders to start from, one a seed, in float64. Batch shape (count,)."""
    return merge(LPNN(in_features, hidden, out_features, batch_shape=(count,), seed=seeds, dtype=torch.float64))


@torch.no_grad()
def fit_alternating(
    start: LadderPolynomial,
    x: Tensor,
    y: Tensor,
    *,
    loss: Literal["squared", "logistic", "softmax"] = "squared",
    alpha: float | Tensor | Literal["auto"] = "auto",
    strength: float | Tensor = 1.0,
    weight: Tensor | None = None,
    validation: Tensor | None = None,
    sweeps: int = 20,
    tolerance: float = 1e-3,
    patience: int = 5,
    progress: Callable[[int, Tensor], None] | None = None,
) -> AlternatingFit:
    r"""Minimize mean loss plus ridge over all weights of many ladders, block by block, each block exactly.

    .. math:: \sum_n w_n \ell(f(x_n), y_n) / \sum_n w_n + \sum_{blocks} \alpha_b \|\theta_b\|^2

    A sweep solves the readout with its offset, then from the last layer to the first the gate (V, c) and the layer
    (W, b), then rescales the blocks against each other (`balance`). The offset alone is not penalized.

    Args:
        start: where to start; its readout does not matter. Any ``batch_shape``, float64.
        x: rows shared by all models. Shape (n, d).
        y: targets (n, m) for "squared"; signs +-1 (n,) for "logistic"; one-hot classes (n, m) for "softmax".
        loss: the squared error is minimized exactly in each block, the others through a quadratic upper bound.
        alpha: ridge weight, one or one a model; "auto" re-estimates the noise and one ridge weight a block between
            sweeps by empirical Bayes, and then only approximately lowers one objective.
        strength: with "auto", the estimated ridge weights are multiplied by 1 + strength * noise / variance of y, for
            targets of variance 1. A block's own evidence takes the other blocks as known; their uncertainty, which it
            thus ignores, grows with the noise. One number or one a model.
        weight: of every row, shared (n,) or for each model (*batch_shape, n); zero leaves a row out (folds), two
            counts it twice.
        validation: row weights of a held-out set, shaped as ``weight``; with it a model stops once the held-out loss
            has not fallen for ``patience`` sweeps, and its best weights are kept.
        sweeps: at most so many.
        tolerance: a model stops when a sweep lowers its objective by less than this, relatively.
        patience: see ``validation``.
        progress: called after each sweep with its number and the objectives.
    """
    began = time.perf_counter()
    batch_shape = start.batch_shape
    count = math.prod(batch_shape)
    blocks = blocks_of(start, x)
    rows = flat_weights("weight", weight, x, batch_shape)
    held = None if validation is None else flat_weights("validation", validation, x, batch_shape)
    auto = isinstance(alpha, str)
    if isinstance(alpha, str) and alpha != "auto":
        raise ValueError(f"alpha must be a non-negative number, one a model, or 'auto'; got {alpha!r}.")
    given = (START / rows.sum(-1)).clamp_max(1e-3).expand(count) if isinstance(alpha, str) else alpha
    ridge = Ridge(blocks, flat_number("alpha", given, count, x), auto)
    ridge.strength = flat_number("strength", strength, count, x)
    target = as_loss(loss, y)

    best, best_held = blocks.select(torch.arange(count)), x.new_full((count,), math.inf)
    since = torch.zeros(count, dtype=torch.long)
    active = torch.arange(count)
    taken = torch.zeros(count, dtype=torch.long)
    current = ridge.objective(blocks, target, rows)
    objectives, held_out = [current.clone()], []
    result_alpha, noise = ridge.alpha.clone(), x.new_zeros(count)
    for sweep in range(1, sweeps + 1):
        ridge.estimating = auto and sweep > WARM_UP
        one_sweep(blocks, target, rows, ridge)
        value = ridge.objective(blocks, target, rows)
        record = x.new_full((count,), math.nan)
        record[active] = value
        objectives.append(record)
        taken[active] = sweep
        if held is not None:
            outside = held if len(held) == 1 else held[active]
            error = (target.value(blocks.f) * outside).sum(-1) / outside.sum(-1)
            better = error < best_held[active]
            since[active] = torch.where(better, 0, since[active] + 1)
            best_held[active] = torch.where(better, error, best_held[active])
            entry = x.new_full((count,), math.nan)
            entry[active] = error
            held_out.append(entry)
        else:
            better = torch.ones_like(value, dtype=torch.bool)
        keep_best(best, blocks, active, better)
        result_alpha[:, active], noise[active] = ridge.alpha, ridge.noise(blocks, target, rows)
        going = (current - value).abs() > tolerance * value.abs()
        if sweep <= WARM_UP + 1 and auto:
            going = torch.ones_like(going)
        if held is not None:
            going |= since[active] < patience
            going &= since[active] < patience
        if progress is not None:
            progress(sweep, record)
        current = value
        if not going.any():
            break
        if not going.all():
            active, current = active[going], current[going]
            blocks, ridge = blocks.select(going), ridge.select(going)
            rows = rows if len(rows) == 1 else rows[going]

    def shaped(t: Tensor) -> Tensor:
        return t.reshape(*t.shape[:-1], *batch_shape)

    return AlternatingFit(
        polynomial=best.polynomial().map(lambda t: t.reshape(*batch_shape, *t.shape[1:])),
        objective=shaped(torch.stack(objectives)),
        held_out=shaped(torch.stack(held_out)) if held_out else x.new_empty(0),
        alpha=shaped(result_alpha),
        noise=shaped(noise),
        sweeps=shaped(taken),
        seconds=time.perf_counter() - began,
    )


def one_sweep(blocks: Blocks, loss: Loss, rows: Tensor, ridge: Ridge) -> None:
    """Solve every block once, from the readout down to the first layer, and rescale."""
    depth, total = len(blocks.W), rows.sum(-1)
    solve_readout(blocks, loss, rows, total, ridge)
    # Derivatives of the outputs with respect to the state below: at first the readout itself, the same for all rows.
    n = blocks.x.shape[-1]
    slope = blocks.R[..., :-1].unsqueeze(-1).expand(-1, -1, -1, n)
    for l in reversed(range(depth)):
        below = blocks.below(l)
        u, gate = blocks.W[l] @ below, blocks.V[l] @ blocks.x
        blocks.V[l], gate = solve_layer(
            blocks, slope * u.unsqueeze(1), blocks.x, gate, loss, rows, total, ridge, depth + l
        )
        blocks.W[l], u = solve_layer(blocks, slope * gate.unsqueeze(1), below, u, loss, rows, total, ridge, l)
        if l:
            slope = blocks.W[l][:, None, :, :-1].mT @ (slope * gate.unsqueeze(1))
    if not ridge.estimating:
        balance(blocks, [(ridge.alpha[l], ridge.alpha[depth + l], ridge.reader(l)) for l in range(depth)])
    blocks.forward()
    ridge.adopt(blocks, loss, rows)


def solve_readout(blocks: Blocks, loss: Loss, rows: Tensor, total: Tensor, ridge: Ridge) -> None:
    """Replace the readout by its exact minimizer and update the outputs."""
    response, curvature = loss.quadratic(blocks.f)
    h = blocks.below(len(blocks.W))
    equations = readout_equations(h, response, rows * curvature, total)
    blocks.R = ridge.solve(equations, 2 * len(blocks.W)).mT.contiguous()
    blocks.f = blocks.R @ h


def solve_layer(
    blocks: Blocks, g: Tensor, h: Tensor, old: Tensor, loss: Loss, rows: Tensor, total: Tensor, ridge: Ridge, block: int
) -> tuple[Tensor, Tensor]:
    """The exact minimizer of one layer or gate, and its new values; the outputs are updated.

    Args:
        blocks: their outputs ``f`` are updated.
        g: derivative of each output with respect to the block's output. Shape (B, m, k, n).
        h: what the block reads. Shape (q, n) or (B, q, n).
        old: the block's present values. Shape (B, k, n).
        loss: of which the block minimizes the quadratic bound.
        rows: row weights. Shape (B, n) or (1, n).
        total: their sums. Shape (B,) or (1,).
        ridge: the ridge weights.
        block: the block's position among the ridge weights.
    """
    B, _, k, _ = g.shape
    q = h.shape[-2]
    response, curvature = loss.quadratic(blocks.f)
    own = (g * old.unsqueeze(1)).sum(2)
    wanted, weight = response - blocks.f + own, rows * curvature
    if k * q > DIRECT_LIMIT:
        theta = solve_iteratively(g, h, wanted, weight, total, ridge.alpha[block])
    else:
        theta = ridge.solve(normal_equations(g, h, wanted, weight, total), block).reshape(B, k, q)
    new = theta @ h
    blocks.f = blocks.f - own + (g * new.unsqueeze(1)).sum(2)
    return theta, new


class Ridge:
    """Ridge weights of every block (layers, gates, readout), given or re-estimated.

    Empirical Bayes: with noise variance s and n rows, a block's ridge weight a means the prior precision n a / s. The
    evidence of that block's regression is stationary where a = s gamma / (n |theta|^2), gamma = p - a tr((G + a I)^-1)
    being how many of its p weights the data determine, and s = n mse / (n - sum of gamma).
    """

    def __init__(self, blocks: Blocks, alpha: Tensor, auto: bool) -> None:
        count = 2 * len(blocks.W) + 1
        self.alpha = alpha.repeat(count, 1)
        self.auto = auto
        self.estimating = False
        self.strength = torch.ones_like(alpha)
        self.determined = torch.zeros_like(self.alpha)

    def reader(self, layer: int) -> Tensor:
        """Ridge weights of what reads the given layer: the next layer, or the readout."""
        depth = len(self.alpha) // 2
        return self.alpha[layer + 1] if layer + 1 < depth else self.alpha[-1]

    def select(self, keep: Tensor) -> Ridge:
        """The ridge weights of the ladders at the given positions."""
        other = Ridge.__new__(Ridge)
        other.alpha, other.determined = self.alpha[:, keep], self.determined[:, keep]
        other.strength, other.auto, other.estimating = self.strength[keep], self.auto, self.estimating
        return other

    def solve(self, equations: NormalEquations, block: int) -> Tensor:
        """The minimizer of one block's quadratic plus ridge. Shape (B, p, r)."""
        alpha = self.alpha[block]
        is_readout = block == len(self.alpha) - 1
        penalty = alpha.unsqueeze(1).expand(-1, equations.gram.shape[-1])
        if is_readout:
            penalty = penalty.clone()
            penalty[:, -1] = 0.0
        factor = cholesky(equations.gram, penalty)
        if self.estimating:
            inverse_diagonal = torch.cholesky_inverse(factor).diagonal(dim1=-2, dim2=-1)
            self.determined[block] = (1 - penalty * inverse_diagonal).sum(-1)
        return torch.cholesky_solve(equations.moment, factor)

    def penalty(self, blocks: Blocks) -> Tensor:
        """The regularization term of every ladder. Shape (B,)."""
        return (self.alpha * squared_norms(blocks)).sum(0)

    def objective(self, blocks: Blocks, loss: Loss, rows: Tensor) -> Tensor:
        """Regularized loss of every ladder. Shape (B,)."""
        return mean_loss(blocks, loss, rows) + self.penalty(blocks)

    def noise(self, blocks: Blocks, loss: Loss, rows: Tensor) -> Tensor:
        """Noise variance per output, corrected for the weights that the data determined. Shape (B,)."""
        if loss.noise is not None:
            return torch.full_like(self.strength, loss.noise)
        n = rows.sum(-1) * blocks.f.shape[1]
        # With as many determined weights as rows the correction would divide by zero; half the rows is already absurd.
        free = n - self.determined.sum(0).minimum(0.8 * n)
        return mean_loss(blocks, loss, rows) / blocks.f.shape[1] * n / free

    def adopt(self, blocks: Blocks, loss: Loss, rows: Tensor) -> None:
        """Move to the ridge weights at which the evidence is stationary."""
        if self.estimating:
            n = rows.sum(-1)
            norms = squared_norms(blocks).clamp_min(1e-300)
            # A floor: with no noise at all the ridge would vanish, and rounding errors would rule the solves.
            noise = self.noise(blocks, loss, rows).clamp_min(1e-7)
            estimate = noise * self.determined.clamp_min(1e-3) / (n * norms)
            self.alpha = ((1 + self.strength * noise) * estimate).clamp(1e-10, 1e2)


def squared_norms(blocks: Blocks) -> Tensor:
    """Squared norm of each block, the offset left out: layers, gates, readout. Shape (2 L + 1, B)."""
    return torch.stack([t.square().sum((1, 2)) for t in (*blocks.W, *blocks.V, blocks.R[..., :-1])])


def mean_loss(blocks: Blocks, loss: Loss, rows: Tensor) -> Tensor:
    """Weighted mean loss of every ladder. Shape (B,)."""
    return (loss.value(blocks.f) * rows).sum(-1) / rows.sum(-1)


def cholesky(gram: Tensor, penalty: Tensor) -> Tensor:
    """Cholesky factor of gram + diag(penalty); where that is not positive definite to rounding, a jitter is added.

    The jitter starts at 1e-12 of the mean diagonal and grows tenfold until the factorization succeeds; the models that
    did not need it do not get it.
    """
    matrix = gram.clone()
    matrix.diagonal(dim1=-2, dim2=-1).add_(penalty)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    jitter = 1e-12
    while failed.any():
        if jitter > 1:
            raise ValueError(
                "The features must be finite and not all zero; a block's Gram matrix cannot be factorized."
            )
        bad = failed.nonzero().squeeze(-1)
        scale = matrix[bad].diagonal(dim1=-2, dim2=-1).mean(-1).clamp_min(1e-300)
        lifted = matrix[bad] + torch.diag_embed((jitter * scale).unsqueeze(-1).expand_as(penalty[bad]))
        factor[bad], failed[bad] = torch.linalg.cholesky_ex(lifted)
        jitter *= 10
    return factor


def keep_best(best: Blocks, blocks: Blocks, active: Tensor, better: Tensor) -> None:
    """Copy the weights of the active models that got better."""
    to = active[better]
    for kept, new in zip((*best.W, *best.V, best.R), (*blocks.W, *blocks.V, blocks.R), strict=True):
        kept[to] = new[better]


def as_loss(loss: str, y: Tensor) -> Loss:
    """The loss by name, over targets with rows last and a leading batch dimension."""
    if loss == "squared":
        return SquaredError(y.mT.unsqueeze(0))
    if loss == "softmax":
        return Softmax(y.mT.unsqueeze(0))
    if loss == "logistic":
        return Logistic(y.reshape(1, 1, -1))
    raise ValueError(f"loss must be 'squared', 'logistic' or 'softmax'; got {loss!r}.")


def flat_number(name: str, value: float | Tensor, count: int, like: Tensor) -> Tensor:
    """One number, or one a model, as a tensor of shape (count,)."""
    tensor = torch.as_tensor(value, dtype=like.dtype, device=like.device).reshape(-1)
    if len(tensor) not in (1, count) or bool((tensor < 0).any()) or not bool(tensor.isfinite().all()):
        raise ValueError(f"{name} must be one non-negative number or {count} of them, one a model; got {value}.")
    return tensor.expand(count).clone()


def flat_weights(name: str, weight: Tensor | None, x: Tensor, batch_shape: torch.Size) -> Tensor:
    """Row weights of shape (B, n), or (1, n) where all models share them."""
    n = x.shape[0]
    if weight is None:
        return x.new_ones(1, n)
    tensor = weight.to(x)
    if tuple(tensor.shape) not in ((n,), (*batch_shape, n)):
        raise ValueError(f"{name} must have shape ({n},) or {(*batch_shape, n)}; got shape {tuple(tensor.shape)}.")
    flat = tensor.reshape(-1, n)
    if bool((flat < 0).any()) or bool((flat.sum(-1) <= 0).any()):
        raise ValueError(f"{name} must not be negative and must leave every model some rows.")
    return flat
