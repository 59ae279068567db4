"""Losses of rows that may move: the worst loss near each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from polyladder.analysis.jacobian import jacobian
from polyladder.models.batched import BatchedModule, positive_integer
from polyladder.models.ladder import LPNN
from polyladder.models.merge import live_polynomial
from polyladder.training.gradient.attacked import attacked_rows
from polyladder.training.gradient.bounded import bounded_losses
from polyladder.training.losses.loss import Loss


@dataclass(frozen=True)
class Robust:
    """Train on the worst loss within a radius of each row. An option of `Adam`, for ladders.

    Args:
        radius: by which every input may move, in the units of x. One number, or shape batch_shape.
        against: ``"attack"``: the worst row that a few exact steps find; ``"bound"``: an upper bound on the loss of all
            rows of the box, exact in its linear part. The first costs less and keeps more accuracy; for ladders trained
            by the second, more can be proven.
        share: of the worst loss; the rest of the loss is that of the row itself. In (0, 1].
        warmup: epochs over which the radius grows from 0.
        steps: of the attack.
    """

    radius: float | Tensor
    against: Literal["attack", "bound"] = "attack"
    share: float = 1.0
    warmup: int = 0
    steps: int = 2

    def __post_init__(self) -> None:
        if self.against not in ("attack", "bound"):
            raise ValueError(f"against must be 'attack' or 'bound'; got {self.against!r}.")
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1; got {self.share!r}.")
        if isinstance(self.warmup, bool) or not isinstance(self.warmup, int) or self.warmup < 0:
            raise ValueError(f"warmup must be a number of epochs from 0 on; got {self.warmup!r}.")
        positive_integer("steps", self.steps)


def robust_losses(
    net: BatchedModule,
    loss: Loss,
    robust: Robust | None,
    x: Tensor,
    target: Tensor,
    radius: Tensor,
    outputs: Callable[[Tensor], Tensor] | None = None,
) -> Tensor:
    """The loss of every row under every model, or the mixture that ``robust`` asks for.

    Attacked and original rows pass through the network as one batch, for batch norm and dropout. A bound is computed
    for the polynomial that `polyladder.merge` would return.

    Args:
        net: any model; with ``robust``, a ladder.
        loss: of the rows.
        robust: what may move, or None.
        x: rows. Shape (n, d) or (*batch_shape, n, d).
        target: as the loss codes it.
        radius: of the boxes; not read without ``robust``. Shape (B,).
        outputs: what computes the outputs, if it is not ``net`` itself.

    Returns:
        Shape (*batch_shape, n).
    """
    outputs = outputs or net
    if robust is None:
        return loss.rows(outputs(x), target)
    radius = radius.to(x.dtype).view(*net.batch_shape, 1, 1)
    polynomial = live_polynomial(ladder(net))
    if robust.against == "bound":
        worst = bounded_losses(polynomial, loss, x, target, radius)
        # The original rows always pass: batch norm learns its statistics from them.
        return robust.share * worst + (1 - robust.share) * loss.rows(outputs(x), target)
    moved = attacked_rows(polynomial, loss, x, target, radius, robust.steps)
    if robust.share == 1:
        return loss.rows(outputs(moved), target)
    both = outputs(torch.cat([x.expand(moved.shape), moved], -2))
    clean, worst = (loss.rows(part, target) for part in both.tensor_split(2, -2))
    return robust.share * worst + (1 - robust.share) * clean


def jacobian_norms(net: BatchedModule, x: Tensor) -> Tensor:
    """Sums of squares of all derivatives at every row, of the polynomial of a ladder. Shape (*batch_shape, n)."""
    return jacobian(live_polynomial(ladder(net)), x).square().sum((-2, -1))


def ladder(net: BatchedModule) -> LPNN:
    """Refuse networks other than ladders."""
    if not isinstance(net, LPNN):
        raise TypeError(f"net must be an LPNN for jacobian_penalty and robust; got {type(net).__name__}.")
    return net
