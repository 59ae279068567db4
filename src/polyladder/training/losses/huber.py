"""The Huber loss: squares of small errors, absolute values of large ones, so that gross errors in y pull little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from polyladder.training.losses.loss import Loss

THRESHOLD = 1.345
"""Errors beyond this many standard deviations of the noise count linearly; for normal noise this has 95 % of the
efficiency of squares."""

NORMAL = 1.4826
"""The standard deviation of a normal variable divided by its median absolute value."""

CONSISTENT = 0.7102
"""The mean square of a standard normal variable that is held to `THRESHOLD`."""

LEAST_SCALE = 0.01
"""The noise is assumed to be at least this part of the spread of the targets; with less, all errors may count as
squares."""

LOCATION_STEPS = 100
"""Steps to the best constant, at most; a few are usual."""

LOCATION_GAIN = 1e-12
"""The change, relative to the thresholds, at which steps to the best constant end."""


@dataclass(frozen=True)
class Huber(Loss):
    """(f - y)^2 up to a threshold t, and 2 t |f - y| - t^2 beyond.

    A threshold is 1.345 times the scale of the noise, which is 1.4826 times the median absolute error of a first fit
    on rows that it did not see (`settle`). Without a first fit the errors are those of the median of the targets.

    Attributes:
        thresholds: of each output, or one for all; () before they are found.
    """

    thresholds: tuple[float, ...] = ()

    name: ClassVar[str] = "huber"
    measure: ClassVar[str] = "Huber loss"
    curvature: ClassVar[float | None] = 2.0

    def __post_init__(self) -> None:
        if not all(isinstance(t, float) and 0 < t < float("inf") for t in self.thresholds):
            raise ValueError(f"thresholds must be positive numbers, one for each output; got {self.thresholds!r}.")

    def check_outputs(self, out_features: int) -> None:
        """Refuse another number of outputs than there are thresholds."""
        if len(self.thresholds) not in (0, 1, out_features):
            raise ValueError(f"thresholds must be {out_features}, one for each output, or 1; got {self.thresholds!r}.")

    def standards(self, y: Tensor, share: Tensor) -> tuple[Tensor, Tensor]:
        """The median, and 1.4826 times the median distance from it; the usual spread where more than half are equal."""
        _, spread = super().standards(y, share)
        center = medians(y, share)
        scale = NORMAL * medians((y - center).abs(), share)
        return center, torch.where(scale > 0, scale, spread)

    @property
    def settled(self) -> bool:
        """Whether the thresholds are known."""
        return bool(self.thresholds)

    def settle(self, outputs: Tensor, target: Tensor, weight: Tensor | None = None) -> Huber:
        """The loss with thresholds from the errors of a first fit."""
        share = torch.full_like(target[:, 0], 1 / len(target)) if weight is None else (weight / weight.sum()).to(target)
        spread = self.standards(target, share)[1]
        scale = (NORMAL * medians((target - outputs).abs(), share)).maximum(LEAST_SCALE * spread)
        scale = torch.where(scale > 0, scale, torch.ones_like(scale))
        return Huber(tuple((THRESHOLD * scale).tolist()))

    def held(self, errors: Tensor) -> Tensor:
        """Errors (..., m), clipped to the thresholds."""
        t = errors.new_tensor(self.thresholds)
        return errors.clamp(-t, t)

    def each(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        error = outputs - target
        held = self.held(error)
        return held * (2 * error - held)

    def slopes(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Twice the clipped errors."""
        return 2 * self.held(outputs - target)

    def curvatures(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Two up to the threshold, zero beyond."""
        error = outputs - target
        return torch.where(self.held(error) == error, 2.0, 0.0).to(outputs.dtype)

    def scatter(self, outputs: Tensor, target: Tensor) -> Tensor:
        """Squares of clipped errors, scaled so that normal noise keeps its variance: a gross error adds little."""
        return self.held(outputs - target).square().sum(-1) / CONSISTENT

    def bound(self, outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """The tightest squares around the target: their weight is the threshold over the error, 1 where that is less.

        Several outputs of a row share its weight, the largest of theirs; the responses of the others move nearer.
        """
        error = target - outputs
        held = self.held(error)
        own = torch.where(held == error, 1.0, held / error)
        weight = own.amax(-1, keepdim=True)
        response = target.expand_as(outputs) if own.shape[-1] == 1 else outputs + own / weight * error
        return response, weight[..., 0]

    def constant(self, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """Huber's location: starts at the median and moves to where clipped errors sum to zero."""
        share = torch.full_like(target[:, 0], 1 / len(target)) if weight is None else (weight / weight.sum()).to(target)
        center, t = medians(target, share), target.new_tensor(self.thresholds)
        for _ in range(LOCATION_STEPS):
            error = target - center
            held = self.held(error)
            weights = share.unsqueeze(-1) * torch.where(held == error, 1.0, held / error)
            step = (weights * error).sum(0) / weights.sum(0)
            center = center + step
            if bool((step.abs() <= LOCATION_GAIN * t).all()):
                break
        return center


def medians(values: Tensor, share: Tensor) -> Tensor:
    """The median of each column (n, m) of rows whose shares (n,) sum to 1. Shape (m,)."""
    ordered, order = values.sort(0)
    reached = share[order].cumsum(0)
    # Where one row ends exactly at the half, the median lies between it and the next.
    first = (reached < 0.5 - 1e-12).sum(0, keepdim=True).clamp_max(len(values) - 1)
    then = (reached <= 0.5 + 1e-12).sum(0, keepdim=True).clamp_max(len(values) - 1)
    return (ordered.gather(0, first) + ordered.gather(0, then))[0] / 2
