"""Upper bounds of a ladder on regions, degree by degree around their centers."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.ball import EPSILON, TINY, UP, Ball, exact, linear, matmul, plus, product, sum_up, total
from polyladder.robustness.quadratic import quadratic_upper
from polyladder.robustness.region import Region, euclidean
from polyladder.robustness.states import States

WRITTEN = 2**23
"""Numbers of second derivatives that are held at once."""

LARGEST = 4096
"""Up to so many inputs second derivatives are written out."""


def degree_upper(
    polynomial: LadderPolynomial, region: Region, states: States, readout: Ball, offset: Ball
) -> tuple[Tensor, Tensor]:
    r"""Bounds from the value, gradient and Hessian at the center, all exact, and sizes of the parts above them.

    With q^s the derivative with respect to the state of layer s, a part of degree j is
    :math:`\sum_s q^s \cdot ((V^s \delta) * u^s_{j-1})`.

    Args:
        polynomial: float64, a single one.
        region: n regions.
        states: of the ladder on them.
        readout: what is to be bounded: functionals of the last state. Shape (n, o, k_L).
        offset: shape (n, o).

    Returns:
        Upper bounds (n, o), and points in units of the region where they may be reached (n, o, d).
    """
    n, o = offset.mid.shape
    d = polynomial.in_features
    value, gradient, weights = backward(polynomial, region, states, readout, offset)
    rest = torch.zeros_like(offset.mid)
    for q, reach, parts in zip(weights, states.gate_reach, states.parts, strict=True):
        for part in parts[1:]:
            rest = (rest + sum_up(q.size * (reach * part).unsqueeze(-2))) * UP
    scale = Ball(region.radius.unsqueeze(-2), torch.zeros_like(region.radius).unsqueeze(-2))
    b = product(gradient, scale)
    flat = Ball(b.mid.flatten(0, 1), b.rad.flatten(0, 1))
    if d > LARGEST or not states.inner:
        second = torch.zeros_like(rest)
        for q, reach, parts in zip(weights, states.gate_reach, states.parts, strict=True):
            second = (second + sum_up(q.size * (reach * parts[0]).unsqueeze(-2))) * UP
        rise = sum_up(flat.size) if region.norm == "inf" else euclidean(flat.size)
        bound, points = rise.view(n, o) + second, torch.sign(flat.mid)
        if region.norm == 2:
            points = flat.mid / flat.mid.norm(dim=-1, keepdim=True).clamp_min(TINY)
    else:
        step = max(1, WRITTEN // (4 * o * d * d))
        found = [
            quadratic_part(polynomial, region[at], states, weights, b, at)
            for at in (slice(i, i + step) for i in range(0, n, step))
        ]
        bound, points = (torch.cat(part) for part in zip(*found, strict=True))
    upper = torch.stack([value.upper, bound, rest])
    return upper.sum(0) + 4 * EPSILON * upper.abs().sum(0) + TINY, points.view(n, o, d)


def backward(
    polynomial: LadderPolynomial, region: Region, states: States, readout: Ball, offset: Ball
) -> tuple[Ball, Ball, list[Ball]]:
    """The functionals at the centers (n, o), their gradients (n, o, d) and derivatives by each state (n, o, k)."""
    if not states.inner:
        center = Ball(region.center.unsqueeze(-1), torch.zeros_like(region.center).unsqueeze(-1))
        value = matmul(readout, center)
        return plus(Ball(value.mid.squeeze(-1), value.rad.squeeze(-1)), offset), readout, []
    last = product(states.inner[-1], states.gates[-1])
    value = total(product(readout, Ball(last.mid.unsqueeze(-2), last.rad.unsqueeze(-2))))
    weights, q, gradient = [], readout, exact(region.center.new_zeros(1))
    for (W, _, V, _), inner, gate in zip(
        reversed(list(polynomial.layers())), reversed(states.inner), reversed(states.gates), strict=True
    ):
        weights.append(q)
        gradient = plus(gradient, linear(product(q, row(inner)), V.mT))
        q = linear(product(q, row(gate)), W.mT)
    return plus(value, offset), plus(gradient, q), weights[::-1]


def row(x: Ball) -> Ball:
    """A dimension for the functionals: (n, k) to (n, 1, k)."""
    return Ball(x.mid.unsqueeze(-2), x.rad.unsqueeze(-2))


def quadratic_part(
    polynomial: LadderPolynomial, region: Region, states: States, weights: list[Ball], b: Ball, at: slice
) -> tuple[Tensor, Tensor]:
    """Bounds on the linear and quadratic part together, for some of the regions. Shapes (c, o) and (c * o, d)."""
    radius = region.radius
    o, d = b.mid.shape[1:]
    second = exact(radius.new_zeros(1))
    for q, slope, V in zip(weights, states.slopes, polynomial.V, strict=True):
        gates = product(exact(V), Ball(radius.unsqueeze(-2), torch.zeros_like(radius).unsqueeze(-2)))
        inner = product(
            Ball(slope.mid[at], slope.rad[at]), Ball(radius.unsqueeze(-2), torch.zeros_like(radius).unsqueeze(-2))
        )
        left = product(Ball(q.mid[at].unsqueeze(-1), q.rad[at].unsqueeze(-1)), unsqueezed(gates))
        left = Ball(left.mid.mT, left.rad.mT)
        second = plus(second, matmul(left, unsqueezed(inner)))
    C = Ball(second.mid.reshape(-1, d, d), second.rad.reshape(-1, d, d))
    flat = Ball(b.mid[at].reshape(-1, d), b.rad[at].reshape(-1, d))
    bound, points = quadratic_upper(flat, C, region.norm)
    return bound.view(-1, o), points


def unsqueezed(x: Ball) -> Ball:
    """A dimension for the functionals: (n, k, d) to (n, 1, k, d)."""
    return Ball(x.mid.unsqueeze(1), x.rad.unsqueeze(1))
