"""Exact steps down a regularized loss, for many models at once, until each of them has stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import torch
from torch import Tensor

from polyladder.models.batched import positive_integer
from polyladder.training.history import History, Progress, TrainingLog
from polyladder.training.solves.quadratic_bound import QuadraticBound
from polyladder.training.solves.ridge import WARM_UP, Alpha, Ridge, first_ridge


@dataclass(frozen=True, eq=False)
class SolveHistory(History):
    """How a fit by exact solves went.

    Args:
        alpha: the ridge weight of each group of weights, as given or last estimated. Shape (groups, *batch_shape).
        noise: noise variance of one output: estimated with ``alpha="auto"``, else the mean squared residual; 1/2, what
            a log-likelihood amounts to, for classes. Shape batch_shape.
    """

    alpha: Tensor
    noise: Tensor


@dataclass(frozen=True)
class Objective:
    """Mean loss plus ridge of many models at fixed rows.

    Attributes:
        bound: the loss, with its quadratic upper bound.
        weight: of every row. Shape (B, n) or (1, n).
        ridge: the ridge weights.
    """

    bound: QuadraticBound
    weight: Tensor
    ridge: Ridge

    @property
    def rows(self) -> Tensor:
        """The sum of the weights. Shape (B,) or (1,)."""
        return self.weight.sum(-1)

    def select(self, keep: Tensor) -> Objective:
        """The objective of some of the models."""
        weight = self.weight if len(self.weight) == 1 else self.weight[keep]
        return Objective(self.bound, weight, self.ridge.select(keep))

    def value(self, f: Tensor, norms: Tensor) -> Tensor:
        """Of every model, from its outputs (B, m, n) and the squared norms of its groups (groups, B). Shape (B,)."""
        return mean_loss(self.bound, self.weight, f) + (self.ridge.alpha * norms).sum(0)

    def noise(self, f: Tensor, determined: Tensor) -> Tensor:
        """Noise variance of an output, corrected for the number of weights that the data determined. Shapes (B,)."""
        if self.bound.noise is not None:
            return torch.full_like(determined, self.bound.noise)
        n = self.rows * f.shape[1]
        # With as many determined weights as rows the correction would divide by zero, so they count as half the rows at
        # most.
        free = n - determined.minimum(0.8 * n)
        mean = (self.bound.scatter(f) * self.weight).sum(-1) / self.rows
        return mean / f.shape[1] * n / free


def mean_loss(bound: QuadraticBound, weight: Tensor, f: Tensor) -> Tensor:
    """Weighted mean loss of every model, from its outputs (B, m, n). Shape (B,)."""
    return (bound.value(f) * weight).sum(-1) / weight.sum(-1)


class Descending(Protocol):
    """Models of one family at fixed rows, during a fit."""

    @property
    def f(self) -> Tensor:
        """Outputs. Shape (B, m, n)."""

    def step(self, objective: Objective, estimating: bool) -> tuple[Tensor, Tensor]:
        """Lower the objective once.

        Returns:
            If estimating, how many penalized weights of each group the data determine (groups, B), and how many of all
            weights (B,); zero otherwise.
        """

    def norms(self) -> Tensor:
        """Squared norm of each group of weights, those without a ridge left out. Shape (groups, B)."""

    def weights(self) -> list[Tensor]:
        """What is to be found, models first. Shapes (B, ...)."""

    def restless(self) -> Tensor:
        """Models that must not stop yet, even if their last step gained nothing. Shape (B,), bool."""

    def select(self, keep: Tensor) -> Self:
        """Some of the models."""


@dataclass(frozen=True)
class DescentOptions:
    """When to stop, and the ridge; `polyladder.fit_alternating` explains them.

    With ``alpha="auto"`` the ridge weights are re-estimated in every ``renewal``-th step. If an
    earlier fit has estimated them already, they start from ``known``, shape (groups, B), without ``warm_up`` steps.
    """

    alpha: Alpha
    noise_inflation: float | Tensor
    steps: int
    tolerance: float
    patience: int = 1
    progress: Progress | None = None
    renewal: int = 1
    known: Tensor | None = None
    warm_up: int = WARM_UP


def descend(
    models: Descending,
    bound: QuadraticBound,
    weight: Tensor,
    options: DescentOptions,
    batch_shape: Sequence[int],
    held_out: Tensor | None = None,
) -> tuple[list[Tensor], dict[str, Any]]:
    """Take steps until every model has stopped.

    Args:
        models: where to start. They are changed in place or replaced.
        bound: the loss.
        weight: of the training rows. Shape (B, n) or (1, n).
        options: see `DescentOptions`.
        batch_shape: of the models.
        held_out: weights of the validation rows, shaped as ``weight``, or None.

    Returns:
        The weights found (the best by validation, else the last), shapes (B, ...), and the fields of a `SolveHistory`.
    """
    auto, norms = isinstance(options.alpha, str), models.norms()
    groups, count = norms.shape
    positive_integer("patience", options.patience)
    ridge = first_ridge(options.alpha, options.noise_inflation, groups, weight.sum(-1), batch_shape)
    if options.known is not None:
        ridge = replace(ridge, alpha=options.known)
    warm_up = options.warm_up if auto and options.known is None else 0
    objective = Objective(bound, weight, ridge)
    log, active = TrainingLog(count, held_out is not None), torch.arange(count)
    found = [t.clone() for t in models.weights()]
    alpha, noise = ridge.alpha.clone(), norms.new_zeros(count)
    # The gain is that of all steps between two estimates of the ridge weights: an estimate itself changes the
    # objective.
    span = options.renewal if auto else 1
    past = [objective.value(models.f, norms)]
    for step in range(1, options.steps + 1):
        estimating = auto and step > warm_up and (step - warm_up - 1) % options.renewal == 0
        by_group, determined = models.step(objective, estimating)
        variance, norms = objective.noise(models.f, determined), models.norms()
        if estimating:
            ridge = objective.ridge.estimated(norms, by_group, variance, objective.rows)
            objective = replace(objective, ridge=ridge)
        value = objective.value(models.f, norms)
        alpha[:, active], noise[active] = objective.ridge.alpha, variance
        log.advance(active, value.cpu(), value.isfinite().cpu())
        improved = log.running[active]
        if held_out is not None:
            error = mean_loss(bound, held_out if len(held_out) == 1 else held_out[active], models.f)
            improved = log.validate(active, error.cpu(), options.patience)
        elif step >= span + (warm_up + 1 if auto else 0):
            gained = (past[0] - value).abs() > span * options.tolerance * value.abs()
            log.stop(active[~(gained | models.restless()).cpu()])
        better = active[improved]
        for kept, new in zip(found, models.weights(), strict=True):
            if len(better) == count:  # the usual case: copies by position would take far longer
                kept.copy_(new)
            else:
                kept[better] = new[improved]
        if options.progress is not None:
            options.progress(step, *log.latest(batch_shape))
        past, going = [*past, value][-span:], log.running[active]
        if not bool(going.any()):
            break
        if not bool(going.all()):
            active, past = active[going], [v[going] for v in past]
            models, objective = models.select(going), objective.select(going)
    shape = tuple(batch_shape)
    fields = {"alpha": alpha.reshape(-1, *shape), "noise": noise.reshape(shape)}
    return found, log.record(shape) | fields
