"""Exact block solves: fit a ladder by solving one block after another, each a ridge regression.

The paper notes that the loss is convex in each block with the others fixed, and does not use it. Here it replaces the
gradient: no learning rate, and the regularized loss never rises.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from polyladder.models.batched import Seeds, positive_integer
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
from polyladder.training.conjugate import RowSystem
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
        polynomial: the fitted ladders, float64. Batch shape as the start's.
        objective: regularized loss after every sweep, first entry at the start; NaN after a model stopped.
            Shape (sweeps + 1, *batch_shape).
        held_out: unregularized loss on the validation rows after every sweep, NaN after a model stopped.
            Shape (sweeps, *batch_shape), or (0,) without validation rows.
        alpha: the ridge weight of each block, as given or last estimated: layers, gates, readout.
            Shape (2 L + 1, *batch_shape).
        noise: noise variance of one output: estimated with ``alpha="auto"``, else the mean squared residual; 1/2, what
            a log-likelihood amounts to, for the other losses. Shape batch_shape.
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
    (W, b), then rescales the blocks against each other (`balance`). The offset alone is not penalized. All is computed
    in float64.

    Args:
        start: where to start; its readout does not matter. Any ``batch_shape``.
        x: rows shared by all models. Shape (n, d).
        y: targets (n, m), or (n,) for one output, for "squared"; signs +-1 (n,) for "logistic"; one-hot classes, or
            probabilities, (n, m) for "softmax".
        loss: the squared error, summed over outputs, is minimized exactly in each block, the others through a quadratic
            upper bound.
        alpha: ridge weight, one or one a model; "auto" re-estimates the noise and one ridge weight a block between
            sweeps by empirical Bayes, and then only approximately lowers one objective.
        strength: with "auto", the estimated ridge weights are multiplied by 1 + strength * noise / variance of y, for
            targets of variance 1. A block's own evidence takes the other blocks as known; their uncertainty, which it
            thus ignores, grows with the noise. One number or one a model.
        weight: of every row, shared (n,) or for each model (*batch_shape, n); zero leaves a row out (folds), two
            counts it twice. With "auto" the sum of the weights is taken for the number of rows.
        validation: row weights of a held-out set, shaped as ``weight``. With it a model stops, instead of by
            ``tolerance``, once the held-out loss has not fallen for ``patience`` sweeps, and the weights of its best
            sweep are kept.
        sweeps: at most so many.
        tolerance: a model stops when a sweep lowers its objective by less than this, relatively.
        patience: see ``validation``.
        progress: called after each sweep with its number and the objectives, shape batch_shape.
    """
    began = time.perf_counter()
    start = start.to(torch.float64)
    batch_shape, count = start.batch_shape, math.prod(start.batch_shape)
    x = checked_rows(start, x)
    target = as_loss(loss, checked_targets(loss, y.to(x), len(x), start.out_features))
    rows = flat_weights("weight", weight, x, batch_shape)
    held = None if validation is None else flat_weights("validation", validation, x, batch_shape)
    positive_integer("sweeps", sweeps)
    positive_integer("patience", patience)
    if isinstance(alpha, str) and alpha != "auto":
        raise ValueError(f"alpha must be a non-negative number, one a model, or 'auto'; got {alpha!r}.")
    auto = isinstance(alpha, str)
    given = (START / rows.sum(-1)).clamp_max(1e-3).expand(count) if isinstance(alpha, str) else alpha

    def shaped(t: Tensor) -> Tensor:
        return t.reshape((*t.shape[:-1], *batch_shape))

    blocks = blocks_of(start, x)
    ridge = Ridge(
        alpha=flat_number("alpha", given, count, x).repeat(2 * len(blocks.W) + 1, 1),
        strength=flat_number("strength", strength, count, x),
        determined=x.new_zeros(2 * len(blocks.W) + 1, count),
    )
    best, best_held = blocks.weights(), x.new_full((count,), math.inf)
    active = torch.arange(count, device=x.device)
    since, taken = torch.zeros_like(active), torch.zeros_like(active)
    current = ridge.objective(blocks, target, rows)
    objectives, held_out = [current.clone()], []
    last_alpha, noise = ridge.alpha.clone(), x.new_zeros(count)
    for sweep in range(1, sweeps + 1):
        ridge.estimating = auto and sweep > WARM_UP
        one_sweep(blocks, target, rows, ridge)
        value = ridge.objective(blocks, target, rows)
        objectives.append(x.new_full((count,), math.nan).index_copy(0, active, value))
        taken[active] = sweep
        last_alpha[:, active], noise[active] = ridge.alpha, ridge.noise(blocks, target, rows)
        if held is None:
            better = torch.ones_like(value, dtype=torch.bool)
            going = (current - value).abs() > tolerance * value.abs()
            if auto and sweep <= WARM_UP + 1:
                going = torch.ones_like(going)
        else:
            error = mean_loss(blocks, target, held if len(held) == 1 else held[active])
            held_out.append(x.new_full((count,), math.nan).index_copy(0, active, error))
            better = error < best_held[active]
            best_held[active] = torch.where(better, error, best_held[active])
            since[active] = torch.where(better, 0, since[active] + 1)
            going = since[active] < patience
        keep_best(best, blocks, active, better)
        if progress is not None:
            progress(sweep, shaped(objectives[-1]))
        current = value
        if not going.any():
            break
        if not going.all():
            active, current = active[going], current[going]
            blocks, ridge = blocks.select(going), ridge.select(going)
            rows = rows if len(rows) == 1 else rows[going]
    return AlternatingFit(
        polynomial=best.polynomial().map(lambda t: t.reshape((*batch_shape, *t.shape[1:]))),
        objective=shaped(torch.stack(objectives)),
        held_out=shaped(torch.stack(held_out)) if held_out else x.new_empty(0),
        alpha=shaped(last_alpha),
        noise=shaped(noise),
        sweeps=shaped(taken),
        seconds=time.perf_counter() - began,
    )


