"""Ladders whose units do not mix: diagonal layers and repeated gates cost no matrix product."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial, affine


def last_states(polynomial: LadderPolynomial, x: Tensor) -> Tensor:
    """h^L at rows x, as `LadderPolynomial.hidden_states` gives it. Shape (*batch_shape, n, k).

    A layer with a diagonal W is multiplied element by element, and a gate that an earlier layer has is not computed
    again: for kernels over directions, a single matrix product is left.

    Args:
        polynomial: any ``batch_shape``, with at least one layer.
        x: shape (n, d) or (*batch_shape, n, d).
    """
    h, known = x, list[tuple[Tensor, Tensor, Tensor]]()
    for W, b, V, c in polynomial.layers():
        gate = next((value for v, o, value in known if same(v, V) and same(o, c)), None)
        if gate is None:
            gate = affine(x, V, c)
            known.append((V, c, gate))
        diagonal = None if h is x else diagonal_of(W)
        h = gate * (affine(h, W, b) if diagonal is None else h * diagonal + b.unsqueeze(-2))
    return h


def diagonal_of(W: Tensor) -> Tensor | None:
    """The diagonal of a square matrix (*batch_shape, k, k) if all else is zero. Shape (*batch_shape, 1, k)."""
    diagonal = W.diagonal(dim1=-2, dim2=-1)
    if W.shape[-1] != W.shape[-2] or not torch.equal(torch.diag_embed(diagonal), W):
        return None
    return diagonal.unsqueeze(-2)


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two weights are equal, bit for bit."""
    return one.shape == other.shape and torch.equal(one, other)
