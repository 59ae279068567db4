"""Networks: every fold of every setting of a group is one model of a batch, which trains as one program."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from polyladder import (
    LPNN,
    Adam,
    BatchedModule,
    FactorizationMachine,
    Feedforward,
    PolynomialKernel,
    fit_kernel,
    fit_machine,
    stack,
    train,
)
from polyladder_lab.experiments.engine.declare import Options
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Array, Result, score
from polyladder_lab.experiments.runners.sources import Fit, fits_of
from polyladder_lab.experiments.runners.tanh import TanhNetwork

Loss = Literal["squared", "logistic", "softmax"]

CHUNK = 2**22
"""Numbers of inputs and hidden states held at once while predicting."""

RESTART = 100
"""Distance between the seeds of restarts; the seeds of folds lie in between."""

CLIPPED = 5.0
"""Deviations from the mean at which clipped columns end."""


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """The rows of one fit as networks take them.

    Attributes:
        x: scaled features of the training rows, then of the test rows. Shape (n, d), float32.
        y: targets of the same rows: standardized, or class codes. Shape (n,).
        count: how many of the rows are to train on.
        mean: of the target.
        scale: of the target; 1 for classes.
        classes: how many; 0 for regression.
    """

    x: Tensor
    y: Tensor
    count: int
    mean: float
    scale: float
    classes: int


def run_networks(group: Sequence[Measurement]) -> list[list[Result]]:
    """For each measurement the result of each of its fits."""
    fits = [fits_of(measurement) for measurement in group]
    pairs = [(measurement, fit) for measurement, own in zip(group, fits, strict=True) for fit in own]
    results = (result for _, _, result in fitted_networks(pairs))
    return [list(itertools.islice(results, len(own))) for own in fits]


def trained_ladder(measurement: Measurement) -> tuple[LPNN, Tensor, Result]:
    """The ladder of a single fit, its held-out rows as it takes them, and how good it is on these."""
    return trained_ladders([measurement])[0]


def trained_ladders(group: Sequence[Measurement]) -> list[tuple[LPNN, Tensor, Result]]:
    """The same as `trained_ladder` for several last fits, which train as one program."""
    found = []
    for net, held_out, result in fitted_networks([(each, fits_of(each)[0]) for each in group]):
        assert isinstance(net, LPNN)
        found.append((net, held_out, result))
    return found


def fitted_networks(pairs: Sequence[tuple[Measurement, Fit]]) -> Iterator[tuple[BatchedModule, Tensor, Result]]:
    """Networks that train as one program: each with its held-out rows as it takes them, and how good it is on these."""
    tables = prepared_tables([fit for _, fit in pairs], pairs[0][0].options)
    net, diverged = trained([each for each, _ in pairs], [fit.name for _, fit in pairs], tables)
    for i, (measurement, fit) in enumerate(pairs):
        one, table = net[i], tables[fit.name]
        held_out = table.x[table.count :]
        result = score(measurement.metric, predicted(one, held_out, table), fit.target[fit.test])
        more = {**result.more, **({"diverged": True} if diverged[i] else {})}
        yield one, held_out, Result(result.value, more)


def prepared_tables(fits: Sequence[Fit], options: Options) -> dict[tuple[Any, ...], NetworkRows]:
    """The distinct tables of some fits by their names."""
    return {fit.name: prepared(fit, options.get("scaling", "standard")) for fit in {f.name: f for f in fits}.values()}


def prepared(fit: Fit, scaling: str) -> NetworkRows:
    """Scale features and target by the training rows alone.

    Args:
        fit: the rows.
        scaling: ``"standard"`` gives each column mean 0 and deviation 1; ``"clipped"`` also cuts off at `CLIPPED`
            deviations and ``"range"`` maps to [-1, 1], so that rare ones in a column of zeros do not become large
            numbers; ``"whole"`` takes one mean and one deviation for all columns, as suits pixels; ``"none"`` leaves
            them.
    """
    inside = fit.features[fit.train]
    mean, deviation = np.zeros(1), np.ones(1)
    if scaling in ("standard", "clipped"):
        mean, deviation = inside.mean(0), inside.std(0)
    elif scaling == "range":
        low, high = inside.min(0), inside.max(0)
        mean, deviation = (low + high) / 2, (high - low) / 2
    elif scaling == "whole":
        mean, deviation = inside.mean(keepdims=True)[0], inside.std(keepdims=True)[0]
    deviation = np.where(deviation > 0, deviation, 1.0)
    x = np.concatenate([inside, fit.features[fit.test]])
    x = ((x - mean) / deviation).astype(np.float32)
    if scaling == "clipped":
        x = np.clip(x, -CLIPPED, CLIPPED)
    y = np.concatenate([fit.target[fit.train], fit.target[fit.test]])
    center, spread = 0.0, 1.0
    if not fit.classes:
        center, spread = float(y[: len(fit.train)].mean()), float(y[: len(fit.train)].std()) or 1.0
        y = ((y - center) / spread).astype(np.float32)
    return NetworkRows(torch.from_numpy(x), torch.from_numpy(y), len(fit.train), center, spread, fit.classes)


def trained(
    measurements: Sequence[Measurement], names: Sequence[tuple[Any, ...]], tables: dict[tuple[Any, ...], NetworkRows]
) -> tuple[BatchedModule, list[bool]]:
    """One network per fit, trained together, and which of them diverged.

    With the option ``restarts`` several are trained for each fit, and the one with the lowest training loss is kept:
    networks of two or three units end in very different places.

    Args:
        measurements: of the fits.
        names: of the fits' tables.
        tables: by name; they are laid one under the other, and every network takes the rows of its own.
    """
    first, offset = 0, {}
    for name, table in tables.items():
        offset[name] = first
        first += len(table.x)
    x = torch.cat([table.x for table in tables.values()]) if len(tables) > 1 else tables[names[0]].x
    y = torch.cat([table.y for table in tables.values()])
    options, classes = measurements[0].options, tables[names[0]].classes
    restarts = options.get("restarts", 1)
    measurements = [each for each in measurements for _ in range(restarts)]
    names = [each for each in names for _ in range(restarts)]
    outputs = classes if classes > 2 else 1
    loss: Loss = "squared" if not classes else "logistic" if outputs == 1 else "softmax"
    if loss == "logistic":
        y = y.float()
    if loss == "softmax" and options.get("one_versus_rest"):
        loss, y = "logistic", torch.nn.functional.one_hot(y, classes).float()

    def column(name: str, otherwise: float) -> Tensor:
        return torch.tensor(
            [measurement.options.get(name, otherwise) for measurement in measurements], dtype=torch.float64
        )

    # The folds of a measurement must not start alike; the last part of a table's name is the number of the fold.
    seeds = [
        measurement.seed + name[-1] + RESTART * (i % restarts)
        for i, (measurement, name) in enumerate(zip(measurements, names, strict=True))
    ]
    net = build(options, x.shape[1], outputs, column("dropout", 0.0), seeds)
    if options.get("solver") == "exact":
        if restarts > 1:
            raise ValueError(f"restarts must be 1 where solver is 'exact'; got {restarts}.")
        ranges = [slice(offset[name], offset[name] + tables[name].count) for name in names]
        solved = [
            solve_one(net[i], x[part], y[part], loss, measurement.options)
            for i, (part, measurement) in enumerate(zip(ranges, measurements, strict=True))
        ]
        return stack(solved), [False] * len(solved)
    history = train(
        net,
        x,
        y,
        loss=loss,
        options=Adam(
            epochs=options["epochs"],
            batch_size=options["batch_size"],
            learning_rate=column("learning_rate", 1e-3),
            l2=column("l2", 0.0),
            schedule=options.get("schedule", "cosine"),
            clip=options.get("clip"),
        ),
        rows=[offset[name] + torch.arange(tables[name].count) for name in names],
        seed=seeds,
    )
    if history.interrupted:
        # Half-trained networks must not be measured.
        raise KeyboardInterrupt
    ends = history.training_loss[:, -1].nan_to_num(nan=math.inf).where(~history.diverged, math.inf)
    kept = torch.arange(0, len(ends), restarts) + ends.view(-1, restarts).argmin(1)
    return (net if restarts == 1 else net[kept]), history.diverged[kept].tolist()


def solve_one(net: BatchedModule, x: Tensor, y: Tensor, loss: Loss, options: Options) -> BatchedModule:
    """One machine or kernel network, solved by Gauss-Newton steps of the best length, at most as many as ``epochs``."""
    if not isinstance(net, FactorizationMachine | PolynomialKernel):
        raise ValueError(f"solver must be 'exact' for family machine or kernel alone; got {options['family']!r}.")
    net = net.double()
    fit = fit_machine if isinstance(net, FactorizationMachine) else fit_kernel
    y = y if loss == "softmax" else y.double()
    fit(net, x.double(), y, loss=loss, alpha=options.get("l2", 0.0), steps=options["epochs"])  # type: ignore[arg-type]
    return net.float()


def build(options: Options, inputs: int, outputs: int, dropout: Tensor, seeds: Sequence[int]) -> BatchedModule:
    """Random networks, one per seed, of the family that the options name."""
    family, shape, seed = options["family"], (len(seeds),), list(seeds)
    if family == "tanh":
        return TanhNetwork(inputs, options["units"], outputs, shape, seed)
    if family == "machine":
        return FactorizationMachine(inputs, options["rank"], outputs, options["order"], shape, seed)
    if family == "kernel":
        rank = options["rank"] * (outputs if options.get("rank_per_class") else 1)
        return PolynomialKernel(inputs, rank, outputs, options["order"], batch_shape=shape, seed=seed)
    hidden, norm = widths(options, inputs, outputs), options.get("batch_norm", True)
    if family in ("relu", "quadratic"):
        return Feedforward(inputs, hidden, outputs, family, norm, dropout, shape, seed)
    if family == "ladder":
        return LPNN(inputs, hidden, outputs, options.get("gate_bias", True), norm, dropout, shape, seed)
    raise ValueError(f"family must be ladder, relu, quadratic, machine, kernel or tanh; got {family!r}.")


def widths(options: Options, inputs: int, outputs: int) -> tuple[int, ...]:
    """Units of each layer: as listed, ``layers`` of one ``width``, or shrinking from the inputs towards the outputs.

    The shrinking ones are a^l (d_in - d_out) + d_out for l = 1, 2, ...; the paper prints the difference the other way
    round, which gives negative widths.

    >>> widths({"layers": 2, "shrink": 0.5}, 100, 20)
    (60, 40)
    """
    if "hidden" in options:
        return tuple(options["hidden"])
    layers = range(1, options["layers"] + 1)
    if "shrink" in options:
        return tuple(max(1, round(options["shrink"] ** l * (inputs - outputs) + outputs)) for l in layers)
    return tuple(options["width"] for _ in layers)


@torch.no_grad()
def predicted(net: BatchedModule, x: Tensor, table: NetworkRows) -> Array:
    """Predictions of a single network in the target's units, or class codes. Shape (n,)."""
    numbers = sum(p.shape[0] for p in net.parameters() if p.dim() == 2) + x.shape[1]
    y = torch.cat([net(part) for part in torch.split(x, max(1, CHUNK // numbers))]).double()
    if not table.classes:
        return np.asarray(y[:, 0].numpy() * table.scale + table.mean)
    return np.asarray((y.argmax(1) if y.shape[1] > 1 else (y[:, 0] > 0).long()).numpy())
