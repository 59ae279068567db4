"""The monomials of a ladder, written out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial, check_rows


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients:
    r"""A polynomial of degree p in d inputs as the sum of its C(d + p, p) monomials.

    .. math:: f(x) = \sum_t v_t \prod_i x_i^{e_{ti}}

    Every monomial up to degree p has its row, be its coefficient zero or not, in a fixed order: by degree, constant
    first, and within a degree by the highest input, then the next (x1 x1, x1 x2, x2 x2, x1 x3, ...). The rows of degree
    at most q are thus the first C(d + q, q), and two ladders of equal inputs and order can be compared row by row.

    Args:
        exponents: one monomial a row. Shape (terms, d), int16.
        values: their coefficients. Shape (*batch_shape, terms, m).
    """

    exponents: Tensor
    values: Tensor

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of the batch of polynomials; ``()`` for a single one."""
        return self.values.shape[:-2]

    @property
    def degree(self) -> int:
        """The highest total degree p."""
        return int(self.exponents[-1].sum())

    def __call__(self, x: Tensor) -> Tensor:
        """The sum of monomials at rows x, (n, d) or (*batch_shape, n, d); the result has shape (*batch_shape, n, m).

        Holds n times ``terms`` numbers; the ladder itself is cheaper to evaluate.
        """
        d = int(self.exponents.shape[-1])
        x = check_rows(x, d, self.batch_shape).to(self.values)
        levels = [torch.ones_like(x[..., :1])]
        for block in monomial_blocks(d, self.degree, x.device)[1:]:
            levels.append(levels[-1][..., block.parent] * x[..., block.last])
        return torch.cat(levels, -1) @ self.values

    def __repr__(self) -> str:
        batch = f"batch_shape={tuple(self.batch_shape)}, " if self.batch_shape else ""
        terms, d = self.exponents.shape
        return f"Coefficients({batch}{terms} terms of degree <= {self.degree}, {d} -> {self.values.shape[-1]})"


def coefficients(polynomial: LadderPolynomial, max_terms: int = 1_000_000) -> Coefficients:
    """The exact monomials of a ladder, multiplied out layer by layer.

    Each rung is one product of matrices, W^l times the coefficients so far, and one product of polynomials, in which
    every input x_i moves all terms to the places of their multiples (`products`).

    Args:
        polynomial: order p, any ``batch_shape``.
        max_terms: refuse a polynomial with more than this many monomials.

    Returns:
        All C(d + p, p) of them, in the dtype of the weights and differentiable in them.

    Cost: O(k (k + d) C(d + L, L)) multiplications for the last rung, the dearest; memory for k C(d + p, p) numbers.

    Example:
        >>> import torch
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero + 2,), readout=one, offset=zero)
        >>> coefficients(square).values.flatten()  # x (x + 2)
        tensor([0., 2., 1.])
    """
    d, order = polynomial.in_features, polynomial.order
    terms = math.comb(d + order, order)
    if isinstance(max_terms, bool) or not isinstance(max_terms, int) or max_terms < 1:
        raise ValueError(f"max_terms must be a positive integer; got {max_terms!r}.")
    if terms > max_terms:
        raise ValueError(
            f"max_terms must be at least {terms:,}, the number of monomials of order {order} in {d} inputs; "
            f"got {max_terms:,}. Raise it, or use a ladder of fewer inputs or lower order."
        )
    blocks = monomial_blocks(d, order, polynomial.device)
    tables = products(blocks, d)
    # h^0 = x: no constant, then the inputs themselves. Terms are rows throughout, as an addition to rows is contiguous.
    state = torch.eye(d, dtype=polynomial.dtype, device=polynomial.device)
    state = torch.nn.functional.pad(state, (0, 0, 1, 0)).expand(*polynomial.batch_shape, d + 1, d)
    for l, (W, b, V, c) in enumerate(polynomial.layers(), start=1):
        factor = plus_constant(state @ W.mT, b)
        # The gate's intercept leaves the terms where they are.
        state = torch.nn.functional.pad(c.unsqueeze(-2) * factor, (0, 0, 0, math.comb(d + l, l + 1)))
        for i in range(d):
            # In place, because a copy of all terms for every input would cost more than the product itself.
            state.index_add_(-2, tables[i, : factor.shape[-2]], V[..., i].unsqueeze(-2) * factor)
    values = plus_constant(state @ polynomial.readout.mT, polynomial.offset)
    return Coefficients(exponents=exponent_matrix(blocks, d), values=values)


@dataclass(frozen=True, eq=False)
class MonomialBlock:
    """The monomials of one degree, each as a monomial of the degree below times one further input.

    The degree's monomials that end in x_i are those below that use no input after x_i, and these are a prefix of their
    block: nothing needs to be sorted or looked up.

    Args:
        parent: the monomial of the degree below. Shape (terms of this degree,).
        last: the input it is multiplied by, the highest in the monomial. Shape (terms of this degree,).
        start: where the monomials that end in each input start. Shape (d,).
    """

    parent: Tensor
    last: Tensor
    start: Tensor


def monomial_blocks(d: int, degree: int, device: torch.device) -> list[MonomialBlock]:
    """The monomials of degree 0 to ``degree`` in d inputs."""
    nothing = torch.zeros(1, dtype=torch.int64, device=device)
    blocks = [MonomialBlock(parent=nothing, last=nothing, start=nothing.expand(d))]
    for q in range(1, degree + 1):
        counts = torch.tensor([math.comb(i + q - 1, q - 1) for i in range(d)], device=device)
        start = counts.cumsum(0) - counts
        last = torch.repeat_interleave(torch.arange(d, device=device), counts)
        blocks.append(
            MonomialBlock(parent=torch.arange(len(last), device=device) - start[last], last=last, start=start)
        )
    return blocks


def products(blocks: list[MonomialBlock], d: int) -> Tensor:
    """Where each monomial below the highest degree goes when multiplied by each input.

    Returns:
        Rows of `Coefficients.exponents`. Shape (d, terms in all blocks but the last).
    """
    inputs = torch.arange(d, device=blocks[0].last.device).unsqueeze(-1)
    # The constant goes to the input itself.
    place, first = inputs, 1
    tables = [first + place]
    for block, following in pairwise(blocks[1:]):
        first += len(block.last)
        own = torch.arange(len(block.last), device=block.last.device)
        # An input at or after the monomial's last one becomes its last; an earlier one is multiplied into its parent.
        onto = following.start.unsqueeze(-1) + own
        into = following.start[block.last] + place[:, block.parent]
        place = torch.where(inputs >= block.last, onto, into)
        tables.append(first + place)
    return torch.cat(tables, -1)


def exponent_matrix(blocks: list[MonomialBlock], d: int) -> Tensor:
    """The exponents of all monomials of the blocks. Shape (terms, d)."""
    sizes = [len(block.last) for block in blocks]
    exponents = torch.zeros(sum(sizes), d, dtype=torch.int16, device=blocks[0].last.device)
    below, *levels = torch.split(exponents, sizes)
    for level, block in zip(levels, blocks[1:], strict=True):
        torch.index_select(below, 0, block.parent, out=level)
        level[torch.arange(len(level), device=level.device), block.last] += 1
        below = level
    return exponents


def plus_constant(terms: Tensor, constant: Tensor) -> Tensor:
    """Polynomials (..., terms, k) plus constants (..., k), which belong to the first row."""
    return torch.cat([terms[..., :1, :] + constant.unsqueeze(-2), terms[..., 1:, :]], -2)
