"""A selection's sum solved once more, on more rows: what was found is taken over, and only the weights are new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.constant import best_constant
from polyladder.estimators.selection.candidates.kernel import kernel_by_rows, kernel_on_folds
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.candidates.linear import line_by_rows, lines_on_folds
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.cross_fit import ROWS_PER_SCALE
from polyladder.estimators.selection.fold_ladders import solved_further
from polyladder.estimators.selection.kept import as_reported
from polyladder.estimators.selection.kernel_blocks import (
    Options,
    block_of,
    fitted_features,
    margin_for,
    ramp_columns,
)
from polyladder.estimators.selection.ladder_race import FINE_ROWS
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import PLAIN, RAMPED, Reader
from polyladder.estimators.selection.recipe import KernelRecipe, LaddersRecipe, SelectionRecipe, Solve
from polyladder.estimators.selection.select import Chosen, assembled, looked_at, make_problem
from polyladder.estimators.selection.staged_race import taken_further
from polyladder.estimators.targets import Array, Target
from polyladder.fitted.features import Features
from polyladder.polynomial.units import mean_of
from polyladder.tables.table import Table

NONE = np.empty((0, 0))
"""Predictions of rows that were left out: none are."""

MORE_ROWS = 1.5
"""With more than this many times the rows that a selection was made on, another one might choose more than it did."""


def refitted(
    table: Table, values: Array, weight: Array, target: Target, options: Options, recipe: SelectionRecipe
) -> Chosen | None:
    """The sum of a recipe, solved on the given rows; None where these call for a selection of their own.

    That is so where the selection had few rows for its columns, where these are many more, where columns or classes
    come in that it did not see, and where the sum does not predict the rows as well as it reports.

    Args:
        table: different rows, as `distinct_rows` gives them.
        values: their targets.
        weight: of the rows. Shape (n,).
        target: how targets are coded.
        options: as of the selection.
        recipe: what it found.
    """
    few = recipe.rows < ROWS_PER_SCALE * len(recipe.columns)
    if few or len(values) > MORE_ROWS * recipe.rows or target.outputs != recipe.outputs:
        return None
    rng = np.random.default_rng(options.seed)
    problem = make_problem(values, weight, target, options.effort, rng)
    problem, target = looked_at(table, problem, target, options)
    # One fold that has no rows: classes are solved once, on all of them.
    problem = replace(problem, fold=np.full_like(problem.fold, -1), folds=1)
    margin = 1.0 if recipe.straight and not recipe.ramps else margin_for(len(values))
    plain = fitted_features(table, problem, recipe.kind, options, margin)
    features = plain.ramped(table, recipe.ramps, problem.weight) if recipe.ramps else plain
    if tuple(np.unique(features.groups()).tolist()) != recipe.columns or bool(recipe.ramps) != bool(features.ramps_):
        return None
    z = features.transform_table(table)
    x = z[:, : len(plain.feature_names_out_)]
    used: list[tuple[Trial, float]] = []
    if recipe.constant:
        weighed = problem.weight[problem.chosen]
        used.append((best_constant(problem.loss, problem.goal, weighed, recipe.kind, len(weighed)), recipe.constant))
    used += [(line(problem, x, recipe.kind, solve), solve.weight) for solve in recipe.lines]
    for kernel in recipe.kernels:
        columns = ramp_columns(features) if kernel.features == "piecewise" else np.arange(x.shape[1])
        block = kernel_block(kernel, z, columns, features, problem, rng)
        used += [(solved_kernel(problem, block, solve, x), solve.weight) for solve in kernel.solves]
    for ladders in recipe.ladders:
        reader = reader_of(ladders, z, features)
        if reader is None:
            return None
        used.append((solved_ladders(problem, reader, ladders, options), ladders.weight))
    chosen = assembled(z, values, features, target, problem, used, recipe.selection)
    outputs = chosen.target.guarded(mean_of(chosen.members)(chosen.compared.z))
    return chosen if as_reported(outputs, chosen.compared, recipe.selection) else None


def kernel_block(
    kernel: KernelRecipe,
    z: Array,
    columns: NDArray[np.intp],
    features: Features,
    problem: Problem,
    rng: np.random.Generator,
) -> Block:
    """The inputs and directions of a kernel whose scales are known."""
    groups = np.unique(features.groups()[columns], return_inverse=True)[1]
    highest = max(solve.order for solve in kernel.solves)
    return block_of(
        kernel.features, z[:, columns], columns, groups, problem, kernel.scales, kernel.directions, highest, rng
    )


def solved_kernel(problem: Problem, block: Block, solve: Solve, x: Array) -> Trial:
    """A kernel with the degree and the ridge weight that were found."""
    if not problem.loss.by_rows:
        return kernel_on_folds(problem, block, solve.order, (solve.ridge,))[0]
    expected = block.scales.noise / block.scales.amplitude
    trial, _ = kernel_by_rows(problem, block, solve.order, (solve.ridge / expected,))
    return trial.on_all(problem, x)


def line(problem: Problem, x: Array, kind: str, solve: Solve) -> Trial:
    """A linear model with the ridge weight that was found."""
    if not problem.loss.by_rows:
        return lines_on_folds(problem, x, kind, (solve.ridge,))[0]
    return line_by_rows(problem, x, kind, (solve.ridge,))[0].on_all(problem, x)


def reader_of(ladders: LaddersRecipe, z: Array, features: Features) -> Reader | None:
    """What ladders read, found by its names; None where something is gone, or names are not its own."""
    names = features.feature_names_out_
    place = {name: i for i, name in enumerate(names)}
    if len(place) < len(names) or not place.keys() >= set(ladders.inputs):
        return None
    columns = np.array([place[name] for name in ladders.inputs], dtype=np.intp)
    size = RAMPED if ladders.features == "piecewise" else PLAIN
    return Reader(ladders.features, columns, np.ascontiguousarray(z[:, columns]), ladders.scale, size)


def solved_ladders(problem: Problem, reader: Reader, ladders: LaddersRecipe, options: Options) -> LadderTrial:
    """The ladders that were found, solved on from where they are."""
    if len(problem.chosen) <= FINE_ROWS:
        found = solved_further(problem, reader, ladders.start, ladders.unexplained, options.ladders)
    else:
        found = taken_further(problem, reader, ladders.start, options.ladders)
    return LadderTrial(ladders.features, ladders.order, NONE, reader.columns, found)
