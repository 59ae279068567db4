"""Which columns matter, and which of them act together: exact derivatives, gathered by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from polyladder.analysis.attribution import interactions
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.report.columns import Column

POINTS = 256
"""Points over which columns and pairs are ranked."""

DRAWS = 32
"""Draws of a posterior that take part."""

PAIRS = 10
"""Pairs that are listed."""


def strengths(
    estimator: Any, ladders: LadderPolynomial, columns: Sequence[Column], z: np.ndarray[Any, Any] | None
) -> dict[str, Any]:
    """Columns and pairs of columns, strongest first, in steps of one standard deviation and units of the output.

    Several inputs of one column (categories) add up in quadrature, as do several outputs and the draws of a posterior.

    Args:
        estimator: fitted.
        ladders: its ladders. Batch shape (draws,).
        columns: of its table.
        z: transformed rows, if there are any. Shape (n, d).
    """
    known = z is not None and len(z) > 1
    points = central_points(columns, ladders.in_features) if z is None or not known else torch.tensor(evenly(z, POINTS))
    # The derivative of a mean is the mean of derivatives: ladders that are averaged count as one polynomial.
    drawn = hasattr(estimator, "posterior_")
    polynomial = ladders[:: max(1, len(ladders) // DRAWS)] if drawn else estimator.polynomial_
    found = interactions(polynomial, points)
    single, pairs = found.single.square(), found.pairs.square()
    if not known:
        # The points lie closer together than rows would, whose numbers have a standard deviation of 1.
        widen = torch.ones(ladders.in_features, dtype=torch.float64)
        numbers = [column.at for column in columns if column.kind == "numeric"]
        widen[numbers] = 1 / points[:, numbers].var(0, correction=0)
        single, pairs = single * widen, pairs * widen * widen.unsqueeze(-1)
    if polynomial.batch_shape:
        single, pairs = single.mean(0), pairs.mean(0)
    groups = torch.zeros(len(columns), ladders.in_features, dtype=torch.float64)
    for i, column in enumerate(columns):
        groups[i, column.inputs] = 1.0
    by_column = (groups @ single.sum(0)).sqrt().tolist()
    by_pair = (groups @ pairs.sum(0) @ groups.T).sqrt().tolist()
    used = [i for i, column in enumerate(columns) if column.kind != "constant"]
    ranked = sorted(((by_pair[i][j], i, j) for i in used for j in used if i < j), key=lambda pair: -pair[0])
    return {
        "over": f"{len(points)} rows" if known else f"{len(points)} points in the middle of the features' ranges",
        "columns": [[i, by_column[i]] for i in sorted(used, key=lambda i: -by_column[i])],
        "pairs": [[i, j, value] for value, i, j in ranked[:PAIRS]],
    }


def evenly(z: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """At most ``count`` rows, evenly picked."""
    return z[np.unique(np.linspace(0, len(z) - 1, min(len(z), count)).round().astype(int))]


def central_points(columns: Sequence[Column], inputs: int) -> Tensor:
    """Points where no rows are known: each column by itself, numbers from the middle half of a normal distribution.

    A polynomial says little of use in corners where there are no rows, and independent columns have many corners.
    """
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.67, 0.67, size=(POINTS, inputs))
    for column in columns:
        if column.flag is not None:
            points[:, column.flag] = 0.0
        if column.kind == "category":
            points[:, column.inputs] = np.eye(len(column.inputs))[rng.integers(len(column.inputs), size=POINTS)]
    return torch.tensor(points)
