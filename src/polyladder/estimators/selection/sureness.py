"""How sure a sum of classes may be: one factor for its scores, by rows that were left out."""

from __future__ import annotations

import math

import torch
from scipy.optimize import minimize_scalar

from polyladder.estimators.selection.judge import CAUTION
from polyladder.training.kernels.relevance import Array
from polyladder.training.losses.loss import Loss

MOST = 3.0
"""Scores are multiplied by at most this number, and by at least its inverse."""

CHANCE = 0.5
"""Log loss, times the number of rows, that one fitted number gains by chance (Wilks)."""

LEAST_STEP = 0.01
"""A factor whose logarithm is smaller than this is taken for 1."""


def sureness(loss: Loss, scores: Array, classes: Array, weight: Array) -> float:
    """What scores are multiplied by so that the log loss of rows left out is least; 1 where that gains little.

    Of the gain, only what exceeds chance is believed: by this share the logarithm of the best factor is shrunk, as an
    estimate of James and Stein's is. One row in n + 2 counts as wrong even where none is (the rule of succession), so
    that a few rows which are all right do not make the scores certain.

    Args:
        loss: of classes.
        scores: of rows by fits without them. Shape (n, m).
        classes: 0 or 1, of the second of two classes alone. Shape (n, m).
        weight: of the rows. Shape (n,).
    """
    n, wrong = len(scores), 1 / (len(scores) + 2)
    target = torch.from_numpy((1 - wrong) * classes + wrong / max(2, classes.shape[1]))
    outputs, counts = torch.from_numpy(scores), torch.from_numpy(weight)

    def error(step: float) -> float:
        return loss.deviance(math.exp(step) * outputs, target, counts)

    # Convex in the factor, so that there is one minimum along its logarithm too.
    reach = math.log(MOST)
    best = minimize_scalar(error, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-4})
    gain = n * (error(0.0) - float(best.fun))
    # Few rows can look more certain than they are: the standard error counts as that much larger.
    chance = CHANCE * (1 + CAUTION / n) ** 2
    step = max(0.0, 1 - chance / gain) * float(best.x) if gain > 0 else 0.0
    return math.exp(step) if abs(step) > LEAST_STEP else 1.0
