"""What a selection found, and its errors at rows left out: enough to solve the same sum on more rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyladder.estimators.class_sets import LeftOutScores
from polyladder.estimators.selection.candidates.kernel import Kernel
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.elsewhere import without_rows
from polyladder.estimators.selection.found import Selection
from polyladder.estimators.selection.problem import Problem
from polyladder.estimators.selection.readers import Reader
from polyladder.estimators.spread import LeftOut
from polyladder.fitted.features import Features
from polyladder.training.kernels.relevance import Array


@dataclass(frozen=True, eq=False)
class SelectionRecipe:
    """What a selection found; the rows themselves are those of its errors alone.

    Attributes:
        selection: its record.
        features: in front of the sum.
        rows: how many different rows it was found on.
        outputs: of the model.
        used: the candidates that count, and their weights in the sum.
        scales: the relevance of each input of ladders, by how these inputs are made.
        directions: how many a kernel may have.
        left_out: errors of the sum, or its scores of classes, at rows left out.
    """

    selection: Selection
    features: Features
    rows: int
    outputs: int
    used: tuple[tuple[Trial, float], ...]
    scales: Mapping[str, Array]
    directions: int
    left_out: LeftOut | LeftOutScores | None

    @property
    def ramps(self) -> int:
        """Ramps of a column, at most; 0 where none count."""
        return 0 if self.features.ramps_ is None else self.features.ramps

    @property
    def columns(self) -> tuple[int, ...]:
        """Positions of the table's columns that say anything."""
        return columns_of(self.features)

    @property
    def straight(self) -> bool:
        """Whether all that counts is a line."""
        return all(trial.order <= 1 for trial, _ in self.used)


def columns_of(features: Features) -> tuple[int, ...]:
    """Positions of the table's columns that fitted features read."""
    return tuple(np.unique(features.groups()).tolist())


def recipe_of(
    selection: Selection,
    features: Features,
    problem: Problem,
    used: Sequence[tuple[Trial, float]],
    readers: Sequence[Reader],
    directions: int,
    left_out: LeftOut | LeftOutScores | None,
) -> SelectionRecipe:
    """The recipe of a sum that was chosen.

    Args:
        selection: its record.
        features: in front of it.
        problem: that it was chosen for.
        used: trials that count, and their weights.
        readers: what ladders may read.
        directions: of a kernel, at most.
        left_out: errors of the sum, or its scores of classes, at rows left out.
    """
    bare = {id(trial.block): without_rows(trial.block) for trial, _ in used if isinstance(trial, Kernel)}
    kept = [
        (replace(trial, block=bare[id(trial.block)]) if isinstance(trial, Kernel) else trial, weight)
        for trial, weight in used
    ]
    scales = {reader.features: reader.scale for reader in readers}
    rows, outputs = problem.y.shape
    return SelectionRecipe(selection, features, rows, outputs, tuple(kept), scales, directions, left_out)
