"""Figure 1: what goes into a product activation and what comes out, in a trained ladder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from polyladder.experiments.networks import predicted, prepared_tables, trained
from polyladder.experiments.plan import Task
from polyladder.experiments.scores import Result, score
from polyladder.experiments.sources import fits_of
from polyladder.models.ladder import LPNN, product, product_activation
from polyladder.models.merge import merge


def run_activations(group: Sequence[Task]) -> list[list[Result]]:
    """For each task a trained ladder's error and, at some rows, its units' inputs u and responses h."""
    return [[activations(task)] for task in group]


def activations(task: Task) -> Result:
    """Train the ladder, measure it, and read some of its units."""
    fit = fits_of(task)[0]
    tables = prepared_tables([fit], task.options)
    net, _ = trained([task], [fit.name], tables)
    table = tables[fit.name]
    held_out = table.x[table.count :]
    result = score(task.metric, predicted(net[0], held_out, table), fit.target[fit.test])
    random = np.random.RandomState(task.seed)
    rows = random.choice(len(held_out), min(task.options["rows"], len(held_out)), replace=False)
    ladder = net[0]
    assert isinstance(ladder, LPNN)
    layers = []
    for u, h in responses(ladder, held_out[torch.from_numpy(np.sort(rows))]):
        units = np.sort(random.choice(u.shape[1], min(task.options["units"], u.shape[1]), replace=False))
        layers.append(
            [{"unit": int(i), "u": rounded(u[:, i]), "h": rounded(h[:, i])} for i in units],
        )
    return Result(result.value, {"layers": layers})


@torch.no_grad()
def responses(net: LPNN, x: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """For each layer of the merged ladder u = W h + b and h = u * (V x + c). Shapes (n, k)."""
    columns, found = x.double().T, []
    h = columns
    for W, b, V, c in merge(net.double()).layers():
        u = product(W.unsqueeze(0), b.unsqueeze(0), h)[0]
        h = product_activation(u, product(V.unsqueeze(0), c.unsqueeze(0), columns)[0])
        found.append((u.T, h.T))
    return found


def rounded(values: torch.Tensor) -> list[float]:
    """Four digits, enough for a scatter plot."""
    return [float(f"{value:.4g}") for value in values.tolist()]
