"""Growing ladders: one of order p starts one of order p + 1, until the held-out error stops falling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from polyladder.models.batched import Seeds, generators
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.widen import lengthen

NOISE = 0.3
"""How far a new rung starts from the identity: enough to differ from the rungs below."""


@dataclass(frozen=True)
class Growth:
    """A walk up the orders.

    Attributes:
        orders: the orders tried, rising.
        errors: the held-out error of each.
        gain: the least relative improvement that counts.
    """

    orders: tuple[int, ...]
    errors: tuple[float, ...]
    gain: float = 0.01

    @property
    def order(self) -> int:
        """The first order on which no later one improves by ``gain``."""
        lowest = min(self.errors)
        return next(o for o, error in zip(self.orders, self.errors, strict=True) if (1 - self.gain) * error <= lowest)


def add_rung(polynomial: LadderPolynomial, seed: Seeds) -> LadderPolynomial:
    """A ladder of the next order that starts where this one is: an identity rung plus small noise on top.

    Args:
        polynomial: any ``batch_shape``.
        seed: of the noise: one integer (model i of the flattened batch takes ``seed + i``) or one per model.
    """
    longer = lengthen(polynomial, len(polynomial.W) + 1)
    streams = generators(seed, polynomial.batch_shape)

    def noisy(t: Tensor) -> Tensor:
        noise = torch.stack([torch.randn(t.shape[-2:], generator=g, dtype=t.dtype) for g in streams])
        return t + NOISE * noise.reshape(t.shape).to(t.device) / t.shape[-1] ** 0.5

    return replace(longer, W=(*longer.W[:-1], noisy(longer.W[-1])), V=(*longer.V[:-1], noisy(longer.V[-1])))


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
    return Growth(tuple(tried), tuple(errors), gain)
