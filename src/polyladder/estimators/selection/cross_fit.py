"""Kernels judged with all that was fitted: on each fold's rows by scales that were found without them.

Leaving out row after row while the scales stay is quick, but the scales have seen every row. Where there are many
scales and few rows, pure noise then looks predictable.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.kernel import Kernel, kernel_by_rows
from polyladder.estimators.selection.options import Effort
from polyladder.estimators.selection.problem import Problem
from polyladder.training.kernels.directions import pick_directions
from polyladder.training.kernels.newton import fit_outputs
from polyladder.training.kernels.relevance import Array, fit_relevance

ROWS_PER_SCALE = 20
"""With fewer rows for each scale, the error of leaving out row after row is too low to be believed."""


def doubtful(problem: Problem, block: Block) -> bool:
    """Whether a kernel has so many scales that leaving out row after row flatters it."""
    return len(problem.chosen) < ROWS_PER_SCALE * len(block.scales.scales)


def cross_fitted(problem: Problem, trials: list[Kernel], effort: Effort, rng: np.random.Generator) -> list[Kernel]:
    """The same kernels over one block, their predictions of each fold's rows made without these rows.

    Args:
        problem: what is predicted.
        trials: kernels that share one block.
        effort: how much work a kernel may be.
        rng: picks rows.
    """
    block = trials[0].block
    left_out = [np.zeros_like(trial.left_out) for trial in trials]
    for k in range(problem.folds):
        inside, outside = problem.chosen[problem.fold != k], problem.fold == k
        without = block_without(problem, block, inside, max(t.order for t in trials), effort, rng)
        for trial, values in zip(trials, left_out, strict=True):
            values[outside] = refitted_values(problem, without, trial, inside, problem.chosen[outside])
    return [replace(trial, left_out=values) for trial, values in zip(trials, left_out, strict=True)]


def block_without(
    problem: Problem, block: Block, inside: NDArray[np.intp], highest: int, effort: Effort, rng: np.random.Generator
) -> Block:
    """The block as it is found from some of the rows."""
    some = inside[rng.permutation(len(inside))[: effort.evidence_rows]]
    relevance = fit_relevance(
        block.x[some],
        problem.y[some],
        block.groups,
        block.scales.degree,
        weight=problem.weight[some],
        steps=effort.evidence_steps,
    )
    directions = pick_directions(block.x[inside], relevance, block.groups, effort.directions, rng, highest)
    return replace(block, scales=relevance, directions=directions, along=directions.along(block.x[inside]))


def refitted_values(
    problem: Problem, block: Block, trial: Kernel, inside: NDArray[np.intp], outside: NDArray[np.intp]
) -> Array:
    """What the kernel, fitted on some rows, predicts of others. Shape (outside, m)."""
    new = block.directions.along(block.x[outside])
    if problem.loss.by_rows:
        fitted, _ = kernel_by_rows(replace(problem, chosen=inside), block, trial.order)
        powers = (1 + block.directions.stretch(trial.order) * new) ** trial.order
        return np.asarray(powers @ fitted.coefficients + fitted.offset)
    factor = block.directions.factor(trial.order)
    phi, others = (block.directions.features(t, trial.order, factor) for t in (block.along, new))
    solved = fit_outputs(problem.loss, phi, problem.target[inside], problem.weight[inside], trial.ridge)
    return np.asarray(others @ solved[:-1] + solved[-1])


def by_block(trials: Iterable[Kernel]) -> list[list[Kernel]]:
    """Kernels that share a block, together."""
    groups: dict[int, list[Kernel]] = {}
    for trial in trials:
        groups.setdefault(id(trial.block), []).append(trial)
    return list(groups.values())
