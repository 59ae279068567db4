"""Ladders that read their inputs along few directions only: these are worked out once, for all layers and gates.

A small ladder that stands for a large model (`polyladder.compress`) is one: it was solved over a few coordinates, and
its weights have their rank. Predictions and SQL then cost less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.linalg import qr, solve_triangular
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial

EMPTY = 1e-13
"""Size of a direction, compared with the largest, that is there by rounding alone."""

WORTH = 0.7
"""Directions are worked out first where this part of the numbers, or less, is left."""


@dataclass(frozen=True, eq=False)
class FewDirections:
    """The ladder ``inner`` of coordinates x @ directions.

    Attributes:
        directions: each is one of the inputs and multiples of others. Shape (d, k).
        inner: over k inputs.
    """

    directions: Tensor
    inner: LadderPolynomial

    def __call__(self, x: Tensor) -> Tensor:
        """Outputs at rows x (n, d). Shape (n, m)."""
        return self.inner(x @ self.directions)


def few_directions(polynomial: LadderPolynomial) -> FewDirections | None:
    """The directions along which a ladder reads its inputs; None where they are not few enough to be worth it.

    Rows of weights that read the inputs are combinations of k of their columns: a QR factorization with pivoting finds
    these columns, and what the others are of them.

    Args:
        polynomial: without a batch, with at least one layer.
    """
    reading = torch.cat([polynomial.W[0], *polynomial.V])
    S, d = reading.shape
    triangle, order = qr(reading.numpy(), mode="r", pivoting=True)
    sizes = abs(triangle.diagonal())
    k = int((sizes > EMPTY * sizes[0]).sum())
    if k == 0 or k * (d - k) + S * k > WORTH * S * d:
        return None
    directions = np.zeros((d, k))
    directions[order[:k]] = np.eye(k)
    directions[order[k:]] = solve_triangular(triangle[:k, :k], triangle[:k, k:]).T
    columns = torch.from_numpy(order[:k].astype(np.int64))
    W, *V = (weight[:, columns] for weight in (polynomial.W[0], *polynomial.V))
    return FewDirections(torch.from_numpy(directions), replace(polynomial, W=(W, *polynomial.W[1:]), V=tuple(V)))
