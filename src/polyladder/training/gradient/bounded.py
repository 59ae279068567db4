"""An upper bound of every row's loss over a box around it, in one forward and one backward pass."""

from __future__ import annotations

from torch import Tensor

from polyladder.analysis.jacobian import times
from polyladder.polynomial.ladder import LadderPolynomial, affine
from polyladder.training.losses.loss import Loss


def bounded_losses(polynomial: LadderPolynomial, loss: Loss, x: Tensor, target: Tensor, radius: Tensor) -> Tensor:
    """An upper bound on the loss over the box. Unlike `certify`, it does not account for rounding.

    Args:
        polynomial: any ``batch_shape``.
        loss: of the rows.
        x: rows. Shape (n, d) or (*batch_shape, n, d).
        target: as the loss codes it.
        radius: of the boxes. Shape (*batch_shape, 1, 1).

    Returns:
        Shape (*batch_shape, n). Differentiable with respect to weights and radius.

    Cost: about m + 3 forward passes, and memory for (n, m, d) numbers for each polynomial.
    """

    def reach(sums: Tensor) -> Tensor:
        return reaches(polynomial, x, radius, sums)

    return loss.worst(polynomial(x), target, polynomial.readout, reach)


def reaches(polynomial: LadderPolynomial, x: Tensor, radius: Tensor, readout: Tensor) -> Tensor:
    r"""How far sums of the last state may move from their values at x, over boxes around x.

    With q^l the derivative of the sum by the state of layer l, and u^l = W^l h^(l-1) + b^l, both at x,

    .. math:: f(x + \delta) = f(x) + \nabla f(x) \delta + \sum_l q^l \cdot ((V^l \delta) * (u^l(x + \delta) - u^l(x)))

    The linear part is bounded exactly, the factors of the other part by intervals, layer by layer.

    Args:
        polynomial: any ``batch_shape``.
        x: rows. Shape (n, d) or (*batch_shape, n, d).
        radius: of the boxes. Shape (*batch_shape, 1, 1).
        readout: the sums. Shape (*batch_shape, n or 1, o, k_L).

    Returns:
        Shape (*batch_shape, n, o).
    """
    h, moved = x, radius.expand(*polynomial.batch_shape, *x.shape[-2:])
    layers = []
    for W, b, V, c in polynomial.layers():
        u, gate = affine(h, W, b), affine(x, V, c)
        u_moves, gate_moves = moved @ W.abs().mT, radius * V.abs().sum(-1).unsqueeze(-2)
        layers.append((W, V, *(t.unsqueeze(-2) for t in (u, gate, u_moves * gate_moves))))
        h = u * gate
        moved = gate.abs() * u_moves + (u.abs() + u_moves) * gate_moves
    upper, slope, rest = readout, x.new_zeros(()), x.new_zeros(())
    for W, V, u, gate, both in reversed(layers):
        slope = slope + times(upper * u, V)
        rest = rest + (upper.abs() * both).sum(-1)
        upper = times(upper * gate, W)
    return radius * (slope + upper).abs().sum(-1) + rest
