"""Ladders whose directions are fitted too, one or more for each fold of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.cost import Shape
from polyladder.estimators.parameters import seeds_from
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.elsewhere import in_shares
from polyladder.estimators.selection.options import Options
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import Reader
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import reading
from polyladder.training.kernels.relevance import Array
from polyladder.training.losses.loss import Loss
from polyladder.training.solves.alternating import fit_alternating, random_start
from polyladder.training.solves.stages import RELAXATION

LEAST_RELEVANCE = 0.3
"""Least relevance of an input, as a share of that of the most relevant one."""

PLENTY = 2000
"""With more rows than this, inputs are not scaled by relevance: ladders find out for themselves which ones matter."""

LAST_SWEEPS = 2
"""Sweeps on all rows, after those on folds."""

NEAR_SWEEPS, NEAR = 4, 0.02
"""Sweeps on all rows where less than the second number, as a share of the variance, is left unexplained: there, what is
wrong is mostly unfinished solving."""


def operations(rows: int, reader: Reader, order: int, count: int, outputs: int, options: Options) -> float:
    """About how many operations a fit of ``count`` ladders takes."""
    shape = Shape(rows, reader.x.shape[1], options.width or reader.size.width, order, outputs)
    return count * options.sweeps * shape.sweep_operations()


def fold_ladders(
    problem: Problem, reader: Reader, order: int, options: Options, folds: Sequence[int] | None = None
) -> LadderTrial:
    """Ladders of one order on each fold; their mean is kept.

    Args:
        problem: of numbers.
        reader: what they read.
        order: of the ladders.
        options: of the choice.
        folds: that are left out in turn; None for all. Rows of others are predicted as NaN.
    """
    folds = range(problem.folds) if folds is None else folds
    relative = relative_scales(problem, reader.scale)
    rows = torch.from_numpy(reader.x[problem.chosen]) * relative
    y, goal = torch.from_numpy(problem.y[problem.chosen]), torch.from_numpy(problem.goal)
    hidden = (options.width or reader.size.width,) * (order - 1)
    own = [k * options.per_fold + i for k in folds for i in range(options.per_fold)]
    # One for each ladder, whichever folds are left out.
    seeds = seeds_from(options.seed, problem.folds * options.per_fold)
    start = random_start(rows.shape[1], hidden, y.shape[1], [seeds[i] for i in own], len(own))
    fold = torch.from_numpy(problem.fold)
    inside = [(fold != k).nonzero().squeeze(-1) for k in folds for _ in range(options.per_fold)]
    weight = torch.from_numpy(problem.weight[problem.chosen])
    solve = partial(solved, problem.loss, rows, goal, weight, (options.alpha, options.sweeps, options.tolerance))
    found = in_shares(solve, start, len(rows), inside)
    left_out, scatter = np.full(tuple(y.shape), np.nan), []
    for i, k in enumerate(folds):
        outside = fold == k
        outputs = found[i * options.per_fold : (i + 1) * options.per_fold](rows[outside]).clamp(y.amin(0), y.amax(0))
        left_out[outside.numpy()] = outputs.mean(0).numpy()
        scatter.append(float(outputs.var(0).mean()) if options.per_fold > 1 else 0.0)
    excess = float(np.mean(scatter)) * (1 / options.per_fold - 1 / (problem.folds * options.per_fold))
    return LadderTrial(reader.features, order, left_out, reader.columns, rescaled(found, relative), excess)


def finished_ladders(problem: Problem, reader: Reader, trial: LadderTrial, options: Options) -> LadderTrial:
    """The trial with its ladders solved on from where they are, on all rows and no fold left out."""
    unexplained = float(pulls(problem, trial.left_out).var() / pulls(problem, np.zeros_like(trial.left_out)).var())
    ladder = solved_further(problem, reader, trial.ladder, unexplained, options)
    return replace(trial, ladder=ladder, unexplained=unexplained)


def solved_further(
    problem: Problem, reader: Reader, ladder: LadderPolynomial, unexplained: float, options: Options
) -> LadderPolynomial:
    """Ladders solved on from where they are, on all rows; more sweeps where little of the variance is unexplained."""
    relative = relative_scales(problem, reader.scale)
    rows = torch.from_numpy(reader.x) * relative
    y, weight = torch.from_numpy(problem.target), torch.from_numpy(problem.weight)
    sweeps = NEAR_SWEEPS if unexplained < NEAR else LAST_SWEEPS
    solve = partial(solved, problem.loss, rows, y, weight, (options.alpha, sweeps, options.tolerance))
    found = in_shares(solve, rescaled(ladder, 1 / relative), len(rows))
    return rescaled(found, relative)


def solved(
    loss: Loss,
    x: Tensor,
    y: Tensor,
    weight: Tensor,
    settings: tuple[Any, int, float],
    start: LadderPolynomial,
    inside: Sequence[Tensor] | None = None,
) -> LadderPolynomial:
    """Ladders on the rows of the given numbers; ``settings`` are alpha, sweeps and tolerance."""
    alpha, sweeps, tolerance = settings
    return fit_alternating(
        start,
        x,
        y,
        loss=loss,
        rows=inside,
        sample_weight=weight,
        sweeps=sweeps,
        tolerance=tolerance,
        alpha=alpha,
        relaxation=RELAXATION,
    ).polynomial


def pulls(problem: Problem, outputs: Array) -> Array:
    """How strongly the compared rows pull at outputs (chosen, m): of squares, twice what these miss."""
    return np.asarray(problem.loss.slopes(torch.from_numpy(outputs), torch.from_numpy(problem.goal)).numpy())


def relative_scales(problem: Problem, scale: Array) -> torch.Tensor:
    """What inputs are multiplied by. Shape (d,)."""
    if len(problem.chosen) > PLENTY:
        return torch.ones(len(scale), dtype=torch.float64)
    return torch.from_numpy(np.maximum(scale / scale.max(), LEAST_RELEVANCE))


def rescaled(ladder: LadderPolynomial, scale: torch.Tensor) -> LadderPolynomial:
    """A ladder of scaled inputs as one of the inputs themselves."""
    return reading(ladder, lambda weight, intercept: (weight * scale, intercept))
