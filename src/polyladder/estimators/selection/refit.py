"""A selection's sum solved once more, on more rows: what was found is taken over, and only the weights are new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.constant import best_constant
from polyladder.estimators.selection.candidates.kernel import Kernel, kernel_by_rows, kernel_on_folds
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.candidates.linear import Linear, line_by_rows, lines_on_folds
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.cross_fit import ROWS_PER_SCALE
from polyladder.estimators.selection.fold_ladders import solved_further
from polyladder.estimators.selection.kept import as_reported
from polyladder.estimators.selection.kernel_blocks import (
    block_of,
    fitted_features,
    margin_for,
    ramp_columns,
)
from polyladder.estimators.selection.ladder_race import FINE_ROWS
from polyladder.estimators.selection.options import Options
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import PLAIN, RAMPED, Reader
from polyladder.estimators.selection.recipe import SelectionRecipe, columns_of
from polyladder.estimators.selection.select import Chosen, assembled, looked_at, make_problem
from polyladder.estimators.selection.staged_race import taken_further
from polyladder.estimators.targets import Array, Target
from polyladder.fitted.features import Features
from polyladder.polynomial.units import mean_of
from polyladder.tables.table import Table

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
    plain = fitted_features(table, problem, recipe.features.kind, options, margin)
    features = plain.ramped(table, recipe.ramps, problem.weight) if recipe.ramps else plain
    if columns_of(features) != recipe.columns or bool(recipe.ramps) != bool(features.ramps_):
        return None
    z = features.transform_table(table)
    x = z[:, : len(plain.feature_names_out_)]
    used: list[tuple[Trial, float]] = []
    blocks: dict[int, Block] = {}
    for trial, weight_in_sum in recipe.used:
        match trial:
            case Kernel():
                key = id(trial.block)
                if key not in blocks:
                    blocks[key] = known_block(trial.block, z, x.shape[1], features, problem, recipe, rng)
                solved: Trial | None = solved_kernel(problem, blocks[key], trial, x)
            case LadderTrial():
                solved = solved_ladders(problem, trial, z, features, recipe, options)
            case Linear():
                solved = line(problem, x, trial)
            case _:
                counts = problem.weight[problem.chosen]
                solved = best_constant(problem.loss, problem.goal, counts, trial.features, len(counts))
        if solved is None:
            return None
        used.append((solved, weight_in_sum))
    chosen = assembled(z, values, features, target, problem, used, recipe.selection)
    chosen = replace(chosen, left_out=recipe.left_out)
    outputs = chosen.target.guarded(mean_of(chosen.members)(chosen.compared.z))
    return chosen if as_reported(outputs, chosen.compared, recipe.selection) else None


def known_block(
    found: Block,
    z: Array,
    plain: int,
    features: Features,
    problem: Problem,
    recipe: SelectionRecipe,
    rng: np.random.Generator,
) -> Block:
    """The inputs and directions of kernels whose scales were found on other rows.

    Args:
        found: the block of these kernels, without rows.
        z: all inputs. Shape (n, d).
        plain: how many of these are not ramps; they come first.
        features: that made the inputs.
        problem: what is predicted.
        recipe: that the block belongs to.
        rng: picks directions.
    """
    columns = ramp_columns(features) if found.features == "piecewise" else np.arange(plain)
    groups = np.unique(features.groups()[columns], return_inverse=True)[1]
    most = max(recipe.directions, len(found.directions.slopes))
    highest = max(t.order for t, _ in recipe.used if isinstance(t, Kernel) and t.block is found)
    return block_of(found.features, z[:, columns], columns, groups, problem, found.scales, most, highest, rng)


def solved_kernel(problem: Problem, block: Block, found: Kernel, x: Array) -> Trial:
    """A kernel with the degree and the ridge weight that were found."""
    if not problem.loss.by_rows:
        return kernel_on_folds(problem, block, found.order, (found.ridge,))[0]
    expected = block.scales.noise / block.scales.amplitude
    trial, _ = kernel_by_rows(problem, block, found.order, (found.ridge / expected,))
    return trial.on_all(problem, x)


def line(problem: Problem, x: Array, found: Linear) -> Trial:
    """A linear model with the ridge weight that was found."""
    if not problem.loss.by_rows:
        return lines_on_folds(problem, x, found.features, (found.ridge,))[0]
    return line_by_rows(problem, x, found.features, (found.ridge,))[0].on_all(problem, x)


def solved_ladders(
    problem: Problem, found: LadderTrial, z: Array, features: Features, recipe: SelectionRecipe, options: Options
) -> LadderTrial | None:
    """The ladders that were found, solved on from where they are; None where their inputs cannot be told by name."""
    names = features.feature_names_out_
    place = {name: i for i, name in enumerate(names)}
    read = [recipe.features.feature_names_out_[i] for i in found.columns]
    if len(place) < len(names) or not place.keys() >= set(read):
        return None
    columns = np.array([place[name] for name in read], dtype=np.intp)
    size = RAMPED if found.features == "piecewise" else PLAIN
    x = np.ascontiguousarray(z[:, columns])
    reader = Reader(found.features, columns, x, recipe.scales[found.features], size)
    if len(problem.chosen) <= FINE_ROWS:
        ladder = solved_further(problem, reader, found.ladder, found.unexplained, options)
    else:
        ladder = taken_further(problem, reader, found.ladder, options)
    return replace(found, columns=columns, ladder=ladder)