def one_sweep(blocks: Blocks, loss: Loss, rows: Tensor, ridge: Ridge) -> None:
    """Solve every block once, from the readout down to the first layer, and rescale."""
    depth = len(blocks.W)
    solve_readout(blocks, loss, rows, ridge)
    # Derivatives of the outputs with respect to the state below: at first the readout itself, the same for all rows.
    slope = blocks.R[..., :-1].unsqueeze(-1).expand(-1, -1, -1, blocks.x.shape[-1])
    for l in reversed(range(depth)):
        u, gate = blocks.W[l] @ blocks.below(l), blocks.V[l] @ blocks.x
        gate = solve_layer(blocks, depth + l, slope * u.unsqueeze(1), gate, loss, rows, ridge)
        g = slope * gate.unsqueeze(1)
        solve_layer(blocks, l, g, u, loss, rows, ridge)
        if l:
            slope = blocks.W[l][:, None, :, :-1].mT @ g
    if not ridge.estimating:
        balance(blocks, [(ridge.alpha[l], ridge.alpha[depth + l], ridge.reader(l)) for l in range(depth)])
    blocks.forward()
    ridge.adopt(blocks, loss, rows)


def solve_readout(blocks: Blocks, loss: Loss, rows: Tensor, ridge: Ridge) -> None:
    """Replace the readout by its exact minimizer and update the outputs."""
    response, curvature = loss.quadratic(blocks.f)
    h = blocks.below(len(blocks.W))
    equations = readout_equations(h, response, rows * curvature, rows.sum(-1))
    blocks.R = ridge.solve(equations, 2 * len(blocks.W), blocks.R.mT).mT.contiguous()
    blocks.f = blocks.R @ h


