"""Problems of a selection, written in a line."""

from __future__ import annotations

import numpy as np

from polyladder.estimators.gradient_training import GradientTraining
from polyladder.estimators.selection.options import EFFORTS, Options
from polyladder.estimators.selection.problem import Problem
from polyladder.fitted.features import Features
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.softmax import Softmax
from polyladder.training.losses.squared import SQUARED

OPTIONS = Options(
    name="LPNNRegressor",
    features=Features(missing="error"),
    kinds=("standard",),
    piecewise=True,
    ramped=True,
    effort=EFFORTS["default"],
    width=None,
    models=None,
    iterations=None,
    ladder_seconds=10.0,
    max_seconds=None,
    tolerance=1e-3,
    alpha="auto",
    steps=GradientTraining(),
    seed=0,
    verbose=False,
)
"""What a choice is made of by default."""


def problem_of(
    y: np.ndarray, classes: np.ndarray | None, weight: np.ndarray, chosen: np.ndarray, fold: np.ndarray, folds: int
) -> Problem:
    """Of numbers, or of classes where these are given as columns of 0 and 1."""
    if classes is None:
        return Problem(y, y, SQUARED, weight, chosen, fold, folds)
    return Problem(y, classes, Logistic() if classes.shape[1] == 1 else Softmax(), weight, chosen, fold, folds)
