"""The monomials of a ladder, written out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.monomials import exponents, homogeneous_parts, monomials, places, terms
from polyladder.polynomial.ladder import LadderPolynomial, check_rows


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients:
    r"""A polynomial of degree p in d inputs as the sum of its C(d + p, p) monomials.

    .. math:: f(x) = \sum_t v_t \prod_i x_i^{e_{ti}}

    Every monomial up to degree p has its row, even if its coefficient is zero, in a fixed order: by degree, constant
    first, and within a degree by the highest input, then the next (x1 x1, x1 x2, x2 x2, x1 x3, ...). The rows of degree
    at most q are thus the first C(d + q, q), and two ladders of equal inputs and order can be compared row by row.

    Args:
        exponents: one monomial per row. Shape (terms, d), int16.
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
        for degree in range(1, self.degree + 1):
            lists = monomials(d, degree)
            parent, last = (t.to(x.device) for t in (places(lists[:, :-1]), lists[:, -1]))
            levels.append(levels[-1][..., parent] * x[..., last])
        return torch.cat(levels, -1) @ self.values

    def __repr__(self) -> str:
        batch = f"batch_shape={tuple(self.batch_shape)}, " if self.batch_shape else ""
        terms, d = self.exponents.shape
        return f"Coefficients({batch}{terms} terms of degree <= {self.degree}, {d} -> {self.values.shape[-1]})"


def coefficients(polynomial: LadderPolynomial, max_terms: int = 1_000_000) -> Coefficients:
    """The exact monomials of a ladder, multiplied out layer by layer.

    Each rung is one product of matrices, W^l times the coefficients so far, and one product of polynomials, in which
    every input x_i moves all terms to the places of their multiples (`homogeneous_parts`).

    Args:
        polynomial: order p, any ``batch_shape``.
        max_terms: refuse a polynomial with more than this many monomials.

    Returns:
        All C(d + p, p) of them, in the dtype of the weights and differentiable in them.

    Cost: O(k (k + d) C(d + L, L)) multiplications for the last rung, the most expensive; memory for k C(d + p, p)
    numbers.

    Example:
        >>> import torch
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero + 2,), readout=one, offset=zero)
        >>> coefficients(square).values.flatten()  # x (x + 2)
        tensor([0., 2., 1.])
    """
    d, order = polynomial.in_features, polynomial.order
    check_terms(d, order, max_terms, "a ladder of fewer inputs or lower order")
    values = torch.cat(homogeneous_parts(polynomial, order)[-1], -2)
    return Coefficients(exponents=exponents_up_to(d, order).to(values.device), values=values)


def exponents_up_to(d: int, order: int) -> Tensor:
    """The powers of all inputs in all monomials up to an order. Shape (terms, d), int16."""
    return torch.cat([exponents(d, degree) for degree in range(order + 1)])


def check_terms(d: int, order: int, max_terms: int, instead: str) -> None:
    """Refuse a polynomial with more monomials than ``max_terms``."""
    if isinstance(max_terms, bool) or not isinstance(max_terms, int) or max_terms < 1:
        raise ValueError(f"max_terms must be a positive integer; got {max_terms!r}.")
    if terms(d, order) > max_terms:
        raise ValueError(
            f"max_terms must be at least {terms(d, order):,}, the number of monomials of order {order} in {d} inputs; "
            f"got {max_terms:,}. Raise it, or use {instead}."
        )
