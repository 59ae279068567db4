"""Growing ladders: one of order p starts one of order p + 1, until the held-out error stops falling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.widen import lengthen

NOISE = 0.3
"""How far a new rung starts from the identity: enough for its solves to see something that the rungs below are not."""


@dataclass(frozen=True)
class Growth:
    """A walk up the orders.

    Attributes:
        orders: the orders tried, rising.
        errors: the held-out error of each.
        order: where the error was lowest.
    """

    orders: tuple[int, ...]
    errors: tuple[float, ...]

    @property
    def order(self) -> int:
        """The order with the lowest held-out error."""
        return self.orders[min(range(len(self.orders)), key=self.errors.__getitem__)]


def add_rung(polynomial: LadderPolynomial, seed: int) -> LadderPolynomial:
    """A ladder of the next order that starts where this one is: an identity rung plus small noise on top.

    Args:
        polynomial: at least one layer, any ``batch_shape``.
        seed: of the noise.
    """
    longer = lengthen(polynomial, len(polynomial.W) + 1)
    stream = torch.Generator().manual_seed(seed)

    def noisy(t: Tensor) -> Tensor:
        noise = torch.randn(t.shape, generator=stream, dtype=t.dtype).to(t.device)
        return t + NOISE * noise / t.shape[-1] ** 0.5

    return LadderPolynomial(
        W=(*longer.W[:-1], noisy(longer.W[-1])),
        b=longer.b,
        V=(*longer.V[:-1], noisy(longer.V[-1])),
        c=longer.c,
        readout=longer.readout,
        offset=longer.offset,
    )


def grow(
    fit: Callable[[int, LadderPolynomial | None], tuple[LadderPolynomial, float]],
    orders: Sequence[int],
    seed: int,
    gain: float = 0.01,
    patience: int = 2,
) -> Growth:
    """Walk up the orders until the held-out error has not fallen by ``gain``, relatively, for ``patience`` of them.

    Args:
        fit: fits ladders of a given order, from a grown start or (None) without one; returns them and their held-out
            error.
        orders: consecutive orders, rising, from 2.
        seed: of the noise on new rungs.
        gain: the least relative improvement that counts.
        patience: how many orders without one end the walk.
    """
    start: LadderPolynomial | None = None
    tried: list[int] = []
    errors: list[float] = []
    for order in orders:
        polynomial, error = fit(order, start)
        tried.append(order)
        errors.append(error)
        recent = errors[-patience:]
        before = errors[:-patience]
        if before and min(recent) > (1 - gain) * min(before):
            break
        start = add_rung(polynomial, seed + order)
    return Growth(tuple(tried), tuple(errors))
