"""What a selection found, without the rows that it was found on: enough to solve the same sum on more rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.kernel import Kernel
from polyladder.estimators.selection.candidates.ladders import LadderTrial
from polyladder.estimators.selection.candidates.linear import Linear
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.fold_ladders import pulls
from polyladder.estimators.selection.found import Selection
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import Reader
from polyladder.fitted.features import Features
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.kernels.relevance import Array, Relevance


@dataclass(frozen=True)
class Solve:
    """A model that counts in the sum.

    Attributes:
        order: of the polynomial.
        ridge: that was chosen.
        weight: in the sum.
    """

    order: int
    ridge: float
    weight: float


@dataclass(frozen=True, eq=False)
class KernelRecipe:
    """Kernels over the same directions.

    Attributes:
        features: how their inputs are made, in a word.
        scales: the relevance of the table's columns.
        directions: how many there may be.
        solves: one for each degree and ridge weight.
    """

    features: str
    scales: Relevance
    directions: int
    solves: tuple[Solve, ...]


@dataclass(frozen=True, eq=False)
class LaddersRecipe:
    """Ladders of one kind, to be solved on from where they are.

    Attributes:
        features: how their inputs are made, in a word.
        order: of the ladders.
        weight: in the sum.
        inputs: names of what they read.
        scale: the relevance of each input.
        start: the ladders as they were found. Batch shape (ladders,).
        unexplained: the share of the variance that they left.
    """

    features: str
    order: int
    weight: float
    inputs: tuple[str, ...]
    scale: Array
    start: LadderPolynomial
    unexplained: float


@dataclass(frozen=True, eq=False)
class SelectionRecipe:
    """What a selection found.

    Attributes:
        selection: its record.
        kind: how columns of numbers are scaled.
        ramps: of a column, at most; 0 where none count.
        columns: positions of the table's columns that say anything.
        outputs: of the model.
        rows: how many different rows it was found on.
        constant: weight of a constant, where classes are predicted.
        lines: linear models over the plain inputs.
        kernels: block by block.
        ladders: kind by kind.
    """

    selection: Selection
    kind: str
    ramps: int
    columns: tuple[int, ...]
    outputs: int
    rows: int
    constant: float
    lines: tuple[Solve, ...]
    kernels: tuple[KernelRecipe, ...]
    ladders: tuple[LaddersRecipe, ...]

    @property
    def straight(self) -> bool:
        """Whether all that counts is a line."""
        return not self.ladders and all(s.order <= 1 for kernel in self.kernels for s in kernel.solves)


def recipe_of(
    selection: Selection,
    features: Features,
    problem: Problem,
    used: Sequence[tuple[Trial, float]],
    readers: Sequence[Reader],
    directions: int,
) -> SelectionRecipe:
    """The recipe of a sum that was chosen.

    Args:
        selection: its record.
        features: in front of it.
        problem: that it was chosen for.
        used: trials that count, and their weights.
        readers: what ladders may read.
        directions: of a kernel, at most.
    """
    blocks: dict[int, Block] = {}
    solves: dict[int, list[Solve]] = {}
    ladders, lines, constant = [], [], 0.0
    for trial, weight in used:
        match trial:
            case LadderTrial():
                ladders.append(ladders_of(trial, weight, features, problem, readers))
            case Kernel():
                blocks[id(trial.block)] = trial.block
                solves.setdefault(id(trial.block), []).append(Solve(trial.order, trial.ridge, weight))
            case Linear():
                lines.append(Solve(trial.order, trial.ridge, weight))
            case _:
                constant += weight
    kernels = [
        KernelRecipe(block.features, block.scales, max(directions, len(block.directions.slopes)), tuple(solves[key]))
        for key, block in blocks.items()
    ]
    return SelectionRecipe(
        selection,
        features.kind,
        features.ramps if features.ramps_ is not None else 0,
        tuple(np.unique(features.groups()).tolist()),
        problem.y.shape[1],
        len(problem.y),
        constant,
        tuple(lines),
        tuple(kernels),
        tuple(ladders),
    )


def ladders_of(
    trial: LadderTrial, weight: float, features: Features, problem: Problem, readers: Sequence[Reader]
) -> LaddersRecipe:
    """What is kept of ladders that count."""
    (reader,) = [each for each in readers if each.features == trial.features]
    names = tuple(features.feature_names_out_[i] for i in trial.columns)
    unexplained = float(pulls(problem, trial.left_out).var() / pulls(problem, np.zeros_like(trial.left_out)).var())
    return LaddersRecipe(trial.features, trial.order, weight, names, reader.scale, trial.ladder, unexplained)
