"""Factorization machines and polynomial-kernel networks fitted without a learning rate.

Both are polynomials in their weights, so a Gauss-Newton step over all of them has an exactly best length
(`polyladder.training.gauss_newton`). A machine is besides linear in the weights of one input: where a machine is too
large for joint steps, its inputs are solved one after another (`polyladder.training.machine_columns`). Either way the
regularized loss never rises.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from polyladder.models.batched import positive_integer
from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.alternating import START, WARM_UP, as_loss, checked_targets, flat_number, flat_weights
from polyladder.training.gauss_newton import Quadratic, Step, Structure, gauss_newton_step
from polyladder.training.kernel_units import KernelStructure, kernel_weights, set_kernel_weights
from polyladder.training.machine_columns import MachineStructure, column_sweep
from polyladder.training.majorize import Loss

JOINT_LIMIT = 1500
"""Machines with more weights an output than this are solved input by input."""

LossName = Literal["squared", "logistic", "softmax"]
Alpha = float | Tensor | Literal["auto"]
Progress = Callable[[int, Tensor], None]


@dataclass(frozen=True)
class RelativeFit:
    """How a fit went; the weights are in the module.

    Attributes:
        objective: regularized loss after every step, first entry at the start; NaN after a model stopped.
            Shape (steps + 1, *batch_shape).
        alpha: ridge weights as last used: of a machine's linear part, pairs and triples, or of a kernel network's
            weights and units. Shape (groups, *batch_shape).
        noise: estimated noise variance (mean squared residual where ``alpha`` is given). Shape batch_shape.
        steps: how many steps each model took. Shape batch_shape.
        seconds: what it cost.
    """

    objective: Tensor
    alpha: Tensor
    noise: Tensor
    steps: Tensor
    seconds: float


@torch.no_grad()
def fit_machine(
    net: FactorizationMachine,
    x: Tensor,
    y: Tensor,
    *,
    loss: LossName = "squared",
    alpha: Alpha = "auto",
    strength: float | Tensor = 3.0,
    weight: Tensor | None = None,
    steps: int = 100,
    tolerance: float = 1e-4,
    joint: bool | None = None,
    progress: Progress | None = None,
) -> RelativeFit:
    r"""Minimize mean loss plus ridge over factorization machines, in place and from where they are.

    .. math:: \sum_n w_n \ell(f(x_n), y_n) / \sum_n w_n + \alpha_1 |w|^2 + \alpha_2 |s|^2 + \alpha_3 |t|^2

    Args:
        net: any ``batch_shape``. All is computed in float64.
        x: rows shared by all models. Shape (n, d).
        y: targets (n, m), or (n,) for one output, for "squared"; signs +-1 (n,) for "logistic"; one-hot classes, or
            probabilities, (n, m) for "softmax".
        loss: the squared error is minimized itself, the others through a quadratic upper bound.
        alpha: ridge weight, one or one a model; "auto" re-estimates the noise and one ridge weight a group between
            steps by empirical Bayes, and then only approximately lowers one objective.
        strength: as in `polyladder.fit_alternating`.
        weight: of every row, shared (n,) or for each model (*batch_shape, n).
        steps: at most so many.
        tolerance: a model stops when a step lowers its objective by less than this, relatively.
        joint: Gauss-Newton steps over all weights of an output (True), or exact solves of one input's weights after
            another (False). None decides by size: joint up to `JOINT_LIMIT` weights.
        progress: called after each step with its number and the objectives.
    """
    x = checked_inputs(net, x)
    structure = MachineStructure(net, x.mT.contiguous())
    parameters = [t for t in (net.offset, net.linear, net.factors, net.factors3) if t is not None]
    depth = len(net.batch_shape)
    count = math.prod(net.batch_shape)
    theta = torch.cat([t.detach().double().reshape(count, net.out_features, -1) for t in parameters], -1)
    together = theta.shape[-1] <= JOINT_LIMIT if joint is None else joint

    def move(theta: Tensor, f: Tensor, quadratic: Quadratic, damping: Tensor, estimating: bool) -> Step:
        if together:
            return gauss_newton_step(structure, theta, f, quadratic, damping, estimating)
        return column_sweep(structure, theta, f, quadratic, estimating)

    options = Options(loss, alpha, strength, weight, steps, tolerance, progress)
    theta, fit = descend(
        structure, move, theta, x, checked_targets(loss, y.to(x), len(x), net.out_features), net.batch_shape, options
    )
    for parameter, part in zip(parameters, torch.split(theta, structure.sizes, -1), strict=True):
        parameter.copy_(part.reshape(*net.batch_shape, *parameter.shape[depth:]))
    return fit


@torch.no_grad()
def fit_kernel(
    net: PolynomialKernel,
    x: Tensor,
    y: Tensor,
    *,
    loss: LossName = "squared",
    alpha: Alpha = "auto",
    strength: float | Tensor = 1.0,
    weight: Tensor | None = None,
    steps: int = 100,
    tolerance: float = 1e-4,
    progress: Progress | None = None,
) -> RelativeFit:
    r"""Minimize mean loss plus ridge over polynomial-kernel networks, in place and from where they are.

    .. math:: \sum_n w_n \ell(f(x_n), y_n) / \sum_n w_n + \alpha \sum_k (|\pi_k|^2 + c_k^2 + |p_k|^2)

    The units are those of `KernelStructure`, with intercepts of their own, and balanced. Lambda keeps its value, also
    where it is a parameter: the scale of a unit takes its part.

    Args:
        net: any ``batch_shape``. All is computed in float64.
        x: rows shared by all models. Shape (n, d).
        y: targets (n, m), or (n,) for one output, for "squared"; signs +-1 (n,) for "logistic"; one-hot classes, or
            probabilities, (n, m) for "softmax".
        loss: the squared error is minimized itself, the others through a quadratic upper bound.
        alpha: ridge weight, one or one a model; "auto" re-estimates the noise, one ridge weight for pi and one for the
            units between steps by empirical Bayes, and then only approximately lowers one objective.
        strength: as in `polyladder.fit_alternating`.
        weight: of every row, shared (n,) or for each model (*batch_shape, n).
        steps: at most so many.
        tolerance: a model stops when a step lowers its objective by less than this, relatively.
        progress: called after each step with its number and the objectives.
    """
    shifted = net.intercept.reshape(-1) != 0
    if bool(shifted.any()) and not bool(shifted.all()):
        raise ValueError("net must have lambda = 0 in all of its models or in none; got both. Fit them apart.")
    x = checked_inputs(net, x)
    structure = KernelStructure(net, x.mT.contiguous())

    def move(theta: Tensor, f: Tensor, quadratic: Quadratic, damping: Tensor, estimating: bool) -> Step:
        return gauss_newton_step(structure, theta, f, quadratic, damping, estimating)

    options = Options(loss, alpha, strength, weight, steps, tolerance, progress)
    start = structure.balanced(kernel_weights(net))
    theta, fit = descend(
        structure, move, start, x, checked_targets(loss, y.to(x), len(x), net.out_features), net.batch_shape, options
    )
    set_kernel_weights(net, structure, theta)
    return fit


@dataclass(frozen=True)
class Options:
    """The arguments that `fit_machine` and `fit_kernel` share, as they explain them."""

    loss: LossName
    alpha: Alpha
    strength: float | Tensor
    weight: Tensor | None
    steps: int
    tolerance: float
    progress: Progress | None


def checked_inputs(net: FactorizationMachine | PolynomialKernel, x: Tensor) -> Tensor:
    """The rows in float64 and on the model's device, if they fit the model."""
    if not isinstance(x, Tensor) or x.dim() != 2 or x.shape[1] != net.in_features or not len(x):
        got = f"shape {tuple(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(f"x must be a tensor of shape (n, {net.in_features}), n > 0; got {got}.")
    if is_sparse(x):
        raise ValueError("x must be dense for exact solves; got a sparse tensor. Train by gradient steps instead.")
    if not bool(x.isfinite().all()):
        raise ValueError("x must be finite; got NaN or infinity. Drop or impute those rows first.")
    return x.detach().to(dtype=torch.float64, device=next(net.parameters()).device)


