"""Ridge regressions by losses that a few rounds of weighted squares minimize, and the first fit that settles a loss.

Each round solves the squares that lie above the loss and touch it at the outputs of the round before (`Loss.bound`).
With the weights of the last round, leaving out each row is as fast as for squares. It is exact except that the weights
of the other rows still depend on the row left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from polyladder.training.kernels.directions import pick_directions
from polyladder.training.kernels.relevance import Array, Relevance, first_scales
from polyladder.training.kernels.ridge import RidgeFit, ridge_regression
from polyladder.training.losses.loss import Loss

ROUNDS = 12
"""Rounds, at most."""

STEADY = 0.01
"""Rounds end when outputs move by less than this part of their distance from the targets, on average."""

FIRST_RIDGES = tuple(float(r) for r in np.logspace(-2, 3, 6))
"""Ridge weights that a first fit chooses among."""

FIRST_ROWS = 2000
"""Rows of a first fit, at most: its time grows with them."""

FIRST_DIRECTIONS = 200
"""Directions of the kernel of a first fit, at most: its time grows with their square."""

SETTLINGS = 3
"""Rounds that alternate between a first fit and settling the loss by it."""


def reweighted_regression(
    loss: Loss, features: Array, target: Array, weight: Array, ridges: Sequence[float], start: Array
) -> RidgeFit:
    """The best of several ridge weights by the loss of rows left out.

    Args:
        loss: settled, with a bound.
        features: shape (n, p).
        target: coded. Shape (n, m).
        weight: of the rows, positive. Shape (n,).
        ridges: to choose among, positive.
        start: outputs near those that will be found: where the first squares touch the loss. Shape (n, m).

    Cost: that of `ridge_regression` times the rounds; one for a quadratic loss.
    """
    if loss.quadratic:
        return ridge_regression(features, target, weight, ridges)
    y, outputs = torch.from_numpy(np.ascontiguousarray(target)), start
    share = torch.from_numpy(weight / weight.sum())

    def judge(left_out: Array) -> float:
        return float(share @ loss.each(torch.from_numpy(left_out), y).sum(-1))

    for _ in range(ROUNDS):
        response, curvature = (t.numpy() for t in loss.bound(torch.from_numpy(outputs), y))
        fit = ridge_regression(features, response, weight * curvature.reshape(-1), ridges, judge)
        before, outputs = outputs, features @ fit.coefficients + fit.offset
        if np.abs(outputs - before).mean() <= STEADY * np.abs(outputs - response).mean():
            break
    return fit


def first_fit(loss: Loss, x: Array, y: Array, weight: Array, seed: int) -> tuple[Loss, Array]:
    """A loss settled by a first fit, and what that fit predicts for the rows.

    The first fit is a quadratic kernel with equal scales for all inputs.

    Args:
        loss: with a bound.
        x: inputs, about standardized. Shape (n, d).
        y: coded targets. Shape (n, m).
        weight: of the rows, positive. Shape (n,).
        seed: of the sample of rows that is used where there are many.

    Returns:
        The settled loss, and predictions; for rows of the sample, by fits without the row itself. Shape (n, m).
    """
    rng = np.random.default_rng(seed)
    some = np.sort(rng.permutation(len(x))[:FIRST_ROWS])
    groups = np.arange(x.shape[1])
    scales = Relevance(first_scales(groups, 2), 1.0, 1.0, 2)
    directions = pick_directions(x[some], scales, groups, FIRST_DIRECTIONS, rng, 2)
    factor = directions.factor(2)
    phi = directions.features(directions.along(x[some]), 2, factor)
    target, counts = torch.from_numpy(np.ascontiguousarray(y[some])), torch.from_numpy(weight[some])
    outputs = loss.standards(target, counts / counts.sum())[0].expand_as(target).numpy()
    for _ in range(SETTLINGS):
        loss = loss.settle(torch.from_numpy(outputs), target, counts)
        fit = reweighted_regression(loss, phi, y[some], weight[some], FIRST_RIDGES, outputs)
        outputs = fit.left_out
    loss = loss.settle(torch.from_numpy(outputs), target, counts)
    predicted = directions.features(directions.along(x), 2, factor) @ fit.coefficients + fit.offset
    predicted[some] = outputs
    return loss, predicted
