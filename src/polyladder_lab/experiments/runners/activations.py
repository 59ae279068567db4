"""Figure 1: what goes into a product activation and what comes out, in a trained ladder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from polyladder import LPNN, merge, product_activation
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Result
from polyladder_lab.experiments.runners.networks import trained_ladder


def run_activations(group: Sequence[Measurement]) -> list[list[Result]]:
    """For each measurement a trained ladder's error and, at some rows, its units' inputs u and responses h."""
    return [[activations(measurement)] for measurement in group]


def activations(measurement: Measurement) -> Result:
    """Train the ladder, measure it, and read some of its units."""
    ladder, held_out, result = trained_ladder(measurement)
    random = np.random.RandomState(measurement.seed)
    rows = random.choice(len(held_out), min(measurement.options["rows"], len(held_out)), replace=False)
    layers = []
    for u, h in responses(ladder, held_out[torch.from_numpy(np.sort(rows))]):
        units = np.sort(random.choice(u.shape[1], min(measurement.options["units"], u.shape[1]), replace=False))
        layers.append(
            [{"unit": int(i), "u": rounded(u[:, i]), "h": rounded(h[:, i])} for i in units],
        )
    return Result(result.value, {"layers": layers})


@torch.no_grad()
def responses(net: LPNN, x: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """For each layer of the merged ladder u = W h + b and h = u * (V x + c). Shapes (n, k)."""
    x, found = x.double(), []
    h = x
    for W, b, V, c in merge(net.double()).layers():
        u = h @ W.mT + b
        h = product_activation(u, V, x, c)
        found.append((u, h))
    return found


def rounded(values: torch.Tensor) -> list[float]:
    """Four digits, enough for a scatter plot."""
    return [float(f"{value:.4g}") for value in values.tolist()]
