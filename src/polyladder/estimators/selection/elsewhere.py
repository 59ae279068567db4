"""Candidates of one choice that do not depend on each other, on the workers that joblib has been given.

Without such workers everything is computed here, one candidate after another, as if this file were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.kernel import Kernel
from polyladder.estimators.selection.problem import Problem
from polyladder.polynomial.ladder import LadderPolynomial, combine
from polyladder.training.kernels.ridge import RidgeFit
from polyladder.training.solves.stages import StagedFit, joined
from polyladder.training.spread import run_elsewhere, workers_elsewhere

SPREAD_ROWS = 1000
"""Compared rows from which on candidates are sent to workers: below, sending takes as long as solving."""

Solved = TypeVar("Solved", tuple[Kernel, RidgeFit], list[Kernel])
Ladders = TypeVar("Ladders", LadderPolynomial, StagedFit)


def workers_for(rows: int) -> int:
    """How many workers candidates on so many rows are sent to; 0 for none."""
    return workers_elsewhere() if rows >= SPREAD_ROWS else 0


def kernels_of(
    solve: Callable[[Problem, Block, int], Solved], problem: Problem, kinds: Sequence[tuple[Block, int]]
) -> list[Solved]:
    """What ``solve`` makes of each block and degree.

    Args:
        solve: can be pickled; `kernel_by_rows`, or `kernel_on_folds` for some ridge weights.
        problem: what is predicted.
        kinds: blocks and degrees.
    """
    if not workers_for(len(problem.chosen)):
        return [solve(problem, block, degree) for block, degree in kinds]
    tasks = [partial(solved_there, solve, compared(problem), bare(block), degree) for block, degree in kinds]
    return [over(found, block) for found, (block, _) in zip(run_elsewhere(tasks), kinds, strict=True)]


def solved_there(solve: Callable[[Problem, Block, int], Solved], problem: Problem, block: Block, degree: int) -> Solved:
    """On a worker: the trials without the rows of their block, which the driver has."""
    return over(solve(problem, block, degree), without_rows(block))


def over(found: Solved, block: Block) -> Solved:
    """The same trials over another copy of their block."""
    return type(found)(replace(each, block=block) if isinstance(each, Kernel) else each for each in found)  # type: ignore[misc]


def in_shares(
    solve: Callable[..., Ladders],
    start: LadderPolynomial | StagedFit,
    rows: int,
    inside: Sequence[Tensor] | None = None,
) -> Ladders:
    """Solve ladders, a share of them on each worker.

    Args:
        solve: can be pickled; where it is given a second argument, each ladder has the rows of these numbers.
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
    found = run_elsewhere(tasks)
    return joined(found) if isinstance(found[0], StagedFit) else combine(torch.cat, found)


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
