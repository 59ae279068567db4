"""Weights of a sum of models, none negative, by their predictions of rows that they did not see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import nnls

from polyladder.training.kernels.relevance import Array
from polyladder.training.losses.loss import Loss
from polyladder.training.simplex import best_shares

LEAST, LEAST_OF_MANY = 0.02, 0.1
"""A weight below the first number is set to zero, and the others are found again. The second number is used where there
are many rows: every candidate that counts is solved on all of them."""

SMOOTHING = 0.002
"""Share of each target that is spread over all classes, so that a few rows cannot make a sum certain."""

BOUNDED_ROUNDS = 5
"""Rounds of weighted squares by which weights for another loss are found."""


def stack_numbers(
    left_out: Sequence[Array], y: Array, weight: Array, least: float = LEAST, excess: Array | None = None
) -> Array:
    """Weights of least squares, none negative. What they lack to 1 falls to the mean, which is zero.

    Args:
        left_out: predictions of each model. Shapes (n, m).
        y: targets of mean 0. Shape (n, m).
        weight: of the rows. Shape (n,).
        least: weights below it are set to zero.
        excess: of each model, see `Trial`. Shape (models,).

    Returns:
        Shape (models,).
    """
    root = np.sqrt(weight)[:, None]
    columns = np.stack([(each * root).ravel() for each in left_out], 1)
    # The same sum of squares in as many rows as there are models.
    gram, moment = columns.T @ columns, columns.T @ (y * root).ravel()
    if excess is not None and excess.any():
        # What scatters is independent of all others, so it counts on the diagonal alone.
        values, vectors = np.linalg.eigh(gram - np.diag(excess * weight.sum() * y.shape[1]))
        gram = (vectors * np.maximum(values, 0.0)) @ vectors.T
    firm = gram + 1e-10 * max(np.trace(gram), np.finfo(float).tiny) * np.eye(len(gram))
    factor = np.linalg.cholesky(firm).T
    goal = np.linalg.solve(factor.T, moment)
    kept = np.arange(len(left_out))
    found = nnls(factor, goal)[0]
    # One by one: of many models that predict alike each has a small weight, and together they are the whole sum.
    while len(kept) and found.min() < least:
        kept = np.delete(kept, found.argmin())
        found = nnls(factor[:, kept], goal)[0] if len(kept) else np.empty(0)
    weights = np.zeros(len(left_out))
    weights[kept] = found
    # What made the matrix firm has made the sum shorter by a trace, which exact models do not bear.
    size = weights @ gram @ weights
    return weights * (weights @ moment / size) if size > 0 else weights


def stack_bounded(
    loss: Loss, left_out: Sequence[Array], y: Array, weight: Array, least: float = LEAST, excess: Array | None = None
) -> Array:
    """The same by another loss: squares that lie above it, in a few rounds, from the best single model on.

    Args:
        loss: of which zero is the best constant.
        left_out, y, weight, least, excess: as in `stack_numbers`.
    """
    if loss.quadratic:
        return stack_numbers(left_out, y, weight, least, excess)
    goal, counts = torch.from_numpy(np.ascontiguousarray(y)), torch.from_numpy(weight)
    outputs = min(left_out, key=lambda each: loss.deviance(torch.from_numpy(each), goal, counts))
    for _ in range(BOUNDED_ROUNDS):
        response, curvature = (t.numpy() for t in loss.bound(torch.from_numpy(outputs), goal))
        weights = stack_numbers(left_out, response, weight * curvature.reshape(-1), least, excess)
        outputs = np.tensordot(weights, np.stack(left_out), 1)
    return weights


def stack_scores(loss: Loss, left_out: Sequence[Array], classes: Array, weight: Array, price: Array) -> Array:
    """Weights that sum to 1 and minimize the loss of the summed scores, by exponentiated gradients.

    Args:
        loss: of classes.
        left_out: scores of each model, that of the second of two classes alone. Shapes (n, m).
        classes: 0 or 1. Shape (n, m).
        weight: of the rows. Shape (n,).
        price: added to the loss for each model, in proportion to its weight. Shape (models,).

    Returns:
        Shape (models,).
    """
    scores, share = np.stack(left_out), (weight / weight.sum())[:, None]
    spread = SMOOTHING / max(2, classes.shape[1])
    target, counts = torch.from_numpy((1 - SMOOTHING) * classes + spread), torch.from_numpy(weight)

    def value(weights: Array) -> tuple[float, Array]:
        f = torch.from_numpy(np.tensordot(weights, scores, 1))
        slope = np.einsum("jnm,nm->j", scores, share * loss.slopes(f, target).numpy())
        return loss.deviance(f, target, counts) + float(price @ weights), slope + price

    weights = best_shares(value, np.full(len(scores), 1 / len(scores)))
    weights = np.where(weights >= LEAST, weights, 0.0)
    return best_shares(value, weights / weights.sum())
