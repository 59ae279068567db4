"""The worst rows that a few exact steps find, cheap enough for every mini-batch."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.analysis.jacobian import weighted_gradient
from polyladder.analysis.line import line_polynomial
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.losses.loss import Loss

PLACES = 8
"""Points along a line at which the loss is computed; more of them cost little, as the line's coefficients are known."""


@torch.no_grad()
def attacked_rows(
    polynomial: LadderPolynomial, loss: Loss, x: Tensor, target: Tensor, radius: Tensor, steps: int
) -> Tensor:
    """Rows within a radius of the given ones with a high loss, never lower than that of the rows themselves.

    A step looks along the line to the corner of the box that the loss's gradient points to, which is where the linear
    part of the loss is largest. Along it the outputs are polynomials of one variable, exactly. The first step looks to
    both sides: if a target is met almost exactly, either side may be worse.

    Args:
        polynomial: any ``batch_shape``.
        loss: of the rows.
        x: rows. Shape (n, d) or (*batch_shape, n, d).
        target: as the loss codes it.
        radius: of the boxes. Shape (*batch_shape, 1, 1).
        steps: how many lines.

    Returns:
        Shape (*batch_shape, n, d).

    Cost: a step takes about two forward passes and a line, the order of the polynomial plus one more.
    """
    shape = (*polynomial.batch_shape, *x.shape[-2:])
    at, first = x.expand(shape), torch.linspace(-1, 1, 2 * PLACES + 1, dtype=x.dtype, device=x.device)
    for number in range(steps):
        # Zero comes first, so that a row which gains nothing stays where it is.
        places = first if number == 0 else first[PLACES:]
        places = places[places.abs().argsort(stable=True)]
        slope = weighted_gradient(polynomial, at, loss.slopes(polynomial(at), target))
        direction = x + radius * slope.sign() - at
        line = line_polynomial(polynomial, at, direction)
        values = line(places.view(-1, *[1] * len(line.shape)))
        best = loss.rows(values, target).argmax(0)
        at = at + places[best].unsqueeze(-1) * direction
    return torch.clamp(at, x - radius, x + radius)
