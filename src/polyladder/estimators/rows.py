"""Training rows, ready for a solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.polynomial.sparse import take_rows
from polyladder.training.losses.logistic import Logistic
from polyladder.training.losses.loss import Loss

REPETITIONS = 10
"""Largest mean at which whole sample weights are taken as numbers of repetitions."""

MANY_ROWS = 4000
"""From this many rows on the defaults are larger models, and fewer of them or fewer sweeps."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What models are fitted to.

    Attributes:
        z: transformed features, dense or CSR. Shape (n, d), float64.
        y: targets: standardized numbers (n, m) float64, or class numbers (n,) int64.
        weight: sample weights (n,), or None.
        outputs: how many outputs the model needs.
        loss: what it is fitted by.
    """

    z: Tensor
    y: Tensor
    weight: Tensor | None
    outputs: int
    loss: Loss

    @property
    def coded(self) -> Tensor:
        """The targets as the methods of the loss read them."""
        return self.loss.coded(self.y, len(self.y), self.outputs, torch.float64)

    @property
    def repeated(self) -> bool:
        """Whether the weights are whole numbers: then they say how often a row is there."""
        return self.weight is not None and bool((self.weight == self.weight.round()).all())

    @property
    def count(self) -> int:
        """How many rows there are to train on, repetitions counted."""
        if self.weight is None:
            return len(self.z)
        return int(self.weight.sum() if self.repeated else (self.weight > 0).sum())

    @property
    def many(self) -> bool:
        """Whether there are so many rows that defaults change."""
        return self.count >= MANY_ROWS

    def take(self, index: Tensor) -> TrainingRows:
        """Some of the rows, by number."""
        weight = None if self.weight is None else self.weight[index]
        return replace(self, z=take_rows(self.z, index), y=self.y[index], weight=weight)

    def one_class(self, number: int) -> TrainingRows:
        """The rows with one class against all others as the target."""
        return replace(self, y=(self.y == number).long(), outputs=1, loss=Logistic())


def settle_weights(weight: np.ndarray[Any, Any]) -> Tensor:
    """Sample weights as the solvers take them: whole numbers are repetitions, all others get mean 1.

    The estimate of the ridge weights counts rows. Weights that sum to 1 would make it believe in a single row, so
    where they cannot be repetitions, or would be more than `REPETITIONS` of them per row, only their ratios count.
    """
    positive = weight[weight > 0]
    if not positive.size:
        raise ValueError("sample_weight must leave some rows; every weight is zero.")
    repetitions = bool((weight == weight.round()).all()) and positive.mean() <= REPETITIONS
    return torch.tensor(weight if repetitions else weight / positive.mean())
