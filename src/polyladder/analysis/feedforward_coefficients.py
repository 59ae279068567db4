"""The monomials of a quadratic feed-forward network, written out."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from polyladder.analysis.coefficients import (
    Coefficients,
    MonomialBlock,
    exponent_matrix,
    monomial_blocks,
    plus_constant,
    products,
)
from polyladder.models.batched import positive_integer
from polyladder.models.feedforward import Feedforward


@torch.no_grad()
def feedforward_coefficients(net: Feedforward, max_terms: int = 1_000_000) -> Coefficients:
    """The exact polynomial that ``net.eval()`` computes, with batch norm folded in.

    Each layer squares polynomials of degree q, so the order doubles and L layers give order 2 ** L: three layers over
    8 inputs have 12,870 monomials, over 54 inputs 3.4 billion. A ladder of three layers has 495 and 424,270.

    Args:
        net: with ``activation="quadratic"``, any ``batch_shape``, in either mode.
        max_terms: refuse a polynomial with more than this many monomials.

    Returns:
        All C(d + p, p) of them, p = 2 ** L, in the dtype of the weights.

    Cost: O(k C(d + p / 2, p / 2)^2) multiplications for the last layer, k its width.

    Example:
        >>> net = Feedforward(1, (1,), 1, activation="quadratic", dtype=torch.float64)
        >>> with torch.no_grad():
        ...     _ = net.W[0].fill_(3), net.b[0].fill_(1), net.readout.fill_(2), net.offset.fill_(5)
        >>> feedforward_coefficients(net).values.flatten()  # 5 + 2 (3 x + 1)^2
        tensor([ 7., 12., 18.], dtype=torch.float64)
    """
    if net.activation != "quadratic":
        raise ValueError(f"net must have the activation 'quadratic'; got {net.activation!r}, which is no polynomial.")
    d, order = net.in_features, net.order
    terms = math.comb(d + order, order)
    if terms > positive_integer("max_terms", max_terms):
        raise ValueError(
            f"max_terms must be at least {terms:,}, the number of monomials of order {order} in {d} inputs; "
            f"got {max_terms:,}. Raise it, or use a network of fewer layers or inputs."
        )
    blocks = monomial_blocks(d, order, net.readout.device)
    tables = products(blocks, d)
    # h^0 = x: no constant, then the inputs themselves; terms are rows.
    state = torch.nn.functional.pad(torch.eye(d).to(net.readout), (0, 0, 1, 0)).expand(*net.batch_shape, d + 1, d)
    for l, (W, b) in enumerate(zip(net.W, net.b, strict=True)):
        state = squared(plus_constant(state @ W.mT, b), blocks[: 2**l + 1], tables, math.comb(d + 2 ** (l + 1), d))
        if net.batch_norm:
            scale, shift = net.norms[l].affine()  # type: ignore[operator]
            state = plus_constant(state * scale.unsqueeze(-2), shift)
    values = plus_constant(state @ net.readout.mT, net.offset)
    return Coefficients(exponents=exponent_matrix(blocks, d), values=values)


def squared(polynomials: Tensor, blocks: list[MonomialBlock], tables: Tensor, terms: int) -> Tensor:
    """The squares of polynomials.

    Args:
        polynomials: coefficients, one polynomial a column. Shape (..., terms of degree q or less, k).
        blocks: the monomials of degree 0 to q.
        tables: where each monomial goes when multiplied by each input. Shape (d, at least the terms below degree 2 q).
        terms: the number of monomials of degree 2 q or less.

    Returns:
        Shape (..., terms, k).
    """
    square = polynomials.new_zeros(*polynomials.shape[:-2], terms, polynomials.shape[-1])
    places = [torch.arange(polynomials.shape[-2], device=polynomials.device)]
    start = 0
    for block in blocks:
        # Where all products of a monomial go follows from where those of its parent, one degree below, went.
        if start:
            parents = places
            places = [tables[i, parents[p]] for p, i in zip(block.parent.tolist(), block.last.tolist(), strict=True)]
        for offset, place in enumerate(places):
            square.index_add_(-2, place, polynomials[..., start + offset, None, :] * polynomials)
        start += len(places)
    return square
