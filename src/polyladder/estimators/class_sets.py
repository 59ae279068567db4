"""How large sets of classes must be to hold the label, learned from rows that were left out."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from polyladder.predictive.conformal import Thresholds, class_scores, class_thresholds

LEVELS = (*(i / 100 for i in range(1, 100)), 0.995, 0.999)
"""Probabilities whose sets are calibrated, as far as there are rows enough. Sets of higher ones hold every class."""


@dataclass(frozen=True, eq=False)
class LeftOutScores:
    """What a model, or models like it, said of rows that it did not see, and what these were.

    Attributes:
        scores: log-odds of the second of two classes, or one score per class. Shape (n, m).
        classes: number of each row's class. Shape (n,), int64.
        weight: of the rows. Shape (n,).
    """

    scores: Tensor
    classes: Tensor
    weight: Tensor


def learn_thresholds(probabilities: Tensor, classes: Tensor, weight: Tensor | None = None) -> Thresholds:
    """Thresholds of sets that held the classes of these rows.

    Args:
        probabilities: of the classes at rows that the model did not see. Shape (n, classes).
        classes: number of each row's class. Shape (n,), int64.
        weight: of the rows; None for equal ones. Shape (n,).
    """
    return class_thresholds(class_scores(probabilities, classes), LEVELS, weight)
