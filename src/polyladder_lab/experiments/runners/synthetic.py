"""Data that are drawn again for each run: the two functions of Table 1."""

from __future__ import annotations

from typing import Any

import numpy as np

ROWS = 2000
"""Points in the square, half to train on and half to test on."""

Array = np.ndarray[Any, np.dtype[np.float64]]


def product(x: Array) -> Array:
    """4 x1 x2, whose mean absolute value over the square is 1."""
    return np.asarray(4 * x[:, 0] * x[:, 1])


def rectified(x: Array) -> Array:
    """relu(0.5 x1 + 1.5 x2) / C with C = 7 / 18, its mean over the square.

    E relu(s) = E |s| / 2, as s is symmetric. Given x1, |s| has the mean (1.5^2 + (0.5 x1)^2) / (2 * 1.5), and x1^2 has
    the mean 1 / 3.
    """
    return np.asarray(np.maximum(0.5 * x[:, 0] + 1.5 * x[:, 1], 0) * 18 / 7)


DRAWN = {"product": product, "relu": rectified}


def draw(name: str, run: int) -> tuple[Array, Array]:
    """Points of the square [-1, 1]^2 and the function there. Shapes (ROWS, 2), (ROWS,)."""
    x = np.random.RandomState(run).uniform(-1, 1, (ROWS, 2))
    return x, DRAWN[name](x)
