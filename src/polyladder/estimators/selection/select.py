"""The choice itself: features, kernels and ladders are tried, compared on rows left out, and summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from polyladder.estimators.class_sets import LeftOutScores
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.constant import best_constant
from polyladder.estimators.selection.candidates.kernel import Kernel, kernel_by_rows, kernel_on_folds
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.candidates.linear import LINEAR_RIDGES, Linear, line_by_rows, lines_on_folds
from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.elsewhere import kernels_of
from polyladder.estimators.selection.fold_ladders import finished_ladders
from polyladder.estimators.selection.found import Candidate, Selection
from polyladder.estimators.selection.judge import deviance, guarded, judged
from polyladder.estimators.selection.kernel_blocks import (
    MARGIN,
    block_of,
    equal_block,
    fitted_features,
    ramp_block,
    smooth_block,
)
from polyladder.estimators.selection.ladder_race import FINE_ROWS, try_ladders
from polyladder.estimators.selection.options import Effort, Options
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import plain_reader, ramp_reader
from polyladder.estimators.selection.recipe import SelectionRecipe, recipe_of
from polyladder.estimators.selection.sureness import sureness
from polyladder.estimators.spread import LEAST_SHRINK, LeftOut
from polyladder.estimators.targets import Array, ClassTarget, NumberTarget, Target
from polyladder.fitted.features import Features
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.members import as_members
from polyladder.tables.table import Table
from polyladder.training.kernels.relevance import fit_relevance
from polyladder.training.kernels.reweighted import first_fit
from polyladder.training.kernels.ridge import RidgeFit

EXACT = 0.01
"""Share of the variance left unexplained up to which predictions may leave the targets' range by its whole width.
Where more is left, they may leave it by proportionally less, but at least by the usual margin."""

RANGE_ROWS = 500
"""With more rows than this, predictions may leave the targets' range by proportionally less: the targets of many rows
reach nearly as far as new ones."""

CLASS_RIDGES = (0.3, 3.0, 0.03)
"""Ridge weights of kernels of classes: the first is tried with every kernel, the others with the best."""

LINEAR_CLASS_RIDGES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""Ridge weights of linear models of classes."""

SMOOTH = 0.1
"""Share of the variance left unexplained up to which the scales of kernels are found again, on more rows."""

REFINED_ROWS = 450
"""Most rows on which scales are found again: the cost grows with the cube of the rows."""

SCALING_ROWS = 60
"""From this many rows on, a second scaling of columns is tried: fewer say nothing about the shape of a column."""

