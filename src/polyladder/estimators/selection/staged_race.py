"""Ladders of many rows as candidates: those of each kind begin on few rows, the better ones go on to nearly all.

More rows help ladders much, one kind more than another. So they are judged as they will be used, and only take in the
rows that they were judged on afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from polyladder.estimators.cost import Shape
from polyladder.estimators.parameters import seeds_from
from polyladder.estimators.rows import MANY_ROWS
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.elsewhere import in_shares
from polyladder.estimators.selection.fold_ladders import relative_scales, rescaled
from polyladder.estimators.selection.options import Options
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import Reader
from polyladder.estimators.work import LITTLE_NOISE
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.solves.alternating import random_start
from polyladder.training.solves.stages import RELAXATION, Stage, StagedFit, fit_in_stages

HELD_OUT = 1000
"""Rows that ladders are judged on, at most: a fifth of fewer than five times as many."""

MODELS = 2
"""Ladders whose mean is compared and kept: so many times those of a fold, or half of that where time is short."""

STAGES = (Stage(0.25, 5), Stage(0.5, 2), Stage(1.0, 2))
"""How ladders are solved: sweeps on a quarter of the rows, then on half of them, then on all."""

MORE = Stage(1.0, 1, LITTLE_NOISE)
"""One more sweep where there is so little noise that what is wrong may be unfinished solving."""

SLACK = (1.3, 1.0)
"""After each of the first stages those kinds go on whose error is at most this many times the lowest."""

LAST = Stage(1.0, 2)
"""On all rows, those included that ladders were judged on."""

HOPELESS, NEAR = 2.0, 0.02
"""Ladders with more than this many times the error of the best kernel do not go on to all rows, unless that error is
below the second number: then what they lack may be unfinished solves alone."""

LEAST_ROWS = 2000
"""Fewest rows of the last stages; where there is no time for them, no ladders are tried."""


@dataclass(frozen=True, eq=False)
class Runner:
    """Ladders of one kind on their way.

    Attributes:
        reader: what they read.
        order: of the ladders.
        relative: what their inputs are multiplied by. Shape (d,).
        share: of the rows that a stage takes, what time allows.
        ladders: where they are.
    """

    reader: Reader
    order: int
    relative: Tensor
    share: float
    ladders: LadderPolynomial | StagedFit

    @property
    def polynomial(self) -> LadderPolynomial:
        """The ladders, of scaled inputs."""
        return self.ladders.polynomial if isinstance(self.ladders, StagedFit) else self.ladders

    def predict(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The mean of the ladders at rows of these numbers. Shape (rows, m)."""
        x = torch.from_numpy(self.reader.x[rows]) * self.relative
        return np.asarray(self.polynomial(x).mean(0).numpy())


def race_in_stages(problem: Problem, readers: Sequence[Reader], error: float, options: Options) -> list[LadderTrial]:
    """The best kind's ladders, solved on all rows but some of the compared ones, which they predict.

    Args:
        problem: of numbers.
        readers: what the kinds read.
        error: of the best kernel.
        options: of the choice.

    Returns:
        One trial, or none where ladders are too expensive or clearly worse. Rows that they were fitted to are NaN.
    """
    place = np.argsort(problem.fold, kind="stable")[: min(HELD_OUT, len(problem.y) // 5)]
    held = problem.chosen[place]
    inside = np.setdiff1d(np.arange(len(problem.y)), held)
    runners = [each for reader in readers for each in at_start(problem, reader, len(inside), options)]
    for stage, slack in zip(STAGES, SLACK, strict=False):
        runners = [advanced(problem, runner, inside, (stage,), options) for runner in runners]
        errors = [mistake(problem, runner, held) / runner.reader.size.gain for runner in runners]
        runners = [each for each, own in zip(runners, errors, strict=True) if own <= slack * min(errors)]
    if not runners or min(errors) > HOPELESS * max(error, NEAR):
        return []
    runner = advanced(problem, runners[0], inside, (*STAGES[len(SLACK) :], MORE), options)
    left_out = np.full((len(problem.chosen), problem.y.shape[1]), np.nan)
    left_out[place] = runner.predict(held)
    runner = advanced(problem, runner, np.arange(len(problem.y)), (LAST,), options)
    ladder, reader = rescaled(runner.polynomial, runner.relative), runner.reader
    return [LadderTrial(reader.features, runner.order, left_out, reader.columns, ladder)]


def at_start(problem: Problem, reader: Reader, rows: int, options: Options) -> list[Runner]:
    """Random ladders of one kind; none where they cannot be afforded."""
    size, many, outputs = reader.size, rows >= MANY_ROWS, problem.y.shape[1]
    order = size.orders[0] + (size.higher if many else 0)
    width = options.width or (size.main_width if many else size.width)
    seconds = Shape(rows, reader.x.shape[1], width, order, outputs).seconds((*STAGES, LAST))
    models = MODELS * options.per_fold
    if models * seconds > options.ladder_seconds:
        models = options.per_fold
    share = min(1.0, options.ladder_seconds / (models * seconds))
    if share * rows < LEAST_ROWS and share < 1:
        return []
    hidden = (width,) * (order - 1)
    start = random_start(reader.x.shape[1], hidden, outputs, seeds_from(options.seed, models), models)
    return [Runner(reader, order, relative_scales(problem, reader.scale), share, start)]


def taken_further(problem: Problem, reader: Reader, ladder: LadderPolynomial, options: Options) -> LadderPolynomial:
    """Ladders of the race solved on from where they are, on all rows."""
    relative = relative_scales(problem, reader.scale)
    shape = Shape(len(problem.y), reader.x.shape[1], ladder.hidden[0], ladder.order, problem.y.shape[1])
    share = min(1.0, options.ladder_seconds / (len(ladder) * shape.seconds((*STAGES, LAST))))
    runner = Runner(reader, ladder.order, relative, share, rescaled(ladder, 1 / relative))
    found = advanced(problem, runner, np.arange(len(problem.y)), (LAST, MORE), options)
    return rescaled(found.polynomial, relative)


def advanced(
    problem: Problem, runner: Runner, rows: NDArray[np.intp], stages: tuple[Stage, ...], options: Options
) -> Runner:
    """The ladders after further stages on the given rows."""
    solve = partial(
        fit_in_stages,
        x=torch.from_numpy(runner.reader.x[rows]) * runner.relative,
        y=torch.from_numpy(problem.target[rows]),
        loss=problem.loss,
        stages=tuple(replace(stage, share=runner.share * stage.share) for stage in stages),
        alpha=options.alpha,
        sample_weight=torch.from_numpy(problem.weight[rows]),
        tolerance=options.tolerance,
        relaxation=RELAXATION,
    )
    return replace(runner, ladders=in_shares(solve, runner.ladders, len(rows)))


def mistake(problem: Problem, runner: Runner, rows: NDArray[np.intp]) -> float:
    """Loss at rows of these numbers, summed over outputs, predictions held to the targets' range."""
    held = np.clip(runner.predict(rows), problem.y.min(0), problem.y.max(0))
    weight, target = torch.from_numpy(problem.weight[rows]), torch.from_numpy(problem.target[rows])
    return held.shape[1] * problem.loss.deviance(torch.from_numpy(held), target, weight)