def descend(
    structure: Structure,
    move: Callable[[Tensor, Tensor, Quadratic, Tensor, bool], Step],
    theta: Tensor,
    x: Tensor,
    y: Tensor,
    batch_shape: torch.Size,
    options: Options,
) -> tuple[Tensor, RelativeFit]:
    """Take steps until every model has stopped; returns the weight vectors (B, s, p) and the record."""
    began = time.perf_counter()
    alpha, tolerance, progress = options.alpha, options.tolerance, options.progress
    positive_integer("steps", options.steps)
    if isinstance(alpha, str) and alpha != "auto":
        raise ValueError(f"alpha must be a non-negative number, one a model, or 'auto'; got {alpha!r}.")
    auto, count = isinstance(alpha, str), len(theta)
    target, rows = as_loss(options.loss, y), flat_weights("weight", options.weight, x, batch_shape)
    given = (START / rows.sum(-1)).clamp_max(1e-3).expand(count) if isinstance(alpha, str) else alpha
    first = flat_number("alpha", given, count, x)
    ridge = GroupedRidge(structure.groups, first, flat_number("strength", options.strength, count, x))
    found, active = theta.clone(), torch.arange(count, device=theta.device)
    taken = torch.zeros(count, dtype=torch.long, device=theta.device)
    final_alpha, noise = ridge.alpha.clone(), theta.new_zeros(count)
    f, damping = structure.outputs(theta), theta.new_full(theta.shape[:2], 1e-2)
    current = ridge.objective(theta, f, target, rows)
    objectives = [current]
    for step in range(1, options.steps + 1):
        estimating = auto and step > WARM_UP
        response, curvature = target.quadratic(f.flatten(1, 2))
        quadratic = Quadratic(response.reshape(f.shape), rows * curvature, rows.sum(-1), ridge.penalty())
        moved = move(theta, f, quadratic, damping, estimating)
        theta, f, damping = structure.balanced(moved.theta), moved.f, moved.damping
        variance = ridge.noise(moved.determined, f, target, rows)
        if estimating:
            ridge.adopt(theta, moved.determined, variance, rows)
        value = ridge.objective(theta, f, target, rows)
        record = theta.new_full((count,), math.nan)
        record[active] = value
        objectives.append(record)
        found[active], taken[active] = theta, step
        final_alpha[:, active], noise[active] = ridge.alpha, variance
        if progress is not None:
            progress(step, record.reshape(batch_shape))
        # A short step may mean a poor direction, which more damping mends: only a full one without gain is the end.
        going = ((current - value).abs() > tolerance * value.abs()) | (damping > 1.0).any(-1)
        if auto and step <= WARM_UP + 1:
            going = torch.ones_like(going)
        current = value
        if not bool(going.any()):
            break
        if not bool(going.all()):
            active, current, ridge = active[going], current[going], ridge.select(going)
            theta, f, damping = theta[going], f[going], damping[going]
            rows = rows if len(rows) == 1 else rows[going]

    def shaped(t: Tensor) -> Tensor:
        return t.reshape((*t.shape[:-1], *batch_shape))

    seconds = time.perf_counter() - began
    return found, RelativeFit(
        shaped(torch.stack(objectives)), shaped(final_alpha), shaped(noise), shaped(taken), seconds
    )


