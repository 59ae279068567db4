"""The record of a training run: what is known of every model while it trains, and what is returned."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Progress = Callable[..., object]
"""Called after each step with its number and the losses that `TrainingLog.latest` returns."""


@dataclass(frozen=True, eq=False)
class History:
    """How training went. A step is an epoch of Adam, a sweep of block solves, a Gauss-Newton step.

    Args:
        training_loss: after each step; NaN where a model no longer trained. For exact solves it is the mean loss plus
            ridge; for Adam the mean loss over the batches of the epoch, without the L2 penalty, measured while the
            weights changed. Shape (*batch_shape, steps), float64.
        validation_loss: mean loss over the validation rows after each step, or None. Same shape.
        steps: completed steps. Shape batch_shape, int64.
        best: the step, counted from 1, whose weights the model has now. Shape batch_shape, int64.
        diverged: whether the loss or its gradient stopped being finite; such a model keeps its last finite weights.
            Shape batch_shape, bool.
        stopped: whether patience or tolerance ended the training. Shape batch_shape, bool.
        interrupted: whether the user ended it (KeyboardInterrupt).
        seconds: wall time.
    """

    training_loss: Tensor
    validation_loss: Tensor | None
    steps: Tensor
    best: Tensor
    diverged: Tensor
    stopped: Tensor
    interrupted: bool
    seconds: float


class TrainingLog:
    """What is known of every model of the flattened batch, whether it still trains or not."""

    def __init__(self, models: int, validated: bool) -> None:
        self.running = torch.ones(models, dtype=torch.bool)
        self.diverged = torch.zeros(models, dtype=torch.bool)
        self.stopped = torch.zeros(models, dtype=torch.bool)
        self.steps = torch.zeros(models, dtype=torch.int64)
        self.best = torch.zeros(models, dtype=torch.int64)
        self.best_loss = torch.full((models,), math.inf, dtype=torch.float64)
        self.curves: tuple[list[Tensor], ...] = ([], []) if validated else ([],)
        self.interrupted = False
        self.began = time.perf_counter()

    def advance(self, members: Tensor, losses: Tensor, finite: Tensor) -> None:
        """Note a step of the models that are running; those whose loss or gradient is not finite end here.

        Args:
            members: the models computed, by their positions in the flattened batch. Shape (k,).
            losses: their training losses. Shape (k,).
            finite: which of them may go on. Shape (k,), bool.
        """
        failed = members[~finite & self.running[members]]
        self.diverged[failed], self.running[failed] = True, False
        self.steps += self.running
        self.note(0, members, losses)

    def validate(self, members: Tensor, losses: Tensor, patience: int | None) -> Tensor:
        """Record validation losses, stop models that have run out of patience, and return which are at their best.

        Returns:
            Which of the members have their lowest validation loss now. Shape (k,), bool.
        """
        self.note(1, members, losses)
        improved = self.running[members] & (losses < self.best_loss[members])
        better = members[improved]
        self.best_loss[better], self.best[better] = losses[improved], self.steps[better]
        if patience is not None:
            self.stop(self.running & (self.steps - self.best >= patience))
        return improved

    def stop(self, models: Tensor) -> None:
        """End the training of the given models, by position or mask, as far as they are running."""
        self.stopped[models] |= self.running[models]
        self.running[models] = False

    def note(self, curve: int, members: Tensor, losses: Tensor) -> None:
        """Add a step to the training (0) or validation (1) curve: NaN for models that no longer train."""
        everyone = torch.full(self.running.shape, math.nan, dtype=torch.float64)
        everyone[members] = torch.where(self.running[members], losses, math.nan)
        self.curves[curve].append(everyone)

    def latest(self, batch_shape: Sequence[int]) -> list[Tensor]:
        """The training loss and, if there is one, the validation loss of the last step. Shapes batch_shape."""
        return [curve[-1].reshape(tuple(batch_shape)) for curve in self.curves]

    def mostly_stopped(self, members: Tensor) -> bool:
        """Whether patience has ended at least half of these models, so that it pays to compute the others alone.

        Diverged models do not count, because the draws of dropout of the others would change with them.
        """
        return bool(2 * self.stopped[members].sum() >= len(members))

    def record(self, batch_shape: Sequence[int]) -> dict[str, Any]:
        """The fields of a `History`, in the shape of the batch."""
        # An interrupt between training and validation leaves the validation curve one step short.
        steps = min(map(len, self.curves))
        empty = torch.empty(*batch_shape, 0, dtype=torch.float64)
        curves = [torch.stack(c[:steps], -1).reshape(*batch_shape, -1) if steps else empty for c in self.curves]
        return {
            "training_loss": curves[0],
            "validation_loss": curves[1] if len(curves) > 1 else None,
            "steps": self.steps.reshape(batch_shape),
            "best": torch.where(self.best > 0, self.best, self.steps).reshape(batch_shape),
            "diverged": self.diverged.reshape(batch_shape),
            "stopped": self.stopped.reshape(batch_shape),
            "interrupted": self.interrupted,
            "seconds": time.perf_counter() - self.began,
        }
