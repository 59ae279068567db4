"""Weights of the candidates by rows that they did not see, and whether anything beats a constant or a line at all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyladder.estimators.selection.cross_fit import by_block, cross_fitted, doubtful
from polyladder.estimators.selection.effort import Effort
from polyladder.estimators.selection.stack import row_log_losses, stack_classes, stack_numbers
from polyladder.estimators.selection.trials import Block, Problem, Trial
from polyladder.training.kernels.relevance import Array

PRICE = 0.5
"""Log loss that each fitted scale of a kernel is expected to hide, times the number of rows (Akaike's is 1)."""

LIGHT = 0.2
"""Ladders of a smaller weight are left out: solving them on all rows costs more than they gain."""

ALONE = 0.75
"""Ladders of a larger weight stand alone: on all rows, and more of them, they gain more than the others do."""

SURE = 1.5
"""A sum must beat a constant and a line by this many standard errors of the difference."""


def judged(
    problem: Problem, trials: list[Trial], alike: Block, effort: Effort, rng: np.random.Generator
) -> tuple[list[Trial], Array]:
    """Candidates and their weights. Kernels that count but may be flattered are judged anew; others of theirs fall out.

    Args:
        problem: what is predicted.
        trials: candidates, constants and lines first.
        alike: a block whose scales were not fitted.
        effort: how much work a kernel may be.
        rng: picks rows.
    """
    fitted = [t.block is not None and t.block is not alike for t in trials]
    price = np.array(
        [PRICE * scales_of(t) / len(problem.chosen) if own else 0.0 for t, own in zip(trials, fitted, strict=True)]
    )
    weights = stack(problem, trials, price)
    suspect = [
        own and t.block is not None and doubtful(problem, t.block) for t, own in zip(trials, fitted, strict=True)
    ]
    if any(suspect):
        counting = [t for t, w, own in zip(trials, weights, suspect, strict=True) if own and w > 0]
        renewed = [new for group in by_block(counting) for new in cross_fitted(problem, group, effort, rng)]
        trials = [t for t, own in zip(trials, suspect, strict=True) if not own] + renewed
        price = np.zeros(len(trials))
        weights = stack(problem, trials, price)
    light = np.array([t.model == "ladder" and w < LIGHT for t, w in zip(trials, weights, strict=True)])
    if light.any():
        weights[light] = 0.0
        weights[~light] = stack(
            problem, [t for t, little in zip(trials, light, strict=True) if not little], price[~light]
        )
    main = [t.model == "ladder" and w > ALONE for t, w in zip(trials, weights, strict=True)]
    if any(main):
        weights = np.where(main, 1.0, 0.0)
    return trials, simplest(problem, trials, weights)


def stack(problem: Problem, trials: Sequence[Trial], price: Array) -> Array:
    """Weights of the sum that predicts left-out rows best. Shape (trials,)."""
    if problem.classes is None:
        return stack_numbers([guarded(t.left_out, problem) for t in trials], problem.goal, chosen_weight(problem))
    return stack_classes([t.left_out for t in trials], problem.goal, chosen_weight(problem), price)


def simplest(problem: Problem, trials: Sequence[Trial], weights: Array) -> Array:
    """The weights, unless a constant or lines alone predict left-out rows as well up to chance."""
    plain = [i for i, t in enumerate(trials) if t.model in ("constant", "linear")]
    none, line = np.zeros_like(weights), np.zeros_like(weights)
    none[[i for i in plain if trials[i].model == "constant"]] = 1.0
    line[plain] = stack(problem, [trials[i] for i in plain], np.zeros(len(plain)))
    losses = row_losses(problem, trials, weights)
    for simple in (none, line):
        if not better(losses, row_losses(problem, trials, simple), chosen_weight(problem)):
            return simple
    return weights


def row_losses(problem: Problem, trials: Sequence[Trial], weights: Array) -> Array:
    """Loss of a weighted sum at each compared row. Shape (chosen,)."""
    if problem.classes is not None:
        return row_log_losses(np.tensordot(weights, np.stack([t.left_out for t in trials]), 1), problem.goal)
    total = np.tensordot(weights, np.stack([guarded(t.left_out, problem) for t in trials]), 1)
    return np.asarray(((total - problem.goal) ** 2).mean(1))


def better(loss: Array, simple: Array, weight: Array) -> bool:
    """Whether losses of rows (n,) are lower than those of a simpler model by more than chance."""
    gain, share = simple - loss, weight / weight.sum()
    mean = share @ gain
    return bool(mean > SURE * np.sqrt((share**2) @ (gain - mean) ** 2))


def chosen_weight(problem: Problem) -> Array:
    """Weights of the compared rows."""
    return problem.weight[problem.chosen]


def guarded(left_out: Array, problem: Problem) -> Array:
    """Predictions held to the range of the targets, widened by a half: one wild row must not decide about a model."""
    low, high = problem.y.min(0), problem.y.max(0)
    return np.clip(left_out, low - 0.5 * (high - low), high + 0.5 * (high - low))


def scales_of(trial: Trial) -> int:
    """How many scales of a kernel were fitted to all rows, those left out included."""
    return 0 if trial.block is None else len(trial.block.scales.scales)
