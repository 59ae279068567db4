"""Intercepts absorbed into the weights: the form in which the paper's theorems are stated."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial


def absorb(polynomial: LadderPolynomial) -> LadderPolynomial:
    r"""The same function of x-hat = [x; 1], with every intercept zero.

    Implements: eq. (8), eq. (9).

    .. math:: \hat W = \begin{pmatrix} W & b \\ 0 & 1 \end{pmatrix}, \quad
              \hat V = \begin{pmatrix} V & c \\ 0 & 1 \end{pmatrix}, \quad \hat h = [h; 1]

    The paper's V-hat has no gate intercept (c = 0). The readout takes its offset in as [R o].

    Args:
        polynomial: any ladder with inputs (n, d).

    Returns:
        A ladder over d + 1 inputs, one unit wider in every layer: ``absorb(p)(append_one(x)) == p(x)``.
    """
    W, V = [], []
    for weight, intercept, gate, gate_intercept in polynomial.layers():
        W.append(bordered(weight, intercept))
        V.append(bordered(gate, gate_intercept))
    zeros = tuple(w.new_zeros(w.shape[:-1]) for w in W)
    return LadderPolynomial(
        W=tuple(W),
        b=zeros,
        V=tuple(V),
        c=zeros,
        readout=torch.cat([polynomial.readout, polynomial.offset.unsqueeze(-1)], -1),
        offset=torch.zeros_like(polynomial.offset),
    )


def append_one(x: Tensor) -> Tensor:
    """x-hat = [x, 1]. Shape (..., d) to (..., d + 1)."""
    return torch.cat([x, x.new_ones(*x.shape[:-1], 1)], -1)


def bordered(weight: Tensor, intercept: Tensor) -> Tensor:
    """[weight intercept; 0 1]. Shape (*batch_shape, k, i) to (*batch_shape, k + 1, i + 1)."""
    top = torch.cat([weight, intercept.unsqueeze(-1)], -1)
    last = torch.zeros_like(top[..., :1, :])
    last[..., -1] = 1
    return torch.cat([top, last], -2)