HIGH, HIGHEST = 6, 10
"""Where the best degree is at least the first number, or ramps win, a kernel of the second degree is tried too."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """A model that was chosen.

    Attributes:
        features: in front of it.
        target: how its outputs become predictions.
        members: ladders whose mean it is, in standardized units.
        rows: different rows, transformed.
        compared: those of them that candidates were compared on.
        selection: how it was chosen.
        left_out: its errors, or its scores of classes, at the compared rows by fits without them.
    """

    features: Features
    target: Target
    members: LadderPolynomial
    rows: TrainingRows
    compared: TrainingRows
    selection: Selection
    left_out: LeftOut | LeftOutScores | None = None


def choose_model(
    table: Table, values: Array, weight: Array, target: Target, options: Options
) -> tuple[Chosen, SelectionRecipe]:
    """Try, compare and sum.

    Args:
        table: different rows, as `distinct_rows` gives them.
        values: their targets.
        weight: of the rows. Shape (n,).
        target: how targets are coded.
        options: see `Options`.

    Returns:
        What was chosen, and how to solve it on more rows.
    """
    rng = np.random.default_rng(options.seed)
    problem = make_problem(values, weight, target, options.effort, rng)
    problem, target = looked_at(table, problem, target, options)
    features, smooth, line, smooth_steps = scaled_candidates(table, problem, options, rng)
    tried: list[Trial] = [trial for trial, _ in smooth_steps]
    blocks = [(features, smooth, smooth_steps)]
    readers = [plain_reader(smooth)]
    if options.piecewise:
        ramped = ramp_block(table, problem, features, options, rng)
        if ramped is not None:
            steps = kernels_of(kernel_by_rows, problem, [(ramped[1], p) for p in options.effort.ramp_degrees])
            tried += [trial for trial, _ in steps]
            blocks.append((*ramped, steps))
            readers += [reader for reader in [ramp_reader(ramped[0], smooth, ramped[1])] if reader is not None]
    alike = equal_block(smooth, problem, options, rng)
    if problem.loss.by_rows:
        kernels = [step for _, _, steps in blocks for step in steps]
        tried += refined(problem, smooth, kernels, options, rng)
        tried += try_ladders(problem, readers, min(fit.error for _, fit in kernels), options)
        trials: list[Trial] = [line, *tried]
        trials.append(kernel_by_rows(problem, alike, alike.scales.degree, LINEAR_RIDGES)[0])
    else:
        weighed = problem.weight[problem.chosen]
        trials = [best_constant(problem.loss, problem.goal, weighed, features.kind, len(weighed))]
        trials += lines_on_folds(problem, smooth.x, features.kind, LINEAR_CLASS_RIDGES)
        trials += kernels_of_classes(problem, alike, [(block, steps) for _, block, steps in blocks])
    compared, trials, weights = judged(problem, trials, alike, options.effort, rng)
    if any(w > 0 and t.features == "piecewise" for t, w in zip(trials, weights, strict=True)):
        features = blocks[-1][0]
    elif options.features.clip and all(t.order <= 1 for t, w in zip(trials, weights, strict=True) if w > 0):
        # A line cannot explode.
        features = fitted_features(table, problem, features.kind, options, 1.0)
    for i in np.flatnonzero(weights):
        trial = trials[i] = trials[i].on_all(problem, smooth.x)
        if isinstance(trial, LadderTrial) and len(problem.chosen) <= FINE_ROWS:
            reader = next(each for each in readers if each.features == trial.features)
            trials[i] = finished_ladders(compared, reader, trial, options)
    chosen = finished(table, values, features, target, compared, trials, weights)
    used, directions = counting(trials, weights), options.effort.directions
    return chosen, recipe_of(chosen.selection, features, compared, used, readers, directions, chosen.left_out)


def scaled_candidates(
    table: Table, problem: Problem, options: Options, rng: np.random.Generator
) -> tuple[Features, Block, Linear, list[tuple[Kernel, RidgeFit]]]:
    """A line and kernels of all degrees over the scaling of the best of them.

    On many rows that is found at the best degree of the first one, and of the second only its neighbors are solved too.
    """

    def steps(block: Block, degrees: Sequence[int]) -> list[tuple[Kernel, RidgeFit]]:
        return kernels_of(kernel_by_rows, problem, [(block, degree) for degree in degrees])

    degrees = options.effort.degrees
    features, block = smooth_block(table, problem, options.kinds[0], options, rng)
    line, tried = line_by_rows(problem, block.x, features.kind), steps(block, degrees)
    for kind in options.kinds[1:] if len(problem.chosen) >= SCALING_ROWS else ():
        trial, fit = min(tried, key=lambda step: step[1].error)
        others, other = smooth_block(table, problem, kind, options, rng)
        few = len(problem.chosen) <= FINE_ROWS
        first, near = (degrees, degrees) if few else ((trial.order,), neighbors(degrees, trial.order))
        again, other_line = steps(other, first), line_by_rows(problem, other.x, kind)
        if min(step[1].error for step in (*again, other_line)) < min(fit.error, line[1].error):
            rest = steps(other, [degree for degree in near if degree not in first])
            features, block, line = others, other, other_line
            tried = sorted(again + rest, key=lambda step: step[0].order)
    return features, block, line[0], tried


def neighbors(degrees: Sequence[int], degree: int) -> Sequence[int]:
    """A degree with the next lower and the next higher one of those that are tried."""
    at = list(degrees).index(degree)
    return degrees[max(0, at - 1) : at + 2]


def kernels_of_classes(
    problem: Problem, alike: Block, blocks: Sequence[tuple[Block, Sequence[tuple[Kernel, RidgeFit]]]]
) -> list[Kernel]:
    """The kernels that did best by least squares, by the loss; the best of these with other ridge weights too."""
    kinds = [(alike, alike.scales.degree)]
    for i, (block, steps) in enumerate(blocks):
        ranked = sorted(steps, key=lambda step: step[1].error)
        kinds += [(block, trial.order) for trial, _ in ranked[: 1 if i else 2]]
    solve = partial(kernel_on_folds, ridges=CLASS_RIDGES[:1])
    first = [trials[0] for trials in kernels_of(solve, problem, kinds)]
    block, order = kinds[int(np.argmin([deviance(problem, t.left_out) for t in first]))]
    return [*first, *kernel_on_folds(problem, block, order, CLASS_RIDGES[1:])]


def make_problem(values: Array, weight: Array, target: Target, effort: Effort, rng: np.random.Generator) -> Problem:
    """Coded targets, the rows to compare on, and their folds."""
    n = len(values)
    y = goal = target.encode(values).numpy()
    if isinstance(target, ClassTarget):
        goal = np.eye(len(target.labels))[y]
        goal = goal[:, 1:] if target.outputs == 1 else goal
        mean = weight @ goal / weight.sum()
        y = (goal - mean) / np.sqrt(np.maximum(mean * (1 - mean), 1e-12))
    order = rng.permutation(n)
    chosen = np.sort(order[: effort.number_rows if target.loss.by_rows else effort.choice_rows])
    folds = max(2, min(effort.folds, len(chosen)))
    place = np.argsort(order)[chosen]
    if isinstance(target, ClassTarget):
        # Class after class, so that every fold has its share of each.
        place = np.lexsort((place, target.encode(values).numpy()[chosen])).argsort()
    else:
        place = place.argsort().argsort()
    y, goal = np.ascontiguousarray(y), np.ascontiguousarray(goal)
    return Problem(y, goal, target.loss, weight, chosen, place % folds, folds)


def looked_at(table: Table, problem: Problem, target: Target, options: Options) -> tuple[Problem, Target]:
    """The problem and its target with a settled loss: what that learns comes from a first fit."""
    if target.loss.settled:
        return problem, target
    assert isinstance(target, NumberTarget)
    features = fitted_features(table, problem, options.kinds[0], options, MARGIN)
    weight = torch.from_numpy(problem.weight)
    loss, outputs = first_fit(
        target.loss, features.transform_table(table), problem.target, problem.weight, options.seed
    )
    found = target.settled(loss, torch.from_numpy(problem.target), weight)
    shift = ((found.mean - target.mean) / found.scale).numpy()
    goal, outputs = problem.target - shift, outputs - shift
    # A step down the loss from the first fit: a gross error stays near what it should have been.
    assert loss.curvature is not None
    y = outputs - loss.slopes(torch.from_numpy(outputs), torch.from_numpy(goal)).numpy() / loss.curvature
    return replace(problem, y=y, target=goal, loss=loss), found


def refined(
    problem: Problem, block: Block, tried: Sequence[tuple[Kernel, RidgeFit]], options: Options, rng: np.random.Generator
) -> list[Kernel]:
    """Where little is left unexplained, kernels whose scales are found on more rows, at their own degree."""
    if min(fit.error for _, fit in tried) > SMOOTH * problem.y.shape[1] or len(problem.chosen) > REFINED_ROWS:
        return []
    trial, _ = min(tried, key=lambda each: each[1].error)
    plain, _ = min((each for each in tried if each[0].block is block), key=lambda each: each[1].error)
    # Ramps win on a smooth function only while the orders that were tried are too low for it.
    higher = trial is not plain or plain.order >= HIGH
    degrees = (plain.order, HIGHEST) if higher else (plain.order,)
    inputs = np.arange(block.x.shape[1])
    found = []
    for degree in degrees:
        relevance = fit_relevance(
            block.x[problem.chosen],
            problem.y[problem.chosen],
            block.groups,
            degree,
            weight=problem.weight[problem.chosen],
            start=block.scales,
            steps=options.effort.evidence_steps,
        )
        new = block_of(block.features, block.x, inputs, block.groups, problem, relevance, REFINED_ROWS, degree, rng)
        found.append(kernel_by_rows(problem, new, degree)[0])
    return found


def finished(
    table: Table,
    values: Array,
    features: Features,
    target: Target,
    problem: Problem,
    trials: Sequence[Trial],
    weights: Array,
) -> Chosen:
    """The weighted sum as ladders, with its record."""
    used = counting(trials, weights)
    total = sum((w * t.left_out for t, w in used), np.zeros_like(problem.goal))

    def error(f: Array) -> float:
        known = ~np.isnan(f[:, 0])  # ladders that fell out may predict some rows alone
        return deviance(replace(problem, chosen=problem.chosen[known]), guarded(f, problem)[known])

    candidates = [
        Candidate(t.model, t.features, t.order, error(t.left_out), float(w))
        for t, w in zip(trials, weights, strict=True)
    ]
    if problem.loss.by_rows:
        candidates.insert(0, Candidate("constant", features.kind, 0, error(np.zeros_like(total)), 0.0))
    counts, factor = problem.weight[problem.chosen], 1.0
    if problem.loss.answer == "classes":
        factor = sureness(problem.loss, total, problem.goal, counts)
        total = factor * total
    selection = Selection(
        problem.loss.measure,
        tuple(candidates),
        error(total),
        len(problem.chosen),
        problem.folds,
        factor=factor,
    )
    chosen = assembled(features.transform_table(table), values, features, target, problem, used, selection)
    if isinstance(target, NumberTarget):
        return replace(chosen, left_out=errors_left_out(table, target, problem, used, total))
    classes = chosen.compared.y
    return replace(chosen, left_out=LeftOutScores(torch.from_numpy(total), classes, torch.from_numpy(counts)))


def errors_left_out(
    table: Table, target: NumberTarget, problem: Problem, used: Sequence[tuple[Trial, float]], total: Array
) -> LeftOut:
    """What the sum misses at compared rows (chosen, m) by fits without them.

    Ladders that are kept are means of more than those that predicted the rows left out, and scatter less.
    """
    missed = problem.goal - guarded(total, problem)
    size, excess = float((missed**2).mean()), sum(weight**2 * trial.excess for trial, weight in used)
    shrink = max(1 - excess / size, LEAST_SHRINK**2) ** 0.5 if size > 0 else 1.0
    errors = missed * target.scale.numpy()
    return LeftOut(table.take(problem.chosen), errors, problem.weight[problem.chosen], shrink)


def counting(trials: Sequence[Trial], weights: Array) -> list[tuple[Trial, float]]:
    """The trials that count, with their weights."""
    return [(t, float(w)) for t, w in zip(trials, weights, strict=True) if w > 0]


def assembled(
    z: Array,
    values: Array,
    features: Features,
    target: Target,
    problem: Problem,
    used: Sequence[tuple[Trial, float]],
    selection: Selection,
) -> Chosen:
    """A weighted sum as ladders.

    Args:
        z: the rows, transformed. Shape (n, d).
        values: their targets.
        features: that made their inputs.
        target: how targets are coded.
        problem: the rows that were solved.
        used: trials that count, and their weights.
        selection: the record, with the factor of the sum.
    """
    if isinstance(target, NumberTarget):
        # A line cannot explode.
        lines = all(t.order <= 1 for t, _ in used)
        wide = 1.0 if lines else EXACT / max(EXACT, selection.error) * min(1.0, RANGE_ROWS / len(problem.y))
        target = replace(target, margin=max(target.margin, wide))
    whole_sum = Total(z.shape[1], problem.y.shape[1])
    for trial, weight in used:
        trial.add_to(whole_sum, selection.factor * weight)
    parts = whole_sum.parts()
    rows = TrainingRows(as_tensor(z), target.encode(values), as_tensor(problem.weight), target.outputs, target.loss)
    compared = rows.take(torch.from_numpy(problem.chosen))
    return Chosen(features, target, as_members(parts), rows, compared, selection)


def as_tensor(values: Array) -> Tensor:
    """As a tensor, row after row."""
    return torch.from_numpy(np.ascontiguousarray(values))
