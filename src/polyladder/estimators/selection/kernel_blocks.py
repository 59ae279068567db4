"""Kernels over the columns of a table: their features, the scales of these, and directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.options import Options
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import room_for_inputs
from polyladder.fitted.features import RAMPS, Features
from polyladder.tables.table import Table
from polyladder.training.kernels.directions import pick_directions
from polyladder.training.kernels.relevance import Array, Relevance, first_scales, fit_relevance

MARGIN, EDGE = 0.03, 5
"""Share of a column's range that clipping leaves free beyond each end. With few rows it is the second number divided by
their count, if that is more: the fewer rows there are, the farther new ones lie outside."""

MOST_RAMPS = 12
"""Most ramps of a column, where columns are few and there are enough rows for ladders over all ramps."""


def smooth_block(
    table: Table, problem: Problem, kind: str, options: Options, rng: np.random.Generator
) -> tuple[Features, Block]:
    """Features of one kind without ramps, and a kernel over them."""
    features = fitted_features(table, problem, kind, options, margin_for(len(problem.y)))
    x = features.transform_table(table)
    degree = 4 if problem.loss.by_rows else 3
    return features, kernel_block(kind, x, np.arange(x.shape[1]), features.groups(), problem, degree, options, rng)


def margin_for(rows: int) -> float:
    """Share of a column's range that clipping leaves free beyond each end."""
    return max(MARGIN, EDGE / rows)


def fitted_features(table: Table, problem: Problem, kind: str, options: Options, margin: float) -> Features:
    """Features of one kind, clipped at a share of each column's range beyond its ends, if at all."""
    margin = margin if options.features.clip else 0.0
    return clone(options.features).set_params(kind=kind, ramps=0, margin=margin).fit_table(table, problem.weight)


def ramp_block(
    table: Table, problem: Problem, plain: Features, options: Options, rng: np.random.Generator
) -> tuple[Features, Block] | None:
    """The same features with ramps, and a kernel over the ramps; None if no column has any."""
    features = plain.ramped(table, ramps_for(len(plain.varying_), len(problem.y)), problem.weight)
    if features.ramps_ is None:
        return None
    x = features.transform_table(table)
    columns = ramp_columns(features)
    groups = features.groups()[columns]
    return features, kernel_block("piecewise", x[:, columns], columns, groups, problem, 2, options, rng)


def ramp_columns(features: Features) -> NDArray[np.intp]:
    """Positions of the inputs of a kernel over ramps: a column with ramps is read through them alone."""
    assert features.ramps_ is not None
    return np.setdiff1d(np.arange(len(features.feature_names_out_)), np.unique(features.ramps_.column))


def ramps_for(columns: int, rows: int) -> int:
    """How many ramps a column has, at most."""
    return min(max(RAMPS, room_for_inputs(rows) // max(1, columns)), MOST_RAMPS)


def kernel_block(
    name: str,
    x: Array,
    columns: NDArray[np.intp],
    groups: NDArray[np.intp],
    problem: Problem,
    degree: int,
    options: Options,
    rng: np.random.Generator,
) -> Block:
    """A kernel whose scales are found on some of the rows, and its directions."""
    own = np.unique(groups, return_inverse=True)[1]
    effort = options.effort
    some = problem.chosen[rng.permutation(len(problem.chosen))[: effort.evidence_rows]]
    relevance = fit_relevance(
        x[some], problem.y[some], own, degree, weight=problem.weight[some], steps=effort.evidence_steps
    )
    highest = max(effort.ramp_degrees if name == "piecewise" else effort.degrees)
    return block_of(name, x, columns, own, problem, relevance, effort.directions, highest, rng)


def block_of(
    name: str,
    x: Array,
    columns: NDArray[np.intp],
    groups: NDArray[np.intp],
    problem: Problem,
    scales: Relevance,
    most: int,
    highest: int,
    rng: np.random.Generator,
) -> Block:
    """A kernel of given scales with at most so many directions, for degrees up to the highest."""
    directions = pick_directions(x[problem.chosen], scales, groups, most, rng, highest)
    return Block(name, columns, x, groups, scales, directions, directions.along(x[problem.chosen]))


def equal_block(block: Block, problem: Problem, options: Options, rng: np.random.Generator) -> Block:
    """A quadratic kernel of the same inputs, all of which count alike: nothing of it was fitted to the targets."""
    scales = Relevance(first_scales(block.groups, 2), 1.0, 1.0, 2)
    most = options.effort.directions
    return block_of(block.features, block.x, block.columns, block.groups, problem, scales, most, 2, rng)
