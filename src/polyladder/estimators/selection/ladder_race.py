"""Ladders with fitted directions as candidates: over the columns or over ramps, as far as there is time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.fold_ladders import fold_ladders, operations
from polyladder.estimators.selection.judge import deviance, guarded, narrowed
from polyladder.estimators.selection.options import Options
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import Reader
from polyladder.estimators.selection.staged_race import race_in_stages
from polyladder.polynomial.ladder import combine

LADDER_ROWS = 300
"""From this many different rows on, ladders are tried: with fewer, their random starts decide too much."""

FINE_ROWS = 2000
"""Up to this many rows there is time for smaller folds, a second order of ladders, and all degrees of every scaling."""

FOLDS = (8, 5)
"""Folds of few rows, as many as are affordable. Kernels leave out one row: larger folds decide against ladders by that
alone."""

PILOTS = 1
"""Folds that ladders are fitted on first, to see whether they are hopeless."""

HOPELESS, NEAR = 1.5, 0.02
"""Ladders are given up where their error is more than the first number times that of the best kernel. A kernel's error
below the second number is taken for that number: there, what ladders lack may be unfinished solving alone."""

CLOSE = 1.4
"""A ladder whose error is more than this many times higher or lower than a kernel's decides the race at once."""


def try_ladders(problem: Problem, readers: Sequence[Reader], error: float, options: Options) -> list[LadderTrial]:
    """Ladders of each kind, as far as they are affordable; of a second order only in a close race with the kernels.

    Of many rows, they predict those of one fold; the others are NaN.

    Args:
        problem: of numbers.
        readers: what the kinds read.
        error: of the best kernel.
        options: of the choice.
    """
    found: list[LadderTrial] = []
    rows = len(problem.chosen)
    if rows < LADDER_ROWS or not options.per_fold:
        return found
    left, outputs = options.effort.ladder_cost, problem.y.shape[1]
    if rows > FINE_ROWS:
        return race_in_stages(problem, readers, error, options)
    place = np.random.default_rng(0).permutation(rows)
    for reader in readers:
        for order in reader.size.orders:
            affordable = [
                folds
                for folds in FOLDS
                if operations(rows, reader, order, folds * options.per_fold, outputs, options) <= left
            ]
            if not affordable:
                break
            divided = replace(problem, fold=place % affordable[0], folds=affordable[0])
            left -= operations(rows, reader, order, divided.folds * options.per_fold, outputs, options)
            trial = promising_ladders(divided, reader, order, error, options)
            if trial is None:
                break
            found.append(trial)
            if not error / CLOSE < summed_loss(problem, trial) < error * CLOSE:
                break
    return found


def promising_ladders(
    problem: Problem, reader: Reader, order: int, error: float, options: Options
) -> LadderTrial | None:
    """Ladders on all folds; None where those of the first folds are clearly worse than the best kernel."""
    first = fold_ladders(problem, reader, order, options, range(PILOTS))
    if summed_loss(problem, first) > HOPELESS * max(error, NEAR):
        return None
    others = fold_ladders(problem, reader, order, options, range(PILOTS, problem.folds))
    left_out = np.where(np.isnan(first.left_out), others.left_out, first.left_out)
    ladder = combine(torch.cat, [first.ladder, others.ladder])
    return replace(first, left_out=left_out, ladder=ladder, excess=others.excess)


def summed_loss(problem: Problem, trial: LadderTrial) -> float:
    """Mean over compared rows that the trial predicts, summed over outputs, held to the range of the targets."""
    problem, [known] = narrowed(problem, [trial])
    return problem.y.shape[1] * deviance(problem, guarded(known.left_out, problem))
