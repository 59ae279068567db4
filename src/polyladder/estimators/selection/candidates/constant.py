"""The best constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from polyladder.estimators.selection.candidates.total import Total
from polyladder.estimators.selection.candidates.trial import Trial
from polyladder.training.kernels.relevance import Array
from polyladder.training.losses.loss import Loss


@dataclass(frozen=True, eq=False)
class Constant(Trial):
    """The same outputs for all rows.

    Attributes:
        offset: the outputs. Shape (m,).
    """

    model: ClassVar[str] = "constant"

    offset: Array

    def add_to(self, total: Total, weight: float) -> None:
        """Add its outputs."""
        total.offset += weight * self.offset


def best_constant(loss: Loss, target: Array, weight: Array, features: str, rows: int) -> Constant:
    """The constant that rows lead to, such as the shares of classes as scores.

    Args:
        loss: settled.
        target: coded. Shape (n, m).
        weight: of the rows. Shape (n,).
        features: in a word.
        rows: how many are compared.
    """
    offset = loss.constant(torch.from_numpy(target), torch.from_numpy(weight)).numpy()
    return Constant(features, 0, np.tile(offset, (rows, 1)), offset)
