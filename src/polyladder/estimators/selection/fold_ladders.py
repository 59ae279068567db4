"""Ladders whose directions are fitted too, one or more for each fold of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.cost import work_for
from polyladder.estimators.rows import Rows
from polyladder.estimators.selection.elsewhere import ladders_in_shares
from polyladder.estimators.selection.trials import Problem, Trial
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.kernels.relevance import Array
from polyladder.training.solves.alternating import fit_alternating, random_start
from polyladder.training.solves.stages import RELAXATION, Stage, fit_in_stages

LEAST_RELEVANCE = 0.3
"""An input counts at least this much of the most relevant one."""

PLENTY = 2000
"""With more rows than this a ladder finds out itself which inputs matter."""

LAST_SWEEPS, LAST_ROWS = 2, 20_000
"""Sweeps on all rows, at the end, and how many rows those are at most ..."""

HIGHER = 2
"""How much higher the order of ladders that are most of a model is, where there are many rows. A fold has one ladder
and fewer rows, where the lower order does as well; the mean of several on all rows gains up to a quarter."""

NEAR_SWEEPS, NEAR = 4, 0.02
"""... and the sweeps where less than this part of the variance is left: the error is then that of unfinished solves."""


@dataclass(frozen=True)
class LadderSettings:
    """How ladders are solved.

    Attributes:
        width: units per layer ...
        main_width: ... and of the ladders that are most of a model.
        per_fold: ladders for each fold.
        sweeps: at most.
        tolerance: see `polyladder.fit_alternating`.
        alpha: ridge weight, or "auto".
        seeds: one for each ladder of a fit.
    """

    width: int
    main_width: int
    per_fold: int
    sweeps: int
    tolerance: float
    alpha: Any
    seeds: Callable[[int], list[int]]


def cost(rows: int, inputs: int, order: int, count: int, settings: LadderSettings) -> float:
    """Operations of a fit of ``count`` ladders, about."""
    k, d = settings.width, inputs + 1
    gram = rows * (k * (k + 1) / 2) * (d * (d + 1) / 2) * 2
    solve = (k * d) ** 3 / 3
    return count * settings.sweeps * 2 * (order - 1) * (gram + solve + 40 * rows * k)


def fold_ladders(
    problem: Problem, x: Array, features: str, scale: Array, order: int, settings: LadderSettings
) -> Trial:
    """Ladders of one order on each fold; their mean is kept.

    Args:
        problem: of numbers.
        x: inputs of all rows. Shape (n, d).
        features: how they were made, in a word.
        scale: what each input is multiplied by, so that the ridge spares the relevant ones. Shape (d,).
        order: of the ladders.
        settings: of the solves.
    """
    relative = relative_scales(problem, scale)
    rows = torch.from_numpy(x[problem.chosen]) * relative
    y = torch.from_numpy(problem.y[problem.chosen])
    count = problem.folds * settings.per_fold
    start = random_start(x.shape[1], (settings.width,) * (order - 1), y.shape[1], settings.seeds(count), count)
    fold = torch.from_numpy(problem.fold)
    inside = [(fold != i // settings.per_fold).nonzero().squeeze(-1) for i in range(count)]
    weight = torch.from_numpy(problem.weight[problem.chosen])
    solve = partial(solved, rows, y, weight, (settings.alpha, settings.sweeps, settings.tolerance))
    found = ladders_in_shares(solve, start, len(rows), inside)
    outputs = found(rows)
    outputs = outputs.reshape(problem.folds, settings.per_fold, *outputs.shape[1:]).mean(1)
    left_out = outputs[fold, torch.arange(len(fold))].numpy()
    return Trial("ladder", features, order, left_out, columns=np.arange(x.shape[1]), ladder=rescaled(found, relative))


def finished_ladders(problem: Problem, x: Array, scale: Array, trial: Trial, settings: LadderSettings) -> Trial:
    """The trial with its ladders solved on from where they are, on all rows and no fold left out."""
    assert trial.ladder is not None
    relative = relative_scales(problem, scale)
    unexplained = float((problem.goal - trial.left_out).var() / problem.goal.var())
    some = slice(None) if len(x) <= LAST_ROWS else np.random.default_rng(0).permutation(len(x))[:LAST_ROWS]
    rows = torch.from_numpy(x[some]) * relative
    y, weight = torch.from_numpy(problem.y[some]), torch.from_numpy(problem.weight[some])
    sweeps = NEAR_SWEEPS if unexplained < NEAR else LAST_SWEEPS
    solve = partial(solved, rows, y, weight, (settings.alpha, sweeps, settings.tolerance))
    found = ladders_in_shares(solve, rescaled(trial.ladder, 1 / relative), len(rows))
    return replace(trial, ladder=rescaled(found, relative))


def main_ladders(problem: Problem, x: Array, scale: Array, trial: Trial, settings: LadderSettings) -> Trial:
    """The trial with ladders solved from the beginning, as many and in such stages as a fit without a choice has.

    Those of many rows have a higher order than the ones that were tried.
    """
    relative = relative_scales(problem, scale)
    z, y = torch.from_numpy(x) * relative, torch.from_numpy(problem.y)
    weight = torch.from_numpy(problem.weight)
    rows = Rows(z, y, weight, y.shape[1], "squared")
    order = trial.order + HIGHER if rows.many else trial.order
    work = work_for("alternating", rows, settings.main_width, order, None, None)
    hidden = (settings.main_width,) * (order - 1)
    start = random_start(x.shape[1], hidden, y.shape[1], settings.seeds(work.models), work.models)
    solve = partial(solved_in_stages, z, y, weight, work.stages, (settings.alpha, settings.tolerance))
    found = ladders_in_shares(solve, start, len(z))
    return replace(trial, order=order, ladder=rescaled(found, relative))


def solved(
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
        rows=inside,
        sample_weight=weight,
        sweeps=sweeps,
        tolerance=tolerance,
        alpha=alpha,
        relaxation=RELAXATION,
    ).polynomial


def solved_in_stages(
    x: Tensor,
    y: Tensor,
    weight: Tensor,
    stages: tuple[Stage, ...],
    settings: tuple[Any, float],
    start: LadderPolynomial,
) -> LadderPolynomial:
    """Ladders on all rows, in stages; ``settings`` are alpha and tolerance."""
    alpha, tolerance = settings
    return fit_in_stages(
        start, x, y, stages, sample_weight=weight, tolerance=tolerance, alpha=alpha, relaxation=RELAXATION
    )[0]


def relative_scales(problem: Problem, scale: Array) -> torch.Tensor:
    """What inputs are multiplied by. Shape (d,)."""
    if len(problem.chosen) > PLENTY:
        return torch.ones(len(scale), dtype=torch.float64)
    return torch.from_numpy(np.maximum(scale / scale.max(), LEAST_RELEVANCE))


def rescaled(ladder: LadderPolynomial, scale: torch.Tensor) -> LadderPolynomial:
    """A ladder of scaled inputs as one of the inputs themselves."""
    return LadderPolynomial(
        W=(ladder.W[0] * scale, *ladder.W[1:]),
        b=ladder.b,
        V=tuple(V * scale for V in ladder.V),
        c=ladder.c,
        readout=ladder.readout,
        offset=ladder.offset,
    )
