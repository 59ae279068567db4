"""Ladders that grow layer by layer: how each further layer changes the errors on training and test rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from polyladder import LPNN, LadderPolynomial, fit_alternating, lengthen, merge
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Result
from polyladder_lab.experiments.runners.networks import NetworkRows, build, prepared_tables
from polyladder_lab.experiments.runners.sources import fits_of


def run_nesting(group: Sequence[Measurement]) -> list[list[Result]]:
    """For each measurement the errors of a ladder that grows layer by layer."""
    return [[nesting(measurement)] for measurement in group]


def nesting(measurement: Measurement) -> Result:
    """Fit a ladder of one layer, then add identity layers on top and fit on.

    The ridge weight is so small that in effect the squared error alone is minimized. The result is the test error of
    the last ladder. ``depths`` holds the errors at each depth, and how much adding the layer changed the outputs before
    it was fitted.
    """
    options, fit = measurement.options, fits_of(measurement)[0]
    table = prepared_tables([fit], options)[fit.name]
    x, y = table.x[: table.count].double(), table.y[: table.count].double()
    start = build({**options, "layers": 1, "batch_norm": False}, x.shape[1], 1, torch.zeros(1), [measurement.seed])
    assert isinstance(start, LPNN)
    ladder, depths = merge(start.double())[0], []
    for layers in range(1, options["layers"] + 1):
        longer = lengthen(ladder, layers)
        changed = float((longer(x) - ladder(x)).abs().max())
        ladder = fit_alternating(longer, x, y, alpha=options["l2"], sweeps=options["epochs"]).polynomial
        train, test = errors(ladder, x, y, table)
        depths.append({"layers": layers, "train": train, "test": test, "changed": changed})
    last = float(depths[-1]["test"])
    return Result(last if math.isfinite(last) else None, {"depths": depths})


def errors(ladder: LadderPolynomial, x: Tensor, y: Tensor, table: NetworkRows) -> tuple[float, float]:
    """RMSE on training and test rows, in units of the target."""
    held_out, target = table.x[table.count :].double(), table.y[table.count :].double()
    pairs = ((x, y), (held_out, target))
    train, test = (table.scale * float((ladder(rows)[:, 0] - wanted).square().mean().sqrt()) for rows, wanted in pairs)
    return train, test
