"""Monomials in one fixed order, and ladders written out in them.

Within a degree they are ordered by the highest input, then the next (x1 x1, x1 x2, x2 x2, x1 x3, ...): those that use
no input after x_i come first, whatever d is.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial


def count(d: int, degree: int) -> int:
    """The number N of monomials of one degree in d variables."""
    return math.comb(d + degree - 1, degree)


def terms(d: int, order: int) -> int:
    """How many monomials there are up to this order."""
    return math.comb(d + order, order)


@lru_cache(maxsize=64)
def monomials(d: int, degree: int) -> Tensor:
    """Monomials of one degree as ascending lists of variables. Shape (N, degree)."""
    if degree == 0:
        return torch.zeros(1, 0, dtype=torch.int64)
    below = monomials(d, degree - 1)
    prefixes = [below[: count(i + 1, degree - 1)] for i in range(d)]
    last = torch.repeat_interleave(torch.arange(d), torch.tensor([len(prefix) for prefix in prefixes]))
    return torch.cat([torch.cat(prefixes), last.unsqueeze(-1)], -1)


def places(lists: Tensor) -> Tensor:
    """Where ascending lists of variables stand among the monomials of their degree. Shape (..., degree) to (...)."""
    largest = int(lists.max()) + 1 if lists.numel() else 0
    before = [[count(v, i + 1) for i in range(lists.shape[-1])] for v in range(largest)]
    table = torch.tensor(before, dtype=torch.int64).reshape(largest, lists.shape[-1])
    return table[lists, torch.arange(lists.shape[-1])].sum(-1)


@lru_cache(maxsize=64)
def joined(d: int, left: int, right: int) -> Tensor:
    """Where the product of two monomials stands among those of the summed degree. Shape (N_left, N_right)."""
    rows, columns = monomials(d, left), monomials(d, right)
    pairs = [rows.unsqueeze(1).expand(-1, len(columns), -1), columns.unsqueeze(0).expand(len(rows), -1, -1)]
    return places(torch.cat(pairs, -1).sort(-1).values)


@lru_cache(maxsize=64)
def multiplicities(d: int, degree: int) -> Tensor:
    """In how many orders the factors of each monomial can be written: the multinomial coefficients. Shape (N,)."""
    if degree == 0:
        return torch.ones(1, dtype=torch.float64)
    shorter = multiplicities(d, degree - 1).unsqueeze(-1).expand(-1, d)
    total = torch.zeros(count(d, degree), dtype=torch.float64)
    return total.index_add(0, joined(d, degree - 1, 1).flatten(), shorter.flatten())


@lru_cache(maxsize=64)
def exponents(d: int, degree: int) -> Tensor:
    """The power of each input in each monomial of one degree. Shape (N, d), int16."""
    found = torch.zeros(count(d, degree), d, dtype=torch.int16)
    for variable in monomials(d, degree).unbind(-1):
        found[torch.arange(len(found)), variable] += 1
    return found


def homogeneous_parts(polynomial: LadderPolynomial, max_degree: int) -> list[list[Tensor]]:
    """What enters each gate, W^l h^(l-1) + b^l, and last the output, degree by degree in x.

    Args:
        polynomial: any ``batch_shape``.
        max_degree: parts above it are left out.

    Returns:
        For each l = 1, ..., L + 1 the coefficients of the parts of degree 0, 1, ..., at most l. Shapes
        (*batch_shape, N_j, k_l), in the order of `monomials`; differentiable in the weights.
    """
    d = polynomial.in_features
    identity = torch.eye(d, dtype=polynomial.dtype, device=polynomial.device)
    parts = [identity.new_zeros(1, d), identity]
    rungs = []
    for W, b, V, c in polynomial.layers():
        inner = [part @ W.mT for part in parts]
        inner[0] = inner[0] + b.unsqueeze(-2)
        rungs.append(inner)
        parts = [c.unsqueeze(-2) * part for part in inner]
        for j, part in enumerate(inner[:max_degree]):
            raised = times_linear(part, V, j)
            if j + 1 < len(parts):
                parts[j + 1] = parts[j + 1] + raised
            else:
                parts.append(raised)
    output = [part @ polynomial.readout.mT for part in parts]
    output[0] = output[0] + polynomial.offset.unsqueeze(-2)
    return [*rungs, output]


def times_linear(part: Tensor, V: Tensor, degree: int) -> Tensor:
    """Forms of one degree (*batch_shape, N_j, k) times the linear forms V (*batch_shape, k, d), unit by unit."""
    d = V.shape[-1]
    where = joined(d, degree, 1).to(part.device)
    found = part.new_zeros(*part.shape[:-2], count(d, degree + 1), part.shape[-1])
    for i in range(d):
        # In place, input by input: all products at once would take d times the memory, and no less time.
        found.index_add_(-2, where[:, i], part * V[..., i].unsqueeze(-2))
    return found
