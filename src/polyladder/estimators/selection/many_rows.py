"""Classes of many rows: trained ladders, lines and a constant, summed by what they say of rows that none has seen."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone

from polyladder.estimators.batch.families import LadderFamily
from polyladder.estimators.batch.fitting import fit_jobs
from polyladder.estimators.batch.plans import Job, ModelPlan
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.parameters import seeds_from
from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.selection.candidates.constant import Constant, best_constant
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.candidates.linear import Linear
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.judge import simplest, stack
from polyladder.estimators.selection.kernel_blocks import MARGIN
from polyladder.estimators.selection.options import Options
from polyladder.estimators.selection.problem import CHUNK
from polyladder.estimators.selection.select import Chosen, finished, make_problem
from polyladder.estimators.support import MOST_ROWS
from polyladder.estimators.table_estimator import coded_rows
from polyladder.estimators.targets import Array, ClassTarget
from polyladder.estimators.training_size import Training, training_for
from polyladder.fitted.features import Features
from polyladder.models.batched import stack as stack_models
from polyladder.polynomial.evaluate import evaluate
from polyladder.tables.table import Table
from polyladder.training.kernels.newton import fit_outputs

ORDER = 5
"""Order of the ladders: one more than block solves use, as these ladders are wider."""

REACH = 5.0
"""Inputs are held to this distance from 0: farther ones would dominate the statistics of batch norm."""

RAMPED_INPUTS = 160
"""Most inputs of a table with its ramps: every unit of every layer reads each of them."""

MOST_RAMPS = 16
"""Most ramps of a column."""

LEAST_RAMPS = 3
"""Fewest ramps of a column. Fewer cannot follow a jump; where no more fit, columns have none."""

IMAGE_COLUMNS = 64
"""From this many columns on, those that share one range, as pixels do, are scaled together."""

HELD_OUT = 10
"""One row in so many is held out to weigh the candidates, up to as many as a choice compares."""

RATES = (0.5, 3.0)
"""Dropout of the first, the second, ... ladder, as multiples of the parameter: little suits clear classes, much suits
noisy ones."""

MOST_DROPOUT = 0.5
"""Highest dropout of a ladder, whatever the multiple."""

LINEAR_ROWS = 20_000
"""Most rows that a linear model is fitted to."""

LINEAR_OPERATIONS = 4e9
"""Most operations of one step of a linear model: where its inputs are many, it is fitted to fewer rows."""

LINEAR_RIDGE = 1.0
"""Ridge weight of linear models."""


@dataclass(frozen=True, eq=False)
class Divided:
    """All rows, of which some are held out.

    Attributes:
        features: that made their inputs.
        rows: inputs in single precision; columns first, then ramps.
        inside: numbers of the rows to train on.
        held: numbers of the rows held out.
    """

    features: Features
    rows: TrainingRows
    inside: NDArray[np.intp]
    held: NDArray[np.intp]

    @property
    def columns(self) -> int:
        """Inputs that are not ramps."""
        ramps = self.features.ramps_
        return self.rows.z.shape[1] - (0 if ramps is None else len(ramps.column))

    @property
    def name(self) -> str:
        """Of all inputs, in a word."""
        return self.features.kind if self.features.ramps_ is None else "piecewise"

    @property
    def weight(self) -> Array:
        """Of the rows. Shape (n,)."""
        assert self.rows.weight is not None
        return np.asarray(self.rows.weight.numpy())

    def classes(self, some: NDArray[np.intp]) -> Array:
        """0 or 1 for each class of some rows, the second of two alone. Shape (some, m)."""
        outputs = self.rows.outputs
        return (self.rows.y[some].numpy()[:, None] == (np.arange(outputs) if outputs > 1 else 1)).astype(np.float64)


def choose_trained(
    table: Table, values: Array, weight: Array, target: ClassTarget, options: Options
) -> tuple[Chosen, list[float]]:
    """Train, compare and sum.

    Args:
        table: different rows, as `distinct_rows` gives them.
        values: their classes.
        weight: of the rows. Shape (n,).
        target: how classes are coded.
        options: see `Options`.

    Returns:
        What was chosen, and the losses of the first ladder, epoch by epoch.
    """
    rng = np.random.default_rng(options.seed)
    codes = target.encode(values).numpy()
    inside, held = held_out(codes, min(options.effort.choice_rows, len(codes) // HELD_OUT), rng)
    features = training_features(table, weight, options)
    rows = TrainingRows(
        single_inputs(features, table),
        torch.from_numpy(codes),
        torch.from_numpy(weight),
        target.outputs,
        target.loss,
    )
    divided = Divided(features, rows, inside, held)
    problem = replace(make_problem(values[held], weight[held], target, options.effort, rng), folds=1)
    trials: list[Trial] = [constant(divided), *linear_models(divided, rng)]
    ladders, curve = trained_ladders(divided, options, rng)
    trials += ladders
    weights = simplest(problem, trials, [stack(problem, trials, np.zeros(len(trials)))])
    chosen = finished(table.take(held), values[held], features, target, problem, trials, weights)
    # How well rows support predictions is learned of rows that were trained on.
    some = inside[np.linspace(0, len(inside) - 1, min(len(inside), MOST_ROWS)).round().astype(np.intp)]
    seen = coded_rows(features, target, table.take(some), values[some], torch.from_numpy(weight[some]))
    return replace(chosen, rows=seen), curve


def held_out(codes: Array, most: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers of the rows to train on and of those to weigh by: evenly many of each class, never all of one.

    Args:
        codes: of the classes. Shape (n,).
        most: rows to hold out, at most.
        rng: picks them.
    """
    every = -(-len(codes) // max(1, most))
    order = np.lexsort((rng.permutation(len(codes)), codes))
    drawn = np.arange(len(codes)) % every == every - 1
    first = np.r_[True, codes[order][1:] != codes[order][:-1]]
    if (drawn & ~first).any():
        drawn &= ~first
    return np.sort(order[~drawn]), np.sort(order[drawn])


def training_features(table: Table, weight: Array, options: Options) -> Features:
    """Scaled columns, with as many ramps as can be afforded unless a scaling is asked for."""
    unfitted = clone(options.features).set_params(margin=MARGIN if options.features.clip else 0.0, reach=REACH)
    if options.ramped:
        unfitted.set_params(kind="standard" if unfitted.kind == "piecewise" else unfitted.kind, ramps=0)
    plain = clone(unfitted).fit_table(table, weight)
    if not options.ramped:
        return plain
    if of_one_range(table):
        return unfitted.set_params(whole=True).fit_table(table, weight)
    several = [j for j in plain.varying_ if len(np.unique(table.numbers[:CHUNK, j])) > 2]
    ramps = min((RAMPED_INPUTS - len(plain.feature_names_out_)) // max(1, len(several)), MOST_RAMPS)
    if ramps < LEAST_RAMPS or not several:
        return plain
    return unfitted.set_params(ramps=ramps).fit_table(table, weight)


def of_one_range(table: Table) -> bool:
    """Whether most of many columns have one range, that of the table."""
    numbers = table.numbers[:, ~np.isnan(table.numbers).all(0)]
    if numbers.shape[1] < IMAGE_COLUMNS:
        return False
    low, high = np.nanmin(numbers, 0), np.nanmax(numbers, 0)
    return bool(((low == low.min()) & (high == high.max())).mean() > 0.5)


def single_inputs(features: Features, table: Table) -> torch.Tensor:
    """The inputs of ladders in single precision, chunk by chunk: double precision would take twice the memory."""
    z = torch.empty(len(table.numbers), len(features.feature_names_out_), dtype=torch.float32)
    for start in range(0, len(z), CHUNK):
        part = np.arange(start, min(start + CHUNK, len(z)))
        z[start : start + CHUNK] = torch.from_numpy(features.transform_table(table.take(part)))
    return z


def constant(divided: Divided) -> Constant:
    """The shares of the classes as scores."""
    classes, weight = divided.classes(divided.inside), divided.weight[divided.inside]
    return best_constant(divided.rows.loss, classes, weight, divided.features.kind, len(divided.held))


def linear_models(divided: Divided, rng: np.random.Generator) -> list[Linear]:
    """Logistic or softmax regressions on the columns, and on their ramps as well if there are any."""
    z, found = divided.rows.z, []
    for count, name in {divided.columns: divided.features.kind, z.shape[1]: divided.name}.items():
        cost = count**2 if divided.rows.outputs == 1 else 4 * count * divided.rows.outputs
        most = int(min(LINEAR_ROWS, max(LINEAR_OPERATIONS / cost, LINEAR_ROWS / 10)))
        some = np.sort(rng.permutation(divided.inside)[:most])
        inputs = z[some, :count].double().numpy()
        solved = fit_outputs(divided.rows.loss, inputs, divided.classes(some), divided.weight[some], LINEAR_RIDGE)
        scores = z[divided.held, :count].double().numpy() @ solved[:-1] + solved[-1]
        found.append(Linear(name, 1, scores, solved[:-1], solved[-1], np.arange(count), LINEAR_RIDGE))
    return found


def trained_ladders(
    divided: Divided, options: Options, rng: np.random.Generator
) -> tuple[list[LadderTrial], list[float]]:
    """Ladders of different dropout, those that did not diverge, and the losses of the first."""
    rows, inside = divided.rows, divided.inside
    inputs = rows.z.shape[1]
    training = training_for(rows.count, divided.columns, inputs, rows.outputs, ORDER, options)
    if options.verbose:
        print(f"{options.name}: {training}", file=sys.stderr)
    if training.share < 1:
        inside = np.sort(rng.permutation(inside)[: max(2, round(training.share * len(inside)))])
    part = rows.take(torch.from_numpy(inside))
    progress = Progress(options.verbose, f"{options.name} fit")
    fitted = fit_jobs([Job(plan, part) for plan in plans_of(training, options)], progress)
    found = []
    for each in fitted:
        scores = evaluate(each.model, rows.z[divided.held].double()).numpy()
        if not each.diverged and np.isfinite(scores).all():
            ladder = stack_models([each.model])
            found.append(LadderTrial(divided.name, ORDER, scores, np.arange(inputs), ladder))
    return found, fitted[0].curve


def plans_of(training: Training, options: Options) -> list[ModelPlan]:
    """One for each ladder."""
    family = LadderFamily((training.width,) * (ORDER - 1), bool(options.steps.batch_norm))
    rates = RATES if training.ladders > 1 else (1.0,)
    return [
        ModelPlan(
            family,
            "adam",
            iterations=training.epochs,
            batch_size=training.batch_size,
            alpha=None if options.alpha == "auto" else options.alpha,
            dropout=min(rates[i % len(rates)] * float(options.steps.dropout), MOST_DROPOUT),
            learning_rate=float(options.steps.learning_rate),
            seed=seed,
        )
        for i, seed in enumerate(seeds_from(options.seed, training.ladders))
    ]