def solve_layer(blocks: Blocks, block: int, g: Tensor, old: Tensor, loss: Loss, rows: Tensor, ridge: Ridge) -> Tensor:
    """Replace one layer or gate by its exact minimizer and update the outputs; the states are left as they were.

    Args:
        blocks: with its outputs ``f`` up to date.
        block: the block's position: layers, then gates.
        g: derivative of each output with respect to the block's output. Shape (B, m, k, n).
        old: the block's present values. Shape (B, k, n).
        loss: of which the block minimizes the quadratic bound.
        rows: row weights. Shape (B, n) or (1, n).
        ridge: the ridge weights.

    Returns:
        The block's new values. Shape (B, k, n).
    """
    layer = block % len(blocks.W)
    weights, h = (blocks.W, blocks.below(layer)) if block == layer else (blocks.V, blocks.x)
    theta = weights[layer]
    response, curvature = loss.quadratic(blocks.f)
    rest = blocks.f - (g * old.unsqueeze(1)).sum(2)
    weight, total = rows * curvature, rows.sum(-1)
    if theta[0].numel() > DIRECT_LIMIT:
        system = RowSystem(g, h, weight, total, ridge.alpha[block])
        theta = system.solve(system.moment(response - rest), theta)
        if ridge.estimating:
            ridge.determined[block] = system.determined()
    else:
        equations = normal_equations(g, h, response - rest, weight, total)
        theta = ridge.solve(equations, block, theta.flatten(1).unsqueeze(2)).reshape(theta.shape)
    weights[layer] = theta
    new = theta @ h
    blocks.f = rest + (g * new.unsqueeze(1)).sum(2)
    return new


@dataclass
class Ridge:
    """Ridge weights of every block (layers, gates, readout), given or re-estimated.

    Empirical Bayes: with noise variance s and n rows, a block's ridge weight a means the prior precision n a / s. The
    evidence of that block's regression is stationary where a = s gamma / (n |theta|^2), gamma = p - a tr((G + a I)^-1)
    being how many of its p weights the data determine, and s = n mse / (n - sum of gamma).

    Attributes:
        alpha: ridge weights. Shape (2 L + 1, B).
        strength: see `fit_alternating`. Shape (B,).
        determined: gamma of each block, offsets included; zero until estimated. Shape (2 L + 1, B).
        estimating: whether `solve` and `adopt` re-estimate the ridge weights.
    """

    alpha: Tensor
    strength: Tensor
    determined: Tensor
    estimating: bool = False

    def reader(self, layer: int) -> Tensor:
        """Ridge weights of what reads the given layer: the next layer, or the readout."""
        depth = len(self.alpha) // 2
        return self.alpha[layer + 1] if layer + 1 < depth else self.alpha[-1]

    def select(self, keep: Tensor) -> Ridge:
        """The ridge weights of the ladders at the given positions."""
        return replace(
            self,
            alpha=self.alpha[:, keep],
            strength=self.strength[keep],
            determined=self.determined[:, keep],
        )

    def solve(self, equations: NormalEquations, block: int, old: Tensor) -> Tensor:
        """The minimizer of one block's quadratic plus ridge. Shape (B, p, r).

        Solved for the change from the old weights (B, p, r): what the factorization's rounding or jitter spoils is then
        a part of the step, and the quadratic does not rise.
        """
        penalty = self.alpha[block].unsqueeze(1).expand(-1, equations.gram.shape[-1])
        if block == len(self.alpha) - 1:
            penalty = penalty.clone()
            penalty[:, -1] = 0.0
        factor = cholesky(equations.gram, penalty)
        if self.estimating:
            inverse_diagonal = torch.cholesky_inverse(factor).diagonal(dim1=-2, dim2=-1)
            self.determined[block] = (1 - penalty * inverse_diagonal).sum(-1) * old.shape[-1]
        residual = equations.moment - equations.gram @ old - penalty.unsqueeze(2) * old
        return old + torch.cholesky_solve(residual, factor)

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
            norms = squared_norms(blocks).clamp_min(1e-300)
            # A floor: with no noise at all the ridge would vanish, and rounding errors would rule the solves.
            noise = self.noise(blocks, loss, rows).clamp_min(1e-7)
            determined = self.determined.clone()
            determined[-1] -= blocks.f.shape[1]  # the offsets, which have no prior
            estimate = noise * determined.clamp_min(1e-3) / (rows.sum(-1) * norms)
            self.alpha = ((1 + self.strength * noise) * estimate).clamp(1e-10, 1e2)


def squared_norms(blocks: Blocks) -> Tensor:
    """Squared norm of each block, the offset left out: layers, gates, readout. Shape (2 L + 1, B)."""
    return torch.stack([t.square().sum((1, 2)) for t in (*blocks.W, *blocks.V, blocks.R[..., :-1])])


