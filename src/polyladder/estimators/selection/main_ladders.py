"""Ladders that are most of a model: fitted anew on all rows, those of many rows at the better of two orders.

What a higher order gains shows in the mean of several ladders, and on many rows: the error of a single ladder is mostly
that of its random start. So the orders race as a fit is made, in its first stage, which uses a part of the rows. The
others judge the mean before any ladder has seen them, and cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from polyladder.estimators.cost import LONG, work_for
from polyladder.estimators.rows import Rows
from polyladder.estimators.selection.elsewhere import Solving, ladders_in_shares
from polyladder.estimators.selection.fold_ladders import LadderSettings, relative_scales, rescaled, solved
from polyladder.estimators.selection.judge import guarded
from polyladder.estimators.selection.trials import Problem, Trial
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.kernels.relevance import Array
from polyladder.training.solves.alternating import random_start
from polyladder.training.solves.stages import RELAXATION, Stage, fit_in_stages

HIGHER = 2
"""How much higher than the order that was tried the other one is."""


def main_ladders(problem: Problem, x: Array, scale: Array, trial: Trial, settings: LadderSettings) -> Trial:
    """The trial with ladders solved from the beginning, as many and in such stages as a fit without a choice has."""
    relative = relative_scales(problem, scale)
    z, y = torch.from_numpy(x) * relative, torch.from_numpy(problem.y)
    rows = Rows(z, y, torch.from_numpy(problem.weight), y.shape[1], "squared")
    work = work_for("alternating", rows, settings.main_width, trial.order, None, None)

    def start(order: int) -> LadderPolynomial:
        hidden, seeds = (settings.main_width,) * (order - 1), settings.seeds(work.models)
        return random_start(x.shape[1], hidden, y.shape[1], seeds, work.models)

    # A first stage on a part of the rows leaves others to judge by; a shorter one than this does not tell orders apart.
    if work.stages[0] == LONG[0]:
        found = raced(problem, rows, [start(trial.order), start(trial.order + HIGHER)], work.stages, settings)
    else:
        solve = partial(solved_in_stages, rows, work.stages, (settings.alpha, settings.tolerance))
        found = ladders_in_shares(solve, Solving(start(trial.order)), len(z)).ladder
    return replace(trial, order=found.order, ladder=rescaled(found, relative))


def raced(
    problem: Problem,
    rows: Rows,
    starts: Sequence[LadderPolynomial],
    stages: tuple[Stage, ...],
    settings: LadderSettings,
) -> LadderPolynomial:
    """Of several batches of ladders that whose mean is best after the first stage, after all of them."""
    assert rows.weight is not None
    mixed = torch.randperm(len(rows.z), generator=torch.Generator().manual_seed(0))
    mixed = mixed[rows.weight[mixed] > 0]

    def solve(solving: Solving, stage: Stage) -> Solving:
        part = rows.take(mixed[: round(stage.share * len(mixed))].sort().values)
        options = (settings.alpha, stage.sweeps, settings.tolerance)
        return ladders_in_shares(partial(solved, part.z, part.y, part.weight, options), solving, len(part.z))

    rest = rows.take(mixed[round(stages[0].share * len(mixed)) :])
    heats = [solve(Solving(start), stages[0]) for start in starts]
    errors = [mean_error(problem, heat.ladder, rest) for heat in heats]
    error, solving = min(zip(errors, heats, strict=True), key=lambda each: each[0])
    for stage in stages[1:]:
        if error < stage.noise_below:
            solving = solve(solving, stage)
    return solving.ladder


def mean_error(problem: Problem, ladder: LadderPolynomial, rows: Rows) -> float:
    """Squared error of the mean of ladders (B,), for targets of variance 1."""
    assert rows.weight is not None
    outputs = guarded(ladder(rows.z).mean(0).numpy(), problem)
    return float(rows.weight.numpy() @ ((outputs - rows.y.numpy()) ** 2).mean(1) / rows.weight.sum())


def solved_in_stages(rows: Rows, stages: tuple[Stage, ...], settings: tuple[Any, float], start: Solving) -> Solving:
    """Ladders on all rows, in stages; ``settings`` are alpha and tolerance."""
    alpha, tolerance = settings
    options: dict[str, Any] = {"sample_weight": rows.weight, "tolerance": tolerance, "relaxation": RELAXATION}
    return Solving(fit_in_stages(start.ladder, rows.z, rows.y, stages, alpha=alpha, **options)[0])
