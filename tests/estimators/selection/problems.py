"""Problems of a selection, written in a line."""

from __future__ import annotations

import numpy as np

from polyladder.estimators.selection.problem import Problem
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED


def problem_of(
    y: np.ndarray, classes: np.ndarray | None, weight: np.ndarray, chosen: np.ndarray, fold: np.ndarray, folds: int
) -> Problem:
    """Of numbers, or of classes where these are given as columns of 0 and 1."""
    if classes is None:
        return Problem(y, y, SQUARED, weight, chosen, fold, folds)
    return Problem(y, classes, Logistic() if classes.shape[1] == 1 else Softmax(), weight, chosen, fold, folds)
