"""Checkpoints: all that the next epoch depends on, in one file, for any number of processes."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import torch

from polyladder.files.replace_file import write_atomically
from polyladder.models.processes import process_number
from polyladder.training.gradient.model_batch import ModelBatch
from polyladder.training.history import TrainingLog

LOGGED = ("running", "diverged", "stopped", "steps", "best", "best_loss", "curves")
"""What is kept of a `TrainingLog`."""

HELD = {"epoch", "state", "first", "second", "steps", "rest", "generators", "log"}
"""All that a checkpoint holds."""

FOREIGN = (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, LookupError, AttributeError, TypeError)
"""What torch raises for files that it did not write."""


def write_checkpoint(path: Path, epoch: int, models: ModelBatch, log: TrainingLog) -> None:
    """Replace the file, by the first process: weights, Adam's moments, the streams of rows, the history."""
    if process_number():
        return
    stream = models.stream
    held = {
        "epoch": epoch,
        "state": models.state,
        "first": models.adam.first,
        "second": models.adam.second,
        "steps": models.adam.steps,
        "rest": stream.rest,
        "generators": [None if g is None else g.get_state() for g in stream.generators],
        "log": {name: vars(log)[name] for name in LOGGED},
    }
    content = io.BytesIO()
    torch.save(held, content)
    write_atomically(content.getvalue(), path)


def read_checkpoint(path: Path, models: ModelBatch, log: TrainingLog) -> int:
    """Continue from a file, if there is one; returns how many epochs are done."""
    if not path.exists():
        return 0
    held = held_in(path)
    shapes = {name: t.shape for name, t in models.state.items()}
    if {name: t.shape for name, t in held["state"].items()} != shapes:
        raise ValueError(
            f"{path} must be the checkpoint of networks of this shape; it is not. Remove it to start again."
        )
    for name, values in held["state"].items():
        models.state[name].copy_(values)
    models.adam.first, models.adam.second, models.adam.steps = held["first"], held["second"], held["steps"]
    models.stream.rest = held["rest"]
    for generator, state in zip(models.stream.generators, held["generators"], strict=True):
        if generator is not None:
            generator.set_state(state)
    vars(log).update(held["log"])
    return int(held["epoch"])


def held_in(path: Path) -> dict[str, Any]:
    """What `write_checkpoint` wrote; any other file is refused and left unchanged."""
    try:
        held = torch.load(path, weights_only=True)
    except FOREIGN as error:
        held = error
    if not isinstance(held, dict) or held.keys() != HELD:
        raise ValueError(f"{path} must be new or a checkpoint of polyladder; it is neither. Choose another name.")
    return held
