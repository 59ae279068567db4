"""Candidates of one choice that do not depend on each other, on the workers that joblib has been given.

Without such workers everything is computed here, one candidate after another, as if this file were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.kernel import Kernel, kernel_by_rows, kernel_on_folds
from polyladder.estimators.selection.problem import Problem
from polyladder.polynomial.ladder import LadderPolynomial, combine
from polyladder.training.kernels.ridge import RidgeFit
from polyladder.training.solves.stages import StagedFit, joined
from polyladder.training.spread import run_elsewhere, workers_elsewhere

SPREAD_ROWS = 1000
"""Compared rows from which on candidates are sent to workers: below, sending takes as long as solving."""

Kind = tuple[Block, int]

Solve = Callable[..., Any]
"""Solves ladders; where it is given a second argument, each on the rows of these numbers."""


def workers_for(rows: int) -> int:
    """How many workers candidates on so many rows are sent to; 0 for none."""
    return workers_elsewhere() if rows >= SPREAD_ROWS else 0


def kernels_by_rows(problem: Problem, kinds: Sequence[Kind]) -> list[tuple[Kernel, RidgeFit]]:
    """`kernel_by_rows` of each block and degree."""
    if not workers_for(len(problem.chosen)):
        return [kernel_by_rows(problem, block, degree) for block, degree in kinds]
    tasks = [partial(rows_there, compared(problem), bare(block), degree) for block, degree in kinds]
    found = zip(run_elsewhere(tasks), kinds, strict=True)
    return [(replace(trial, block=block), fit) for (trial, fit), (block, _) in found]


def kernels_on_folds(problem: Problem, kinds: Sequence[Kind], ridges: Sequence[float]) -> list[list[Kernel]]:
    """`kernel_on_folds` of each block and degree."""
    if not workers_for(len(problem.chosen)):
        return [kernel_on_folds(problem, block, degree, ridges) for block, degree in kinds]
    tasks = [partial(folds_there, compared(problem), bare(block), degree, ridges) for block, degree in kinds]
    found = zip(run_elsewhere(tasks), kinds, strict=True)
    return [[replace(trial, block=block) for trial in trials] for trials, (block, _) in found]


def ladders_in_shares(
    solve: Solve, start: LadderPolynomial, rows: int, inside: Sequence[Tensor] | None = None
) -> LadderPolynomial:
    """Solve ladders, a share of them on each worker.

    Args:
        solve: can be pickled; gives ladders.
        start: batch shape (B,).
        rows: how many they are solved on.
        inside: the numbers of each ladder's rows; None for all.
    """
    workers = workers_for(rows)
    if not workers:
        return solve(start) if inside is None else solve(start, inside)
    shares = torch.arange(len(start)).tensor_split(min(workers, len(start)))
    own = [() if inside is None else ([inside[i] for i in share],) for share in shares]
    tasks = [partial(solve, start[share], *numbers) for share, numbers in zip(shares, own, strict=True)]
    return combine(torch.cat, run_elsewhere(tasks))


def stages_in_shares(solve: Solve, start: LadderPolynomial | StagedFit, rows: int) -> StagedFit:
    """The same where solving gives a fit in stages."""
    workers = workers_for(rows)
    if not workers:
        return solve(start)
    shares = torch.arange(len(start)).tensor_split(min(workers, len(start)))
    return joined(run_elsewhere([partial(solve, start[share]) for share in shares]))


def rows_there(problem: Problem, block: Block, degree: int) -> tuple[Kernel, RidgeFit]:
    """On a worker: the trial without the rows of its block, which the driver has."""
    trial, fit = kernel_by_rows(problem, block, degree)
    return replace(trial, block=without_rows(block)), fit


def folds_there(problem: Problem, block: Block, degree: int, ridges: Sequence[float]) -> list[Kernel]:
    """On a worker: the trials without the rows of their block, which the driver has."""
    found = kernel_on_folds(problem, block, degree, ridges)
    return [replace(trial, block=without_rows(block)) for trial in found]


def compared(problem: Problem) -> Problem:
    """The compared rows alone."""
    rows = problem.chosen
    return replace(
        problem,
        y=problem.y[rows],
        target=problem.target[rows],
        weight=problem.weight[rows],
        chosen=np.arange(len(rows)),
    )


def bare(block: Block) -> Block:
    """A block without its inputs, of which kernels read only what lies along the directions."""
    return replace(block, x=block.x[:0])


def without_rows(block: Block) -> Block:
    """A block as it is sent back: what lies along the directions is known where it came from."""
    return replace(block, x=block.x[:0], along=block.along[:0])
