"""`polyladder fit` under torchrun: gradient steps shared by several processes, with one checkpoint."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from polyladder.automatic.fit_table import described, held_out_rows, ladder_for
from polyladder.automatic.metrics import judged
from polyladder.automatic.options import FitOptions
from polyladder.automatic.selected import nothing_selected
from polyladder.automatic.training_table import TrainingTable
from polyladder.estimators.ladder import LPNNClassifier, LPNNRegressor
from polyladder.models.ladder import LPNN
from polyladder.models.merge import merge
from polyladder.models.processes import process_count, process_number
from polyladder.tables.number_style import counted
from polyladder.training.gradient.train import Adam, train


def under_torchrun() -> bool:
    """Whether torchrun started this process."""
    return "WORLD_SIZE" in os.environ and "RANK" in os.environ


@contextmanager
def process_group() -> Iterator[None]:
    """The processes that torchrun started, as a group: over NCCL with a GPU each, else over gloo."""
    torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()


def fit_with_processes(
    table: TrainingTable,
    options: FitOptions,
    *,
    order: int = 4,
    width: int = 64,
    epochs: int = 20,
    batch_size: int = 256,
    checkpoint: Path | None = None,
) -> LPNNRegressor | LPNNClassifier:
    """Train one ladder with batch norm by Adam, every process on its share of each mini-batch.

    Every process calls this with the same table, and gets the same estimator.

    Parameters
    ----------
    table : TrainingTable
    options : FitOptions
        Of which ``loss``, ``seed`` and ``say`` count.
    order, width, epochs, batch_size : int
        Of the ladder and its training.
    checkpoint : path, default=None
        Written after each epoch by the first process. A run with another number of processes can go on from it.

    Returns
    -------
    LPNNRegressor or LPNNClassifier
    """
    began, seed = clock.monotonic(), options.seed
    ((X, y), unseen), _ = held_out_rows(table, options)
    estimator = ladder_for(table.task, options.loss, order=order, width=width, solver="adam", random_state=seed)
    rows = estimator.read_parts(X, y)
    net = LPNN(rows.z.shape[1], (width,) * (order - 1), rows.outputs, batch_norm=True, batch_shape=(1,), seed=seed)

    def tell(epoch: int, loss: Any) -> None:
        if process_number() == 0:
            options.say(f"epoch {epoch} of {epochs}: training loss {float(loss):.10g}")

    history = train(
        net,
        rows.z.to(torch.float32),
        rows.y.to(torch.float32) if rows.y.is_floating_point() else rows.y,
        loss=rows.loss,
        options=Adam(epochs=epochs, batch_size=min(batch_size, len(y)), schedule="cosine", clip=10.0),
        seed=seed,
        progress=tell,
        checkpoint=checkpoint,
    )
    estimator.adopt_parts(merge(net).to(torch.float64), history.training_loss[0].tolist())
    estimator.support_rows(rows)
    took = clock.monotonic() - began
    score = judged("ladder", estimator, *unseen, took, table.task)
    shared = counted(process_count(), "process", "processes")
    sentence = f"{counted(epochs, 'epoch')} of gradient steps in {shared}; no settings were compared."
    words = nothing_selected(sentence) | {"held_out": len(unseen[1]), "fitted": len(y)}
    estimator.card_ = described(estimator, table, [score], words, list(table.sentences), seed)
    if checkpoint is not None and process_number() == 0:
        checkpoint.unlink(missing_ok=True)
    return estimator
