"""Proven norms of the homogeneous parts of a ladder around a point."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from polyladder.analysis.monomials import count, homogeneous_parts, joined, multiplicities
from polyladder.polynomial.ladder import LadderPolynomial

ENTRIES = 2**22
"""Numbers in the largest unfolding that is written out for one ladder and one center (32 MB in float64)."""

TINY = 1e-300
"""Smaller than every square that matters; keeps square roots and their derivatives defined at zero."""

SMALLEST = 2.0**-1074
"""The smallest number above zero: the rounding error of a product that nearly underflows."""


def taylor_bounds(polynomial: LadderPolynomial, radius: float, exact_degree: int) -> tuple[Tensor, Tensor]:
    r"""Bounds over a ball around the origin from the polynomial's homogeneous parts there.

    Implements: eq. (16), eq. (17).

    .. math:: f = \sum_j f_j, \quad \|f_j(\delta)\| \le A_j \|\delta\|^j, \quad
              \|\nabla f_j(\delta)\| \le j A_j \|\delta\|^{j-1}

    On a Euclidean space the second inequality follows from the first (Banach: a symmetric form is largest on its
    diagonal). Parts up to ``exact_degree`` are written out, so that whatever cancels between units and layers has
    canceled, and are bounded together (`chain_norm`); those above get an A_j each (`remainder_norms`).

    Args:
        polynomial: one ``batch_shape`` dimension or more.
        radius: r.
        exact_degree: how many degrees to write out, from 1 to the order.

    Returns:
        Bounds on the norm of the output and on the spectral norm of the Jacobian. Shapes batch_shape, both.
    """
    d, order, r = polynomial.in_features, polynomial.order, radius
    rungs = homogeneous_parts(polynomial, exact_degree)
    output_scale = [power(r, j) for j in range(order + 1)]
    # Degree 0 has no gradient: its scale is zero, and 0 * r**-1 must not be asked for at r = 0.
    gradient_scale = [0.0] + [j * power(r, j - 1) for j in range(1, order + 1)]
    norms = [part_norm(part, d, j) for j, part in enumerate(rungs[-1])]
    above = remainder_norms(polynomial, rungs, exact_degree)

    def total(scale: Sequence[float]) -> Tensor:
        separate = sum((s * a for s, a in zip(scale, norms, strict=False)), torch.zeros_like(norms[0]))
        together = chain_norm(rungs[-1], d, scale)
        # Where a scale overflows and its part is zero there is a NaN, which is not a bound.
        return torch.fmin(separate, together) + sum(
            (scale[j] * a for j, a in above.items()), torch.zeros_like(separate)
        )

    return total(output_scale), total(gradient_scale)


def power(radius: float, degree: int) -> float:
    """radius**degree, infinite where it overflows."""
    try:
        return radius**degree
    except OverflowError:
        return math.inf


def unfolding(part: Tensor, d: int, left: int, right: int) -> Tensor:
    r"""The form f_j as the matrix M with f_j(x) = M(z_left(x)) z_right(x), j = left + right.

    z_a(x) holds the monomials of degree a times the square root of their multiplicity, so its norm is exactly
    norm(x)^a, and the spectral norm of M bounds f_j on the unit ball. M is the matrix of the symmetric tensor of f_j
    in an orthonormal basis of symmetric tensors: it also bounds the form with different arguments in place of x.

    Args:
        part: coefficients. Shape (*batch_shape, N_j, k).
        d: the number of inputs.
        left: degree on the side of the outputs.
        right: degree on the other side.

    Returns:
        Shape (*batch_shape, k * N_left, N_right).
    """
    where = joined(d, left, right)
    m_left, m_right, m_all = (multiplicities(d, j) for j in (left, right, left + right))
    weight = (m_left.unsqueeze(-1) * m_right).sqrt() / m_all[where]
    matrix = part.mT[..., where.to(part.device)] * weight.to(part)
    return matrix.flatten(-3, -2)


def part_norm(part: Tensor, d: int, degree: int) -> Tensor:
    """The least spectral norm among all unfoldings: a bound A_j over the unit ball. Shape batch_shape."""
    norms = [spectral_norm(unfolding(part, d, left, degree - left)) for left in range(degree + 1)]
    return torch.stack(norms).amin(0)


def chain_norm(parts: Sequence[Tensor], d: int, scale: Sequence[float]) -> Tensor:
    r"""A bound on the sum of scaled forms that is below the sum of their balanced bounds.

    The part of degree j is unfolded as (j // 2, j - j // 2). Parts then share their arguments: with y_p of norm at most
    1 on the left and y'_q on the right, the sum is y^T M y' with one block matrix M, a staircase. Let n_j be the norm
    of block j, and divide block row p by sqrt(sum of its n_j), columns likewise. The vectors, multiplied by the same
    roots, have squared norm sum_j n_j at most, so the sum is at most (sum_j n_j) * norm(divided M), and the last factor
    is at most 1. It is small where the parts do not all point the same way. The same holds for gradients, one factor
    of x being replaced by a free direction, with scale j r^(j-1).

    Args:
        parts: coefficients of degree 0, 1, ... Shapes (*batch_shape, N_j, m).
        d: the number of inputs.
        scale: at least one factor a part.

    Returns:
        Shape batch_shape.
    """
    blocks = [s * unfolding(part, d, j // 2, j - j // 2) for j, (part, s) in enumerate(zip(parts, scale, strict=False))]
    norms = [spectral_norm(block) for block in blocks]
    zero = torch.zeros_like(norms[0])
    padded = [zero, *norms, zero, zero]
    # Row p holds degrees 2p and 2p + 1, column q holds 2q - 1 and 2q; `padded` is shifted by one.
    rows = [(padded[2 * p + 1] + padded[2 * p + 2]).clamp_min(TINY).rsqrt() for p in range((len(blocks) + 1) // 2)]
    columns = [(padded[2 * q] + padded[2 * q + 1]).clamp_min(TINY).rsqrt() for q in range(len(blocks) // 2 + 1)]
    lines = []
    for p, row in enumerate(rows):
        line = []
        for q, column in enumerate(columns):
            if p + q < len(blocks) and q in (p, p + 1):
                line.append(blocks[p + q] * (row * column).unsqueeze(-1).unsqueeze(-1))
            else:
                height = blocks[2 * p].shape[-2]
                line.append(blocks[0].new_zeros(*zero.shape, height, count(d, q)))
        lines.append(torch.cat(line, -1))
    return sum(norms, zero) * spectral_norm(torch.cat(lines, -2))


def remainder_norms(
    polynomial: LadderPolynomial, rungs: Sequence[Sequence[Tensor]], exact_degree: int
) -> dict[int, Tensor]:
    r"""Bounds A_j of the output for every degree above ``exact_degree``, from the exact parts of that degree.

    With u^l what enters gate l, D_l the gate intercepts, and W^(L+1) the readout, a part of degree j > 1 is

    .. math:: u^l_j = \sum_{s<l} Q_{ls} \, ((V^s x) * u^s_{j-1}), \quad
              Q_{ls} = W^l D_{l-1} W^{l-1} \cdots D_{s+1} W^{s+1}

    where the products Q are formed before their norm is taken.

    Args:
        polynomial: any ``batch_shape``.
        rungs: its `homogeneous_parts`, up to ``exact_degree``.
        exact_degree: the highest degree written out.

    Returns:
        Degree to bound. Shapes batch_shape.
    """
    d, order = polynomial.in_features, polynomial.order
    if exact_degree >= order:
        return {}
    zero = polynomial.readout.new_zeros(polynomial.batch_shape)
    norms = [part_norm(parts[exact_degree], d, exact_degree) if len(parts) > exact_degree else zero for parts in rungs]
    weights = [*polynomial.W, polynomial.readout]
    gains: dict[tuple[int, int], Tensor] = {}
    for l in range(1, order):
        Q = weights[l]
        for s in range(l - 1, -1, -1):
            gains[l, s] = gated_norm(Q, polynomial.V[s])
            Q = (Q * polynomial.c[s].unsqueeze(-2)) @ weights[s]
    bounds = {}
    for degree in range(exact_degree + 1, order + 1):
        norms = [sum((gains[l, s] * norms[s] for s in range(l)), zero) for l in range(order)]
        bounds[degree] = norms[-1]
    return bounds


def gated_norm(Q: Tensor, V: Tensor) -> Tensor:
    """A bound on norm(Q ((V x) * u)) over unit x and u: the least of the three unfoldings of that bilinear map.

    Args:
        Q: shape (*batch_shape, o, k).
        V: shape (*batch_shape, k, d).

    Returns:
        Shape batch_shape. Never above norm(Q) times the largest row norm of V (Schur's product theorem).
    """
    by_input = spectral_norm((Q.mT @ Q) * (V @ V.mT)).clamp_min(TINY).sqrt()
    by_output = spectral_norm(Q * length(V).unsqueeze(-2))
    by_gate = spectral_norm(V * length(Q.mT).unsqueeze(-1))
    return torch.minimum(torch.minimum(by_input, by_output), by_gate)


def spectral_norm(matrix: Tensor) -> Tensor:
    """The largest singular value, or infinity where the matrix overflowed. Shape (..., r, c) to (...)."""
    # From the smaller Gram matrix: unfoldings are tall, and the largest singular value loses nothing by being squared
    # once entries are at most 1.
    size = matrix.detach().abs().amax((-1, -2), keepdim=True)
    finite = size.isfinite()
    size = torch.where(finite, size, 1.0).clamp_min(TINY)
    scaled = torch.where(finite, matrix, 0.0) / size
    gram = scaled @ scaled.mT if matrix.shape[-2] < matrix.shape[-1] else scaled.mT @ scaled
    norm = torch.linalg.eigvalsh(gram)[..., -1].clamp_min(TINY).sqrt() * size.squeeze((-1, -2))
    norm = norm + torch.where(norm > 0, SMALLEST, 0.0)
    return torch.where(finite.squeeze((-1, -2)), norm, math.inf)


def length(rows: Tensor) -> Tensor:
    """The Euclidean norm along the last dimension, also where squares would underflow. Shape (..., k) to (...)."""
    size = rows.detach().abs().amax(-1, keepdim=True)
    scale = torch.where((size > 0) & size.isfinite(), size, 1.0)
    norm = torch.linalg.vector_norm(rows / scale, dim=-1) * scale.squeeze(-1)
    return norm + torch.where(norm > 0, SMALLEST, 0.0)


def exact_degree(polynomial: LadderPolynomial, entries: int = ENTRIES) -> int:
    """The highest degree, at least 1, whose largest unfolding in any layer has at most this many entries."""
    d, widest = polynomial.in_features, max(*polynomial.hidden, polynomial.out_features, 1)
    degree = 1
    while degree < polynomial.order and unfolded_size(d, degree + 1) * widest <= entries:
        degree += 1
    return degree


def unfolded_size(d: int, degree: int) -> int:
    """The entries of the most nearly square unfolding, which is the largest, for one output."""
    return count(d, degree // 2) * count(d, degree - degree // 2)
