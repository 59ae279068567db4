"""Shares that sum to one and make a loss small, by exponentiated gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyladder.training.kernels.relevance import Array

ROUNDS = 200
"""Steps, at most; a few dozen are usual."""

SETTLED = 1e-7
"""A step that lowers the loss by less is the last."""


def best_shares(value: Callable[[Array], tuple[float, Array]], start: Array) -> Array:
    """Shares, none negative, whose loss a further step hardly lowers.

    Every step multiplies the shares by the exponential of the downward slope; it is longer after a success and half as
    long after a failure. A share of zero stays zero.

    Args:
        value: the loss of shares (k,), and its slope there (k,).
        start: shares to begin with, which sum to one. Shape (k,).
    """
    shares, step = start, 1.0
    loss, slope = value(shares)
    for _ in range(ROUNDS):
        new = shares * np.exp(np.clip(-step * (slope - slope @ shares), -50, 50))
        new /= new.sum()
        lower, steeper = value(new)
        if lower < loss:
            gain, shares, loss, slope, step = loss - lower, new, lower, steeper, 1.3 * step
            if gain < SETTLED:
                break
        else:
            step /= 2
    return shares
