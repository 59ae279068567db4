"""How large ladders are trained by gradient steps, and how long: decided before anything is fitted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from polyladder.estimators.cost import Shape, usual_seconds
from polyladder.estimators.selection.options import Options
from polyladder.tables.number_style import counted

ROW = 3e-6
"""Seconds that boosted trees of classes take for each row and output in addition to `usual_seconds`."""

MULTIPLE = 15.0
"""How much longer than boosted trees training may take, by default."""

SHARE = 0.8
"""Share of ``max_seconds`` that training may take; reading the table and linear models take the rest."""

BATCHES = (64, 512)
"""Fewest and most rows of a gradient step; in between, a power of two that leaves `EPOCH_STEPS` steps per epoch."""

EPOCH_STEPS = 40
"""Gradient steps in an epoch. With more, each step reads fewer rows."""

STEPS = 2000
"""Gradient steps of a training, as far as `EPOCHS` allows. With more, training takes longer."""

EPOCHS = (6, 30)
"""Fewest and most passes over the rows."""

SIZES = ((128, 2), (64, 2), (64, 1), (32, 1))
"""Units per layer and number of ladders: the first pair is used that leaves time for half of the passes."""

LEAST_ROWS = 2000
"""Fewest rows that are trained on, however few seconds are given."""


@dataclass(frozen=True)
class Training:
    """What training will do.

    Attributes:
        width: units per layer.
        ladders: how many are trained.
        epochs: passes over the rows.
        batch_size: rows of a step.
        share: of the rows that are trained on.
        seconds: what that is estimated to take on one core.
        budget: what it may take.
    """

    width: int
    ladders: int
    epochs: int
    batch_size: int
    share: float
    seconds: float
    budget: float

    def __str__(self) -> str:
        rows = "" if self.share == 1 else f" on {self.share:.2g} of the rows"
        return (
            f"gradient steps, as there are many rows: {counted(self.ladders, 'ladder')} of {self.width} units per "
            f"layer, {counted(self.epochs, 'epoch')}{rows}; about {self.seconds:.2g} s of {self.budget:.2g} s."
        )


def training_for(n: int, columns: int, inputs: int, outputs: int, order: int, options: Options) -> Training:
    """Settle the ladders, their width and the passes over the rows.

    Args:
        n: rows, repetitions counted.
        columns: that boosted trees would read.
        inputs: of the ladders, ramps included.
        outputs: of the ladders.
        order: of the ladders.
        options: of the choice; its effort multiplies the usual passes and seconds.
    """
    wanted, effort = options.steps.batch_size, options.effort.training
    batch = min(usual_batch(n) if wanted == "auto" else int(wanted), n)
    budget = options.max_seconds or effort * MULTIPLE * (usual_seconds(n, columns, outputs) + ROW * n * outputs)
    allowed = budget if options.max_seconds is None else SHARE * budget
    usual = min(max(math.ceil(STEPS * batch / n), EPOCHS[0]), EPOCHS[1])
    epochs = options.iterations or max(1, round(effort * usual))

    def pass_seconds(width: int, ladders: int) -> float:
        return ladders * Shape(n, inputs, width, order, outputs).pass_seconds(batch)

    width, ladders, passes = 0, 0, 0
    for usual_width, usual_ladders in SIZES:
        width, ladders = options.width or usual_width, options.models or usual_ladders
        passes = int(allowed / pass_seconds(width, ladders))
        if passes >= (epochs if options.iterations else epochs / 2):
            break
    # Only seconds that are given may leave out rows: what else the user wants takes as long as it takes.
    epochs = options.iterations or max(EPOCHS[0] // 2 if options.max_seconds is None else 1, min(epochs, passes))
    seconds = epochs * pass_seconds(width, ladders)
    share = 1.0 if options.max_seconds is None else min(1.0, max(allowed / seconds, LEAST_ROWS / n))
    return Training(width, ladders, epochs, batch, share, share * seconds, budget)


def usual_batch(n: int) -> int:
    """Rows of a step where there are n to train on."""
    return min(max(2 ** int(math.log2(max(1, n // EPOCH_STEPS))), BATCHES[0]), BATCHES[1])
