"""Rows, a kernel over them, and what a candidate adds to a sum."""

from __future__ import annotations

import numpy as np
import torch

from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.estimators.selection.problem import Problem
from polyladder.training.kernels.directions import pick_directions
from polyladder.training.kernels.relevance import Relevance
from tests.estimators.selection.problems import problem_of

RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 3))
Y = X[:, :1] * X[:, 1:2] + 0.1 * RNG.normal(size=(60, 1))
CLASSES = (Y > 0).astype(float)


def problem(classes: np.ndarray | None = None, rows: int = 60) -> Problem:
    return problem_of(Y, classes, np.ones(60), np.arange(rows), np.arange(rows) % 3, 3)


def block(rows: int = 60) -> Block:
    scales = Relevance(np.full(3, 0.5), 0.02, 1.0, 2)
    directions = pick_directions(X, scales, np.arange(3), 30, np.random.default_rng(1), 3)
    return Block("standard", np.arange(3), X, np.arange(3), scales, directions, directions.along(X[:rows]))


def outputs(trial: Trial, weight: float = 1.0) -> np.ndarray:
    """What the candidate adds to a sum, at all rows."""
    total = Total(3, 1)
    trial.add_to(total, weight)
    return sum(part(torch.from_numpy(X)) for part in total.parts()).numpy()