class GroupedRidge:
    """Ridge weights of groups of weights, given or re-estimated as in `polyladder.training.alternating`.

    Args:
        groups: the group of every weight; -1 for one that is not penalized. Shape (p,).
        alpha: the first ridge weight of every model. Shape (B,).
        strength: see `polyladder.fit_alternating`. Shape (B,).
    """

    def __init__(self, groups: Tensor, alpha: Tensor, strength: Tensor) -> None:
        self.groups, self.strength = groups, strength
        self.alpha = alpha.repeat(int(groups.max()) + 1, 1)

    def select(self, keep: Tensor) -> GroupedRidge:
        """The ridge weights of some of the models."""
        other = GroupedRidge(self.groups, self.strength[keep], self.strength[keep])
        other.alpha = self.alpha[:, keep]
        return other

    def penalty(self) -> Tensor:
        """The ridge weight of every weight. Shape (B, 1, p)."""
        return torch.where(self.groups >= 0, self.alpha[self.groups.clamp_min(0)].mT, 0.0).unsqueeze(1)

    def by_group(self, values: Tensor) -> Tensor:
        """Sums over the weights of each group. Shape (B, s, p) to (groups, B)."""
        return torch.stack([values[..., self.groups == g].sum((1, 2)) for g in range(len(self.alpha))])

    def objective(self, theta: Tensor, f: Tensor, loss: Loss, rows: Tensor) -> Tensor:
        """Regularized loss of every model. Shape (B,)."""
        return mean_loss(f, loss, rows) + (self.penalty() * theta.square()).sum((1, 2))

    def noise(self, determined: Tensor, f: Tensor, loss: Loss, rows: Tensor) -> Tensor:
        """Noise variance per output, corrected for the weights that the data determined. Shape (B,)."""
        if loss.noise is not None:
            return torch.full_like(self.strength, loss.noise)
        outputs = f.shape[1] * f.shape[2]
        n = rows.sum(-1) * outputs
        free = n - determined.sum((1, 2)).minimum(0.8 * n)
        return mean_loss(f, loss, rows) / outputs * n / free

    def adopt(self, theta: Tensor, determined: Tensor, noise: Tensor, rows: Tensor) -> None:
        """Move to the ridge weights at which the evidence is stationary."""
        norms = self.by_group(theta.square()).clamp_min(1e-300)
        # A floor: with no noise at all the ridge would vanish, and rounding errors would rule the steps.
        noise = noise.clamp_min(1e-7)
        estimate = noise * self.by_group(determined).clamp_min(1e-3) / (rows.sum(-1) * norms)
        self.alpha = ((1 + self.strength * noise) * estimate).clamp(1e-10, 1e2)


def mean_loss(f: Tensor, loss: Loss, rows: Tensor) -> Tensor:
    """Weighted mean loss of every model. Shape (B,)."""
    return (loss.value(f.flatten(1, 2)) * rows).sum(-1) / rows.sum(-1)
