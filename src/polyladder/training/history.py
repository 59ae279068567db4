"""The record of a training run: what is known of every model while it trains, and what is handed back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class History:
    """What happened in training.

    Args:
        training_loss: mean loss over the batches of each epoch, without the L2 penalty, measured while the weights
            moved; NaN where a model no longer trained. Shape (*batch_shape, epochs), float64.
        validation_loss: mean loss over the validation rows after each epoch, or None. Same shape.
        epochs: completed epochs. Shape batch_shape, int64.
        best_epoch: the epoch, counted from 1, whose weights the model has now. Shape batch_shape, int64.
        diverged: whether the loss or its gradient stopped being finite. Shape batch_shape, bool.
        stopped: whether patience ended the training. Shape batch_shape, bool.
        interrupted: whether the user ended it (KeyboardInterrupt).
        seconds: wall time.
    """

    training_loss: Tensor
    validation_loss: Tensor | None
    epochs: Tensor
    best_epoch: Tensor
    diverged: Tensor
    stopped: Tensor
    interrupted: bool
    seconds: float


class Book:
    """What is known of every model of the flattened batch, whether it still trains or not."""

    def __init__(self, models: int, validated: bool) -> None:
        self.running = torch.ones(models, dtype=torch.bool)
        self.diverged = torch.zeros(models, dtype=torch.bool)
        self.stopped = torch.zeros(models, dtype=torch.bool)
        self.epochs = torch.zeros(models, dtype=torch.int64)
        self.best_epoch = torch.zeros(models, dtype=torch.int64)
        self.best_loss = torch.full((models,), math.inf, dtype=torch.float64)
        self.curves: tuple[list[Tensor], ...] = ([], []) if validated else ([],)
        self.interrupted = False

    def note(self, curve: int, members: Tensor, losses: Tensor) -> None:
        """Add an epoch to the training (0) or validation (1) curve: NaN for models that no longer train."""
        everyone = torch.full(self.running.shape, math.nan, dtype=torch.float64)
        everyone[members] = torch.where(self.running[members], losses, math.nan)
        self.curves[curve].append(everyone)

    def mostly_stopped(self, members: Tensor) -> bool:
        """Whether patience has ended at least half of these models, so that computing the others alone pays.

        Diverged models do not count: with them, the others would go on with other draws of dropout.
        """
        return bool(2 * self.stopped[members].sum() >= len(members))

    def history(self, batch_shape: Sequence[int], seconds: float) -> History:
        """The book, closed, in the shape of the batch."""
        # An interrupt between training and validation leaves the validation curve one epoch short.
        epochs = min(map(len, self.curves))
        empty = torch.empty(*batch_shape, 0, dtype=torch.float64)
        curves = [torch.stack(c[:epochs], -1).reshape(*batch_shape, -1) if epochs else empty for c in self.curves]
        return History(
            training_loss=curves[0],
            validation_loss=curves[1] if len(curves) > 1 else None,
            epochs=self.epochs.reshape(batch_shape),
            best_epoch=torch.where(self.best_epoch > 0, self.best_epoch, self.epochs).reshape(batch_shape),
            diverged=self.diverged.reshape(batch_shape),
            stopped=self.stopped.reshape(batch_shape),
            interrupted=self.interrupted,
            seconds=seconds,
        )
