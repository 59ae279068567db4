"""The answer of a posterior over classifications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from polyladder.fitted.answers.classes import Labelled
from polyladder.training.bayes.probit import NODES, class_probabilities

SUREST = 6.0
"""How far, in units of the latent noise, a draw's outputs may lie on one side: a chance of one in a billion. In an
empty corner they would grow without bound, and with them the price of being wrong."""

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Probit(Labelled):
    """The mean over the draws of probabilities: the sign, or the largest, of outputs plus standard normal noise.

    Attributes:
        labels: of the classes, sorted.
        surest: how far a draw's outputs may lie on one side.
    """

    labels: tuple[Any, ...]
    surest: float = SUREST

    by_member = True

    @property
    def nodes(self) -> Array:
        """Of the quadrature for several classes. Shape (nodes,)."""
        return np.polynomial.hermite_e.hermegauss(NODES)[0]

    @property
    def weights(self) -> Array:
        """Of the nodes, summing to one. Shape (nodes,)."""
        weights = np.polynomial.hermite_e.hermegauss(NODES)[1]
        return weights / weights.sum()

    def bounded(self, outputs: Tensor) -> Tensor:
        """Outputs of draws (..., m), none of them surer than ``surest``."""
        if outputs.shape[-1] == 1:
            return outputs.clamp(-self.surest, self.surest)
        return (outputs - outputs.amax(-1, keepdim=True)).clamp_min(-self.surest)

    def each(self, outputs: Tensor) -> Tensor:
        """The probabilities of every draw. Shape (draws, n, classes)."""
        return class_probabilities(self.bounded(outputs))

    def probabilities(self, outputs: Tensor) -> Tensor:
        """The mean over the draws. Shape (n, classes)."""
        return self.each(outputs).mean(0)
