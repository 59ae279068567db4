"""The log loss of several classes, by one score for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from polyladder.training.losses.logistic import SURE
from polyladder.training.losses.loss import Loss, Reach


@dataclass(frozen=True)
class Softmax(Loss):
    """Cross-entropy over the outputs. Targets are class numbers (n,) or shares of the classes (n, m).

    The bound of `Loss` is Boehning's: no eigenvalue of the matrix of second derivatives is above 1/2.
    """

    name: ClassVar[str] = "softmax"
    measure: ClassVar[str] = "log loss"
    answer: ClassVar[Literal["numbers", "classes"]] = "classes"
    by_rows: ClassVar[bool] = False
    curvature: ClassVar[float | None] = 0.5
    noise: ClassVar[float | None] = 0.5

    def coded(self, y: Tensor, rows: int, out_features: int, dtype: torch.dtype) -> Tensor:
        """Check class numbers 0, ..., m - 1. Shape (n,), int64."""
        if y.is_floating_point() or y.is_complex() or tuple(y.shape) != (rows,):
            raise ValueError(
                f"y must hold one whole number per row, shape ({rows},), for the loss 'softmax'; "
                f"got shape {tuple(y.shape)} of {y.dtype}."
            )
        if y.min() < 0 or y.max() >= out_features:
            raise ValueError(
                f"y must be in 0, ..., {out_features - 1}, one class per output; got {int(y.min())} to {int(y.max())}."
            )
        return y.long()

    def each(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The log loss of the row, as one column."""
        if target.is_floating_point():
            return (outputs.logsumexp(-1) * target.sum(-1) - (outputs * target).sum(-1)).unsqueeze(-1)
        classes = target.expand(outputs.shape[:-1])
        found = F.cross_entropy(outputs.flatten(0, -2), classes.reshape(-1), reduction="none")
        return found.view(*classes.shape, 1)

    def slopes(self, outputs: Tensor, target: Tensor) -> Tensor:
        """By how much each probability is too high."""
        return probabilities(outputs) - shares(target, outputs)

    def curvatures(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The variance of each class."""
        p = probabilities(outputs)
        return p * (1 - p)

    def link(self, mean: Tensor) -> Tensor:
        """Logarithms of the probabilities."""
        return mean.clamp(SURE, 1 - SURE).log()

    def mean(self, outputs: Tensor) -> Tensor:
        """The probability of each class."""
        return probabilities(outputs)

    def worst(self, outputs: Tensor, target: Tensor, readout: Tensor, reach: Reach) -> Tensor:
        """Differences of outputs are bounded directly, so that what two classes have in common cancels."""
        classes = target.expand(outputs.shape[:-1]).unsqueeze(-1)
        rise = reach(readout.unsqueeze(-3) - readout.take_along_dim(classes, -2).unsqueeze(-2))
        return self.rows(outputs - outputs.take_along_dim(classes, -1) + rise, target)


def probabilities(outputs: Tensor) -> Tensor:
    """Softmax over the last dimension. Torch's own takes more than twice as long over a few classes."""
    grown = (outputs - outputs.amax(-1, keepdim=True)).exp()
    return grown / grown.sum(-1, keepdim=True)


def shares(target: Tensor, outputs: Tensor) -> Tensor:
    """Class numbers as shares of the classes; targets that are shares are returned as they are. Shape (..., n, m)."""
    if target.is_floating_point():
        return target
    return F.one_hot(target, outputs.shape[-1]).to(outputs.dtype)