def mean_loss(blocks: Blocks, loss: Loss, rows: Tensor) -> Tensor:
    """Weighted mean loss of every ladder. Shape (B,)."""
    return (loss.value(blocks.f) * rows).sum(-1) / rows.sum(-1)


def cholesky(gram: Tensor, penalty: Tensor) -> Tensor:
    """Cholesky factor of gram + diag(penalty); where that is not positive definite to rounding, a jitter is added.

    "To rounding": some pivot is at most p times the machine epsilon of its diagonal entry. The jitter starts at 1e-12
    of each diagonal entry (of their mean, where one is zero) and grows tenfold until the factorization succeeds; the
    models that did not need it do not get it.

    Args:
        gram: Shape (B, p, p).
        penalty: Shape (B, p).
    """
    matrix = gram.clone()
    matrix.diagonal(dim1=-2, dim2=-1).add_(penalty)
    diagonal = matrix.diagonal(dim1=-2, dim2=-1)
    least = gram.shape[-1] * torch.finfo(gram.dtype).eps

    def factorize(matrix: Tensor, diagonal: Tensor) -> tuple[Tensor, Tensor]:
        factor, failed = torch.linalg.cholesky_ex(matrix)
        pivots = factor.diagonal(dim1=-2, dim2=-1).square()
        return factor, (failed > 0) | (pivots <= least * diagonal).any(-1)

    factor, failed = factorize(matrix, diagonal)
    jitter = 1e-12
    while failed.any():
        if jitter > 1:
            raise ValueError(
                "The rows must be finite and of moderate size; a block's Gram matrix cannot be factorized."
            )
        bad = failed.nonzero().squeeze(-1)
        mean = diagonal[bad].mean(-1, keepdim=True)
        scale = torch.where(diagonal[bad] > 0, diagonal[bad], torch.where(mean > 0, mean, 1.0))
        factor[bad], failed[bad] = factorize(matrix[bad] + torch.diag_embed(jitter * scale), diagonal[bad])
        jitter *= 10
    return factor


def keep_best(best: Blocks, blocks: Blocks, active: Tensor, better: Tensor) -> None:
    """Copy the weights of the active models that got better."""
    to = active[better]
    for kept, new in zip((*best.W, *best.V, best.R), (*blocks.W, *blocks.V, blocks.R), strict=True):
        kept[to] = new[better]


def checked_rows(start: LadderPolynomial, x: Tensor) -> Tensor:
    """The rows in the start's dtype and on its device, if block solves can read them."""
    x = start.check_rows(x)
    if x.dim() != 2 or not len(x):
        raise ValueError(f"x must have shape (n, {start.in_features}), n > 0; got shape {tuple(x.shape)}.")
    if not bool(x.isfinite().all()):
        raise ValueError("x must be finite; got NaN or infinity. Drop or impute those rows first.")
    return x


def checked_targets(loss: str, y: Tensor, n: int, m: int) -> Tensor:
    """The targets of n rows for m outputs as (n, m), if the loss can read them."""
    if loss == "logistic" and m != 1:
        raise ValueError(f"The ladder must have 1 output for the loss 'logistic'; got {m}. Use 'softmax'.")
    column = y.unsqueeze(-1) if y.dim() == 1 and m == 1 else y
    if tuple(column.shape) != (n, m):
        wanted = f"({n}, {m})" + (f" or ({n},)" if m == 1 else "")
        raise ValueError(f"y must have shape {wanted}; got shape {tuple(y.shape)}.")
    if not bool(column.isfinite().all()):
        raise ValueError("y must be finite; got NaN or infinity. Drop or impute those rows first.")
    if loss == "logistic" and not bool((column.abs() == 1).all()):
        raise ValueError(f"y must hold only -1 and 1 for the loss 'logistic'; got {y.min():g} to {y.max():g}.")
    if loss == "softmax" and not bool(((column >= 0).all(1) & ((column.sum(1) - 1).abs() < 1e-6)).all()):
        raise ValueError("y must hold one-hot classes, or probabilities that sum to 1, for the loss 'softmax'.")
    return column


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
    if not bool(((flat >= 0) & flat.isfinite()).all()) or bool((flat.sum(-1) == 0).any()):
        raise ValueError(f"{name} must be finite and non-negative and must leave every model some rows.")
    return flat
