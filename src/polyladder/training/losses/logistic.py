"""The log loss of two classes, by the log-odds of the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from polyladder.training.losses.loss import Loss

SURE = 1e-6
"""Shares of classes are kept this far from 0 and 1, so that their log-odds are finite."""


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(f)) - y f, each output on its own. Targets are 0 and 1, or shares of the second class."""

    name: ClassVar[str] = "logistic"
    measure: ClassVar[str] = "log loss"
    answer: ClassVar[Literal["numbers", "classes"]] = "classes"
    by_rows: ClassVar[bool] = False
    curvature: ClassVar[float | None] = 0.25
    noise: ClassVar[float | None] = 0.5

    def check_values(self, target: Tensor) -> None:
        """Refuse all but 0 and 1."""
        if not bool(((target == 0) | (target == 1)).all()):
            raise ValueError(
                f"y must hold only 0 and 1 for the loss 'logistic'; got {target.min():g} to {target.max():g}."
            )

    def check_outputs(self, out_features: int) -> None:
        """Refuse several outputs: each would have weights of its own in the bound."""
        if out_features != 1:
            raise ValueError(
                f"The model must have 1 output for the loss 'logistic'; got {out_features}. Use 'softmax'."
            )

    def each(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The log loss."""
        return F.binary_cross_entropy_with_logits(outputs, target.expand(outputs.shape), reduction="none")

    def slopes(self, outputs: Tensor, target: Tensor) -> Tensor:
        """By how much the probability is too high."""
        return outputs.sigmoid() - target

    def curvatures(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The variance of the class."""
        p = outputs.sigmoid()
        return p * (1 - p)

    def bound(self, outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """As by Jaakkola and Jordan: the tightest bound that is even in f, with weight tanh(f / 2) / (4 f)."""
        small = outputs.abs() < 1e-4
        safe = torch.where(small, torch.ones_like(outputs), outputs)
        weight = torch.where(small, torch.full_like(outputs, 0.125), (safe / 2).tanh() / (4 * safe))
        return (2 * target - 1) / (4 * weight), weight[..., 0]

    def link(self, mean: Tensor) -> Tensor:
        """Log-odds."""
        inside = mean.clamp(SURE, 1 - SURE)
        return (inside / (1 - inside)).log()

    def mean(self, outputs: Tensor) -> Tensor:
        """The probability of the second class."""
        return outputs.sigmoid()
