"""Numbers with a proven error: float64 arithmetic in which every result carries a bound on its rounding error.

An error passes through sums and products in the same way whatever its source: rounding of float64, of integers with a
fixed point, or the noise of encryption. `sum_error` and `product_error` compute it, for tensors and for arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial

Numbers = TypeVar("Numbers", Tensor, np.ndarray[Any, np.dtype[np.float64]])

EPSILON = torch.finfo(torch.float64).eps
"""Twice the largest relative error of one operation."""

TINY = 1e-290
"""Added to every radius; far larger than the error of a product that underflows."""

UP = 1 + 16 * EPSILON
"""A computed sum of a few products of positive numbers, times this, is at least the exact one."""


class Ball(NamedTuple):
    """Exact numbers that are known to lie within ``rad`` of ``mid``. Both have one shape and are float64."""

    mid: Tensor
    rad: Tensor

    @property
    def upper(self) -> Tensor:
        """An upper bound on every number of the ball."""
        return outward(self.mid + self.rad, self.mid.abs() + self.rad)

    @property
    def lower(self) -> Tensor:
        """A lower bound on every number of the ball."""
        return -outward(self.rad - self.mid, self.mid.abs() + self.rad)

    @property
    def size(self) -> Tensor:
        """An upper bound on the absolute value of every number of the ball."""
        return (self.mid.abs() + self.rad) * UP

    def map(self, change: Callable[[Tensor], Tensor]) -> Ball:
        """The ball with both tensors reshaped in the same way."""
        return Ball(change(self.mid), change(self.rad))

    def at(self, where: slice | Tensor | tuple[Tensor, ...]) -> Ball:
        """Some of the numbers."""
        return Ball(self.mid[where], self.rad[where])

    @property
    def row(self) -> Ball:
        """With a dimension before the last one: (..., k) to (..., 1, k)."""
        return self.map(lambda t: t.unsqueeze(-2))

    @property
    def column(self) -> Ball:
        """With a dimension behind the last one: (..., k) to (..., k, 1)."""
        return self.map(lambda t: t.unsqueeze(-1))


class RungBalls(NamedTuple):
    """What W h + b, the gate V x + c and their product can be in one layer. Shapes (n, k)."""

    inner: Ball
    gate: Ball
    product: Ball


def product_error(x: Numbers, x_error: Numbers, y: Numbers, y_error: Numbers) -> Numbers:
    """The largest error of x y, from the sizes of the factors and their errors, entry by entry."""
    return x * y_error + x_error * (y + y_error)


def sum_error(weights: Numbers, weights_error: Numbers, x: Numbers, x_error: Numbers) -> Numbers:
    """The largest error of W x, from the sizes of stored weights and of x, and their errors: (o, k), (k,) to (o,)."""
    return weights @ x_error + weights_error @ x


def outward(total: Tensor, sizes: Tensor) -> Tensor:
    """A rounded sum of two numbers, moved up past its rounding error; ``sizes`` is the sum of their sizes."""
    return total + (EPSILON * sizes + TINY)


def exact(t: Tensor) -> Ball:
    """Numbers without error."""
    return Ball(t, torch.zeros_like(t))


def between(lower: Tensor, upper: Tensor) -> Ball:
    """The ball of everything from lower to upper."""
    mid = lower + (upper - lower) / 2
    rad = torch.maximum(upper - mid, mid - lower)
    return Ball(mid, rad * UP + EPSILON * mid.abs() + TINY)


def plus(x: Ball, y: Ball) -> Ball:
    """The sum."""
    mid = x.mid + y.mid
    return Ball(mid, (x.rad + y.rad + EPSILON * mid.abs()) * UP + TINY)


def product(x: Ball, y: Ball) -> Ball:
    """The product, entry by entry."""
    mid = x.mid * y.mid
    rad = product_error(x.mid.abs(), x.rad, y.mid.abs(), y.rad) + EPSILON * mid.abs()
    return Ball(mid, rad * UP + TINY)


def interval_product(x: Ball, y: Ball) -> Ball:
    """The product, entry by entry, from its corners: narrower than `product` where a factor keeps its sign."""
    corners = torch.stack([a * b for a in (x.lower, x.upper) for b in (y.lower, y.upper)])
    found = between(corners.amin(0), corners.amax(0))
    return Ball(found.mid, (found.rad + EPSILON * corners.abs().amax(0)) * UP + TINY)


def ladder_intervals(polynomial: LadderPolynomial, x: Ball) -> list[RungBalls]:
    """What every rung of a single ladder in float64 can be while each input is in its ball. Shape (n, d)."""
    h, found = x, []
    for W, b, V, c in polynomial.layers():
        inner, gate = affine(h, W, b), affine(x, V, c)
        h = interval_product(inner, gate)
        found.append(RungBalls(inner, gate, h))
    return found


def matmul(x: Ball, y: Ball) -> Ball:
    """The matrix product of (..., n, k) and (..., k, o).

    The error of a sum of k products, in any order, is at most k roundings of the sum of their sizes. The radius is
    itself such a sum, of positive numbers, and is enlarged by as much.
    """
    k = x.mid.shape[-1]
    unit = (k + 4) * EPSILON
    size = y.mid.abs()
    rad = (x.rad + unit * x.mid.abs()) @ (size + y.rad) + x.mid.abs() @ y.rad
    return Ball(x.mid @ y.mid, rad * (1 + 2 * unit) + k * TINY)


def linear(x: Ball, weight: Tensor) -> Ball:
    """Rows (..., n, k) times exact weights (..., o, k)."""
    k = x.mid.shape[-1]
    unit = (k + 4) * EPSILON
    rad = (x.rad + unit * x.mid.abs()) @ weight.mT.abs()
    return Ball(x.mid @ weight.mT, rad * (1 + 2 * unit) + k * TINY)


def affine(x: Ball, weight: Tensor, intercept: Tensor) -> Ball:
    """Rows (..., n, k) times exact weights (..., o, k), plus exact intercepts (..., o)."""
    return plus(linear(x, weight), exact(intercept.unsqueeze(-2).expand(*x.mid.shape[:-1], -1)))


def total(x: Ball, dim: int = -1) -> Ball:
    """The sum along a dimension."""
    unit = (x.mid.shape[dim] + 4) * EPSILON
    rad = (x.rad + unit * x.mid.abs()).sum(dim)
    return Ball(x.mid.sum(dim), rad * (1 + 2 * unit) + TINY * x.mid.shape[dim])


def sum_of(parts: list[Tensor]) -> Tensor:
    """An upper bound on the exact sum of several numbers of any sign."""
    together = torch.stack(parts)
    return together.sum(0) + (len(parts) + 8) * EPSILON * together.abs().sum(0) + TINY


def sum_up(parts: Tensor, dim: int = -1) -> Tensor:
    """An upper bound on the exact sum of non-negative numbers along a dimension."""
    return parts.sum(dim) * (1 + (parts.shape[dim] + 4) * EPSILON) + TINY
