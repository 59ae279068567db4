"""Adam on mini-batches for many networks at once, each trained as if it were alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from polyladder.models.batched import BatchedModule, Seeds, generators, per_model, positive_integer
from polyladder.training.gradient.checkpoint import read_checkpoint, write_checkpoint
from polyladder.training.gradient.data import TrainingData, check_movable, checked_data
from polyladder.training.gradient.model_batch import ModelBatch, Settings, copy_models
from polyladder.training.gradient.robust import Robust
from polyladder.training.gradient.row_stream import RowStream
from polyladder.training.history import History, Progress, TrainingLog
from polyladder.training.losses import AnyLoss
from polyladder.training.rows import Rows


@dataclass(frozen=True)
class Adam:
    """How to train. Where a tensor of shape ``batch_shape`` is accepted, each model may have its own value.

    Args:
        epochs: passes over a model's rows.
        batch_size: rows of a step. A model's permutations follow each other without a gap, so every batch is full; with
            fewer rows than this a model sees some of them twice in a step.
        learning_rate: Adam's, at the start of the schedule. One number, or shape batch_shape.
        l2: lambda of the penalty ``lambda * sum(w ** 2)`` that joins the mean loss. It covers the weights, which are
            the parameters with at least two dimensions behind ``batch_shape``, and neither intercepts nor batch norm.
            It is part of the gradient that is clipped, not a separate decay. One number, or shape batch_shape.
        schedule: ``"constant"``, or ``"cosine"``: from the learning rate to 0 over the steps of all epochs.
        clip: largest norm of a model's gradient, or None. One number, or shape batch_shape.
        patience: a model stops after this many epochs in a row without a new best validation loss; None: never early.
        jacobian_penalty: weight of the mean over the rows of the sum of squares of all derivatives of the outputs by
            the inputs, in closed form. It joins the loss as the L2 penalty does. For ladders. One number, or shape
            batch_shape.
        robust: train on the worst loss near each row; training and validation losses are then worst losses too. For
            ladders.
    """

    epochs: int = 100
    batch_size: int = 32
    learning_rate: float | Tensor = 1e-3
    l2: float | Tensor = 0.0
    schedule: Literal["constant", "cosine"] = "constant"
    clip: float | Tensor | None = None
    patience: int | None = None
    jacobian_penalty: float | Tensor = 0.0
    robust: Robust | None = None

    def __post_init__(self) -> None:
        positive_integer("epochs", self.epochs)
        positive_integer("batch_size", self.batch_size)
        if self.patience is not None:
            positive_integer("patience", self.patience)
        if self.schedule not in ("constant", "cosine"):
            raise ValueError(f"schedule must be 'constant' or 'cosine'; got {self.schedule!r}.")


def train(
    net: BatchedModule,
    x: Tensor,
    y: Tensor,
    *,
    loss: AnyLoss = "squared",
    options: Adam | None = None,
    rows: Rows = None,
    validation: Rows = None,
    sample_weight: Tensor | None = None,
    seed: Seeds = 0,
    progress: Progress | None = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    checkpoint: Path | None = None,
) -> History:
    """Train every network of a batch by Adam on mini-batches, in place, and leave it in ``eval`` mode.

    Within a process group of ``torch.distributed`` (torchrun) every process computes its share of each mini-batch, with
    the batch norm of all rows: with dropout off the losses are those of one process, to rounding.

    Each model minimizes its own mean loss plus L2 penalty. A model does not depend on its neighbors: rows, their
    order, learning rate, clipping, schedule, early stopping and divergence belong to the model, so with dropout off
    ``train(grid)[i]`` equals ``train(grid[i])`` to rounding.

    A model whose loss or gradient is no longer finite is frozen at its last finite weights and reported; the others are
    not affected.

    Args:
        net: any batched model with ``out_features``. Its dtype and device are those of the training.
        x: inputs, shared by all models; for a single model they may be a sparse CSR tensor. Shape (n, d). Models that
            need different inputs (folds that were scaled apart, say) take them from one long table, each by its own
            ``rows``.
        y: targets: (n,) or (n, m) numbers for ``"squared"`` and ``"huber"``, the same of 0 and 1 for ``"logistic"``,
            whole numbers 0, ..., m - 1 of shape (n,) for ``"softmax"``.
        loss: a name or a `Loss`: ``"squared"``, ``"huber"``, ``"logistic"`` (means over outputs) or ``"softmax"``.
        options: epochs, batch size, learning rate and so on.
        rows: numbers of the rows to train on: one vector for all models, (r,); (*batch_shape, r); or a sequence of
            vectors, one per model of the flattened batch, of any lengths. None: all but the validation rows.
        validation: numbers of the rows to validate on, in the same forms, or None. With them, a model ends with the
            weights (batch-norm statistics included) of the epoch that had the lowest validation loss.
        sample_weight: non-negative, (n,). A weight of 2 counts as much as the row given twice.
        seed: of the order of the rows: one integer (model i of the flattened batch takes ``seed + i``), one per model,
            or None for torch's global stream. It also seeds dropout, whose draws the models share, and leaves the
            global stream as it was.
        progress: called after every epoch with its number, counted from 1, its training loss and, if there are
            validation rows, its validation loss, shape batch_shape each.
        on_interrupt: a KeyboardInterrupt (Ctrl-C) ends training with the weights so far, or with the best so far where
            there are validation rows. ``"raise"`` passes it on; ``"return"`` returns the history up to there, and
            ``History.interrupted`` says so.
        checkpoint: a file that holds all that the next epoch depends on, written after each epoch; where there is one
            already, training continues from it, even with another number of processes. Not with validation rows.

    Returns:
        The history; the networks themselves are trained in place.

    Example:
        >>> import torch
        >>> from polyladder import LPNN
        >>> x = torch.linspace(-1, 1, 64).unsqueeze(-1)
        >>> nets = LPNN(1, (4,), 1, batch_shape=(3,), seed=0)
        >>> options = Adam(epochs=60, learning_rate=torch.tensor([1e-5, 1e-2, 3e-2]))
        >>> history = train(nets, x, x.square(), options=options)
        >>> history.training_loss.shape
        torch.Size([3, 60])
        >>> history.training_loss[:, -1] < 1e-2
        tensor([False,  True,  True])
    """
    options = options or Adam()
    if on_interrupt not in ("raise", "return"):
        raise ValueError(f"on_interrupt must be 'raise' or 'return'; got {on_interrupt!r}.")
    if options.patience is not None and validation is None:
        raise ValueError("patience must come with validation rows; got none. Give validation or leave patience out.")
    data = replace(checked_data(net, loss, x, y, sample_weight, rows, validation), robust=options.robust)
    streams = generators(seed, net.batch_shape)
    stream = RowStream(data.rows, options.batch_size, streams)
    models = ModelBatch(net, data, spread_settings(net, data, options, stream), stream)
    log = TrainingLog(len(models.members), validation is not None)
    state = models.state
    done = 0
    if checkpoint is not None:
        if validation is not None:
            raise ValueError("checkpoint must come without validation rows; got both. Leave one of them out.")
        done = read_checkpoint(checkpoint, models, log)
    best = {name: t.clone() for name, t in state.items()} if validation is not None else {}
    with repeatable_dropout(streams[0], data.x.device):
        try:
            for epoch in range(done + 1, options.epochs + 1):
                models.epoch(log)
                if checkpoint is not None:
                    write_checkpoint(checkpoint, epoch, models, log)
                if validation is not None:
                    improved = models.validate(log, options.patience)
                    copy_models(models.state, improved, best, models.members[improved])
                if progress is not None:
                    progress(epoch, *log.latest(net.batch_shape))
                if not bool(log.running.any()):
                    break
                if log.mostly_stopped(models.members):
                    # Patience has ended some models, so all that continue have a best epoch, whose weights `best`
                    # holds: the copies that train from here on need not be copied back.
                    models = models.part(log.running[models.members].nonzero().squeeze(-1))
        except KeyboardInterrupt:
            if on_interrupt == "raise":
                raise
            log.interrupted = True
        finally:
            found = log.best.nonzero().squeeze(-1)
            copy_models(best, found, state, found)
            for parameter in net.parameters():
                parameter.grad = None
            net.eval()
    return History(**log.record(net.batch_shape))


def spread_settings(net: BatchedModule, data: TrainingData, options: Adam, stream: RowStream) -> Settings:
    """The options as one number per model of the flattened batch."""

    def spread(name: str, value: float | Tensor) -> Tensor:
        return per_model(name, value, net.batch_shape, 0.0, math.inf).reshape(-1)

    robust, still = options.robust, torch.zeros(len(data.rows), dtype=torch.float64)
    penalty = spread("jacobian_penalty", options.jacobian_penalty)
    if robust is not None or bool(penalty.any()):
        check_movable(net, data.x)
    endless = torch.full((len(data.rows),), math.inf, dtype=torch.float64)
    settings = Settings(
        learning_rate=spread("learning_rate", options.learning_rate),
        l2=spread("l2", options.l2),
        clip=endless if options.clip is None else spread("clip", options.clip),
        decay_steps=options.epochs * stream.steps.double() if options.schedule == "cosine" else endless,
        mean_weight=torch.ones_like(endless),
        jacobian=penalty,
        radius=still if robust is None else spread("radius", robust.radius),
        warmup_steps=(still if robust is None else robust.warmup * stream.steps.double()).clamp_min(1.0),
    )
    if data.weight is not None:
        weight = data.weight.cpu().double()
        settings = replace(settings, mean_weight=torch.stack([weight[r].mean() for r in data.rows]))
    return settings.map(lambda t: t.to(data.x.device))


@contextmanager
def repeatable_dropout(generator: torch.Generator | None, device: torch.device) -> Iterator[None]:
    """Seed torch's global stream for a training run and restore it afterwards."""
    if generator is None:
        yield
        return
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(generator.initial_seed())
        yield
