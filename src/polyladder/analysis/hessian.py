"""All second derivatives with respect to some inputs at once."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from polyladder.analysis.jacobian import times
from polyladder.polynomial.ladder import LadderPolynomial, affine
from polyladder.polynomial.rungs import diagonal_of

SLOPES = 2**17
"""Derivatives of a layer's states held at once: 1 MiB in float64, so that they stay in a processor's cache."""


def hessian(polynomial: LadderPolynomial, x: Tensor, inputs: Tensor) -> Tensor:
    r"""Second derivatives of every output with respect to every two of the chosen inputs.

    With q^l the derivatives of an output by the state of layer l, and u^l = W^l h^(l-1) + b^l,

    .. math:: H = \sum_l A_l + A_l^T, \quad A_l = (V^l)^T \, \mathrm{diag}(q^l) \, \nabla u^l

    because the gates are affine and a product of two factors has one mixed term. Layers with a diagonal W cost no
    matrix product.

    Args:
        polynomial: any ``batch_shape``.
        x: rows. Shape (n, d) or (*batch_shape, n, d).
        inputs: positions of the chosen ones. Shape (c,).

    Returns:
        Shape (*batch_shape, n, m, c, c).

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> hessian(square, torch.tensor([[3.0]]), torch.tensor([0]))
        tensor([[[[2.]]]])
    """
    x = polynomial.check_rows(x)
    diagonals = [None, *map(diagonal_of, polynomial.W[1:])]
    numbers = max((1, *polynomial.hidden)) * len(inputs) * math.prod(polynomial.batch_shape)
    parts = torch.split(x, max(1, SLOPES // numbers), -2)
    return torch.cat([second_derivatives(polynomial, rows, inputs, diagonals) for rows in parts], -4)


def second_derivatives(
    polynomial: LadderPolynomial, x: Tensor, inputs: Tensor, diagonals: list[Tensor | None]
) -> Tensor:
    """`hessian` of a few rows, given the diagonals of those layers that have nothing else."""
    h, factors = x, []
    for W, b, V, c in polynomial.layers():
        u, gate = affine(h, W, b), affine(x, V, c)
        factors.append((u, gate))
        h = u * gate
    by_state = [polynomial.readout.unsqueeze(-3)]
    for W, diagonal, (_, gate) in zip(polynomial.W[:0:-1], diagonals[:0:-1], factors[:0:-1], strict=True):
        upper = by_state[0] * gate.unsqueeze(-2)
        by_state.insert(0, times(upper, W) if diagonal is None else upper * diagonal.unsqueeze(-2))
    slopes = torch.eye(polynomial.in_features, dtype=x.dtype, device=x.device)[:, inputs]
    shape = (*polynomial.batch_shape, x.shape[-2], polynomial.out_features, len(inputs), len(inputs))
    half = x.new_zeros(shape)
    for W, V, diagonal, (u, gate), q in zip(polynomial.W, polynomial.V, diagonals, factors, by_state, strict=False):
        rises = V[..., inputs].unsqueeze(-3)
        inner = W.unsqueeze(-3) @ slopes if diagonal is None else diagonal.mT.unsqueeze(-3) * slopes
        half = half + (q.unsqueeze(-1) * rises.unsqueeze(-3)).mT @ inner.unsqueeze(-3)
        slopes = gate.unsqueeze(-1) * inner + u.unsqueeze(-1) * rises
    return half + half.mT
