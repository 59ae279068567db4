"""Weights of the candidates by rows that they did not see, and whether anything beats a constant or a line at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np
import torch

from polyladder.estimators.rows import MANY_ROWS
from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.constant import Constant
from polyladder.estimators.selection.candidates.kernel import Kernel
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.candidates.linear import Linear
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.cross_fit import by_block, cross_fitted, doubtful
from polyladder.estimators.selection.options import Effort
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.stack import LEAST, LEAST_OF_MANY, stack_bounded, stack_scores
from polyladder.training.kernels.relevance import Array

PRICE = 0.5
"""Log loss that each fitted scale of a kernel is expected to hide, times the number of rows (Akaike's is 1)."""

LIGHT = 0.2
"""Ladders of a smaller weight are left out: to solve them on all rows takes more time than they are worth."""

ALONE = 0.75
"""Ladders of a larger weight are kept alone: solved on all rows, they gain more than the other candidates add."""

SURE = 1.5
"""Standard errors of the difference by which a sum must beat a constant and a line."""

NEGLIGIBLE = 1e-12
"""Smallest gain that counts: where a line is exact, a sum may beat it by rounding alone."""

CLEAR = 0.5
"""A sum whose loss is below this share of a constant's loss beats the constant, whatever the standard errors are: with
few rows these say little, and a clear line must not be taken for chance."""

FEW = 5.0
"""Where numbers are predicted from few rows, a line is beaten by as many more standard errors as this number divided by
the rows, relatively."""

CAUTION = 30
"""Where classes are predicted, the standard errors are multiplied by one plus this number divided by the rows: few rows
of noise can look certain, and log loss has no bound."""


def judged(
    problem: Problem, trials: list[Trial], alike: Block, effort: Effort, rng: np.random.Generator
) -> tuple[Problem, list[Trial], Array]:
    """Candidates and their weights, and the rows that these were found on: all that every candidate predicts.

    Kernels that count but may be flattered are judged anew; others of theirs fall out. Ladders that do not count fall
    out too, and if they predicted only some rows the others are judged on all.

    Args:
        problem: what is predicted.
        trials: candidates, constants and lines first.
        alike: a block whose scales were not fitted.
        effort: how much work a kernel may be.
        rng: picks rows.
    """

    def fitted(trial: Trial) -> TypeGuard[Kernel]:
        return isinstance(trial, Kernel) and trial.block is not alike

    def price(trials: Sequence[Trial]) -> Array:
        return np.array(
            [PRICE * len(t.block.scales.scales) / len(problem.chosen) if fitted(t) else 0.0 for t in trials]
        )

    def weighed(trials: Sequence[Trial], price: Array) -> Array:
        return stack(*narrowed(problem, trials), price)

    def suspect(trial: Trial) -> TypeGuard[Kernel]:
        return fitted(trial) and doubtful(problem, trial.block)

    weights, costs = weighed(trials, price(trials)), price(trials)
    if any(map(suspect, trials)):
        counting = [t for t, w in zip(trials, weights, strict=True) if suspect(t) and w > 0]
        renewed = [new for group in by_block(counting) for new in cross_fitted(problem, group, effort, rng)]
        trials = [*(t for t in trials if not suspect(t)), *renewed]
        costs = np.zeros(len(trials))
        weights = weighed(trials, costs)
    light = [t for t, w in zip(trials, weights, strict=True) if isinstance(t, LadderTrial) and w < LIGHT]
    if light:
        heavy = [i for i, t in enumerate(trials) if t not in light]
        trials, costs = [trials[i] for i in heavy], costs[heavy]
        weights = weighed(trials, costs)
    main = [isinstance(t, LadderTrial) and w > ALONE for t, w in zip(trials, weights, strict=True)]
    if any(main):
        weights = np.where(main, 1.0, 0.0)
    some, own = narrowed(problem, trials)
    sums = [weights]
    if any(isinstance(t, LadderTrial) and w > 0 for t, w in zip(own, weights, strict=True)):
        # A ladder's weight counts on what its scatter hides. Where that hope does not hold, the others still may.
        steady = [i for i, t in enumerate(own) if not isinstance(t, LadderTrial)]
        others = np.zeros_like(weights)
        others[steady] = stack(some, [own[i] for i in steady], costs[steady])
        sums.append(others)
    weights = simplest(some, own, sums)
    # Those that fell out stay on record.
    rows = np.isin(problem.chosen, some.chosen)
    out = [replace(trial, left_out=trial.left_out[rows]) for trial in light]
    return some, own + out, np.r_[weights, np.zeros(len(out))]


def narrowed(problem: Problem, trials: Sequence[Trial]) -> tuple[Problem, list[Trial]]:
    """The problem and its candidates on those compared rows that all candidates predict."""
    known = ~np.isnan(sum(trial.left_out[:, 0] for trial in trials))
    if known.all():
        return problem, list(trials)
    some = replace(problem, chosen=problem.chosen[known], fold=problem.fold[known])
    return some, [replace(trial, left_out=trial.left_out[known]) for trial in trials]


def stack(problem: Problem, trials: Sequence[Trial], price: Array) -> Array:
    """Weights of the sum that predicts left-out rows best. Shape (trials,)."""
    if problem.loss.by_rows:
        least = LEAST_OF_MANY if len(problem.y) >= MANY_ROWS else LEAST
        predicted = [guarded(t.left_out, problem) for t in trials]
        excess = np.array([t.excess for t in trials])
        return stack_bounded(problem.loss, predicted, problem.goal, chosen_weight(problem), least, excess)
    return stack_scores(problem.loss, [t.left_out for t in trials], problem.goal, chosen_weight(problem), price)


def simplest(problem: Problem, trials: Sequence[Trial], sums: Sequence[Array]) -> Array:
    """The first of some sums, each given by its weights, that beats a constant and lines alone, by more than chance.

    Where none does, the weights of lines alone, or of a constant.
    """
    plain = [i for i, t in enumerate(trials) if isinstance(t, Constant | Linear)]
    none, line = np.zeros(len(trials)), np.zeros(len(trials))
    none[[i for i in plain if isinstance(trials[i], Constant)]] = 1.0
    line[plain] = stack(problem, [trials[i] for i in plain], np.zeros(len(plain)))
    share = chosen_weight(problem) / chosen_weight(problem).sum()
    mean, straight = (row_losses(problem, trials, each) for each in (none, line))

    def beats_mean(loss: Array, sure: float) -> bool:
        return better(loss, mean, share, sure) or bool(share @ loss < CLEAR * (share @ mean))

    sure = SURE * (1 + (FEW if problem.loss.by_rows else CAUTION) / len(share))
    for weights in sums:
        losses = row_losses(problem, trials, weights)
        if beats_mean(losses, sure) and better(losses, straight, share, sure):
            return weights
    return line if beats_mean(straight, SURE) else none


def row_losses(problem: Problem, trials: Sequence[Trial], weights: Array) -> Array:
    """Loss of a weighted sum at each compared row. Shape (chosen,)."""
    total = np.tensordot(weights, np.stack([guarded(t.left_out, problem) for t in trials]), 1)
    return np.asarray(problem.loss.rows(torch.from_numpy(total), torch.from_numpy(problem.goal)).numpy())


def deviance(problem: Problem, outputs: Array) -> float:
    """Mean loss of the compared rows at outputs (chosen, m)."""
    weight = torch.from_numpy(chosen_weight(problem))
    return problem.loss.deviance(torch.from_numpy(outputs), torch.from_numpy(problem.goal), weight)


def better(loss: Array, simple: Array, weight: Array, sure: float = SURE) -> bool:
    """Whether losses of rows (n,) are lower than those of a simpler model by more than so many standard errors."""
    gain, share = simple - loss, weight / weight.sum()
    mean = share @ gain
    return bool(mean > max(NEGLIGIBLE, sure * np.sqrt((share**2) @ (gain - mean) ** 2)))


def chosen_weight(problem: Problem) -> Array:
    """Weights of the compared rows."""
    return problem.weight[problem.chosen]


def guarded(left_out: Array, problem: Problem) -> Array:
    """Numbers held to the range of the targets, widened by a half: one wild row must not decide about a model."""
    if problem.loss.answer == "classes":
        return left_out
    low, high = problem.y.min(0), problem.y.max(0)
    return np.clip(left_out, low - 0.5 * (high - low), high + 0.5 * (high - low))
