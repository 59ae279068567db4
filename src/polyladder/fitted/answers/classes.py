"""The answer of a classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from polyladder.fitted.answers.answer import Answer, Array
from polyladder.predictive.conformal import Thresholds


class Labelled(Answer):
    """What the answers of classes share."""

    labels: tuple[Any, ...]
    thresholds: Thresholds | None = None
    """Of sets of classes that were calibrated on rows left out, where there are some."""

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Of each class. Shape (n, classes)."""
        raise NotImplementedError

    def predict(self, outputs: Tensor) -> Array:
        """The most probable class of each row. Shape (n,)."""
        return np.array(self.labels)[self.probabilities(outputs).argmax(1).numpy()]

    def label(self, name: str, output: int) -> str:
        """Log-odds of the second of two classes, or the score of one of several."""
        two = len(self.labels) == 2
        return f"log-odds of {name} = {self.labels[1]}" if two else f"score of {self.labels[output]}"


@dataclass(frozen=True)
class Classes(Labelled):
    """Probabilities from the mean score over the ladders; of two classes the score is the log-odds of the second.

    Attributes:
        labels: of the classes, sorted.
        link: whether the scores of several classes are compared at once, or each class with all others.
        thresholds: of sets of classes that were calibrated on rows left out, where there are some.
    """

    labels: tuple[Any, ...]
    link: Literal["softmax", "one-versus-rest"]
    thresholds: Thresholds | None = None

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Of each class. Shape (n, classes)."""
        scores = outputs.mean(0)
        if scores.shape[1] == 1:
            return torch.cat([torch.zeros_like(scores), scores], 1).softmax(1)
        if self.link == "one-versus-rest":
            # The sigmoids divided by their sum, in logarithms: where all are tiny their ratios still count.
            return torch.nn.functional.logsigmoid(scores).softmax(1)
        return scores.softmax(1)
