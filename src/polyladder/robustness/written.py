"""A ladder written out in monomials over a region: its coefficients, a bound on their rounding, and halves of a box."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from polyladder.analysis.coefficients import exponents_up_to
from polyladder.analysis.monomials import count, exponents, homogeneous_parts, joined, monomials, multiplicities, terms
from polyladder.polynomial.ball import EPSILON, TINY, UP, Ball, exact, sum_of, sum_up
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import recenter
from polyladder.robustness.quadratic import quadratic_upper
from polyladder.robustness.region import Norm, Region, euclidean

NUMBERS = 2**22
"""A ladder is written out if that takes at most this many numbers per region. Otherwise it is bounded layer by
layer."""

CHEBYSHEV = 6000
"""Polynomials of up to this many terms are turned into products of Chebyshev polynomials, by a matrix of as many
rows."""

AT_ONCE = 2**23
"""Numbers of all regions that are written out at the same time."""


def cost(polynomial: LadderPolynomial) -> int:
    """The numbers in the largest product that writing out a ladder takes, for one region."""
    d, order = polynomial.in_features, polynomial.order
    return max((1, *polynomial.hidden)) * count(d, max(order - 1, 0)) * d


def chunks(polynomial: LadderPolynomial, n: int) -> Iterator[slice]:
    """Parts of n regions that are small enough to be written out together."""
    step = max(1, AT_ONCE // cost(polynomial))
    return (slice(i, i + step) for i in range(0, n, step))


def write_out(polynomial: LadderPolynomial, region: Region, readout: Ball, offset: Ball) -> tuple[Tensor, Tensor]:
    """Coefficients over t, where x = center + radius * t, of functionals of the last state.

    A coefficient is a sum of products of weights; each product passes through so many roundings at most, and the sum of
    the sizes of all products is the ladder of absolute weights at the farthest corner. What underflows on the way is
    less than `TINY` in the last state.

    Args:
        polynomial: float64, a single one, rescaled.
        region: n regions.
        readout: shape (n, o, k_L).
        offset: shape (n, o).

    Returns:
        Coefficients by rising degree, each in the order of `monomials`, shape (n, o, N); and a bound on the sum of
        their errors, shape (n, o).
    """
    n, d, order = len(region), polynomial.in_features, polynomial.order
    center, radius = region.center, region.radius
    if not polynomial.W:
        values = offset.mid + (readout.mid @ center.unsqueeze(-1)).squeeze(-1)
        coefficients = torch.cat([values.unsqueeze(-1), readout.mid * radius.unsqueeze(-2)], -1)
    else:
        p = recenter(polynomial.map(lambda t: t.expand(n, *t.shape)), center, radius)
        # The last layer as a readout: its own product is taken after the sum over its units, which is much smaller.
        inner = LadderPolynomial(p.W[:-1], p.b[:-1], p.V[:-1], p.c[:-1], readout=p.W[-1], offset=p.b[-1])
        coefficients = last_product(homogeneous_parts(inner, order)[-1], p.V[-1], p.c[-1], readout.mid)
        coefficients[..., 0] += offset.mid
    roundings = 2 * (order + 1) * (max((d, *polynomial.hidden, polynomial.out_features)) + order + 12)
    largest = polynomial.map(torch.abs).hidden_states(center.abs() + radius)[-1].unsqueeze(-2)
    unit = roundings * EPSILON
    error = sum_up((readout.mid.abs() * unit + readout.rad) * largest + readout.size * TINY) * (1 + unit)
    return coefficients, (error + unit * offset.mid.abs() + offset.rad) * UP + TINY


def last_product(parts: Sequence[Tensor], V: Tensor, c: Tensor, readout: Tensor) -> Tensor:
    """Coefficients of readout @ ((V t + c) * u) from those of u, degree by degree.

    Args:
        parts: of u. Shapes (n, N_j, k).
        V: shape (n, k, d).
        c: shape (n, k).
        readout: shape (n, o, k).

    Returns:
        Shape (n, o, N).
    """
    n, o, _ = readout.shape
    d = V.shape[-1]
    gated = readout * c.unsqueeze(-2)
    found = [gated @ part.mT for part in parts]
    for j, part in enumerate(parts):
        products = ((readout.unsqueeze(-2) * part.unsqueeze(-3)) @ V.unsqueeze(1)).flatten(-2)
        raised = products.new_zeros(n, o, count(d, j + 1)).index_add(-1, joined(d, j, 1).flatten(), products)
        if j + 1 < len(found):
            found[j + 1] = found[j + 1] + raised
        else:
            found.append(raised)
    return torch.cat(found, -1)


def written_upper(coefficients: Tensor, error: Tensor, d: int, order: int, norm: Norm) -> tuple[Tensor, Tensor, Tensor]:
    """Upper bounds of polynomials over the unit box or ball: the quadratic part as such, higher terms one by one.

    Over a box the terms are products of Chebyshev polynomials, unless there are too many of them; over a ball, forms
    with their Bombieri norms.

    Args:
        coefficients: shape (n, N).
        error: a bound on the sum of their errors. Shape (n,).
        d: inputs.
        order: of the polynomials.
        norm: of the region.

    Returns:
        The bounds (n,), points where they may be reached (n, d), and how much each input adds to what is lost (n, d).
    """
    sizes = [count(d, j) for j in range(order + 1)]
    economized = norm == "inf" and order > 2 and coefficients.shape[-1] <= CHEBYSHEV
    if economized:
        coefficients, error = in_chebyshev(coefficients, error, d, order)
    parts = torch.split(coefficients, sizes, -1)
    C = square(parts[2], d) if order > 1 else coefficients.new_zeros(len(coefficients), d, d)
    constant = parts[0]
    if economized:
        # T_2(t) = 2 t^2 - 1.
        diagonal = C.diagonal(dim1=-2, dim2=-1)
        constant = torch.cat([constant, -diagonal], -1)
        C = C + torch.diag_embed(diagonal)
    quadratic, points = quadratic_upper(exact(parts[1]), exact(C), norm)
    rest = coefficients.new_zeros(len(coefficients))
    score = C.abs().sum(-1) * (1 - 0.9 * points.square())
    for j in range(3, order + 1):
        size = parts[j].abs()
        bound = sum_up(size) if norm == "inf" else euclidean(size / multiplicities(d, j).sqrt()) * UP
        rest = (rest + bound) * UP
        score = score + size @ exponents(d, j).double()
    return sum_of([*constant.unbind(-1), quadratic, rest, error]), points, score


def in_chebyshev(coefficients: Tensor, error: Tensor, d: int, order: int) -> tuple[Tensor, Tensor]:
    """Coefficients of products of Chebyshev polynomials instead of powers, and the bound on their errors.

    Such a product is at most 1 in size on the box, as a power is, but its coefficient is smaller: t^4 is T_4 / 8 plus
    T_2 / 2 + 3 / 8, which join the quadratic part.
    """
    matrix = chebyshev(d, order)
    found = torch.sparse.mm(matrix, coefficients.mT.contiguous()).mT
    # Every power is a mean of Chebyshev polynomials. A coefficient sums up one term for each way to raise its monomial
    # by even powers.
    longest = terms(d, order // 2)
    return found, (error + (longest + 4) * EPSILON * coefficients.abs().sum(-1)) * UP + TINY


@lru_cache(maxsize=64)
def chebyshev(d: int, order: int) -> Tensor:
    """The sparse matrix from coefficients of powers to those of products of Chebyshev polynomials. Shape (N, N)."""
    keys = exponents_up_to(d, order).tolist()
    place = {tuple(key): i for i, key in enumerate(keys)}
    rows, columns, values = [], [], []
    for i, key in enumerate(keys):
        used = [v for v, k in enumerate(key) if k]
        for steps in itertools.product(*(range(key[v] // 2 + 1) for v in used)):
            lower, factor = list(key), 1.0
            for v, step in zip(used, steps, strict=True):
                k, lower[v] = key[v], key[v] - 2 * step
                factor *= math.comb(k, step) * 2.0 ** ((0 if lower[v] == 0 else 1) - k)
            rows.append(place[tuple(lower)])
            columns.append(i)
            values.append(factor)
    entries = torch.tensor(values, dtype=torch.float64)
    size = (len(place), len(place))
    return torch.sparse_coo_tensor(torch.tensor([rows, columns]), entries, size, check_invariants=True).coalesce()


def square(part: Tensor, d: int) -> Tensor:
    """The symmetric matrix of a quadratic form. Shape (n, N_2) to (n, d, d)."""
    i, j = monomials(d, 2).unbind(-1)
    C = part.new_zeros(len(part), d, d)
    C[:, i, j] = part / 2
    return C + C.mT


@lru_cache(maxsize=1024)
def halving(d: int, order: int, variable: int, sign: int) -> Tensor:
    """The sparse matrix that takes coefficients to those over the half of the box where t_variable has this sign.

    It replaces t by (t + sign) / 2: a power k becomes powers j <= k with factors binom(k, j) sign^(k - j) / 2^k, whose
    sizes add up to 1. Shape (N, N).
    """
    place = {tuple(key): i for i, key in enumerate(exponents_up_to(d, order).tolist())}
    rows, columns, values = [], [], []
    for key, i in place.items():
        k = key[variable]
        for j in range(k + 1):
            rows.append(place[(*key[:variable], j, *key[variable + 1 :])])
            columns.append(i)
            values.append(math.comb(k, j) * sign ** (k - j) / 2**k)
    size = (len(place), len(place))
    places = torch.tensor([rows, columns])
    entries = torch.tensor(values, dtype=torch.float64)
    return torch.sparse_coo_tensor(places, entries, size, check_invariants=True).coalesce()


def halves(coefficients: Tensor, error: Tensor, variable: Tensor, d: int, order: int) -> tuple[Tensor, Tensor]:
    """Coefficients over both halves of each box, and the bounds on their errors.

    The error polynomial is no larger on a part of the box; only the roundings of this step join it.

    Args:
        coefficients: shape (n, N).
        error: shape (n,).
        variable: which input each box is halved along. Shape (n,).
        d: inputs.
        order: of the polynomials.

    Returns:
        Shapes (2, n, N) and (n,).
    """
    found = coefficients.new_empty(2, *coefficients.shape)
    for i in sorted(set(variable.tolist())):
        at = (variable == i).nonzero().squeeze(-1)
        columns = coefficients[at].mT.contiguous()
        for side, sign in enumerate((-1, 1)):
            found[side, at] = torch.sparse.mm(halving(d, order, i, sign), columns).mT
    return found, (error + (order + 4) * EPSILON * coefficients.abs().sum(-1)) * UP + TINY
