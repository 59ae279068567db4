"""Upper bounds of a ladder on regions, degree by degree around their centers."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ball import TINY, UP, Ball, exact, linear, matmul, plus, product, sum_of, sum_up, total
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.quadratic import quadratic_upper
from polyladder.robustness.region import Region, highest_on
from polyladder.robustness.states import States

WRITTEN = 2**23
"""Numbers of second derivatives that are held at once."""

LARGEST = 4096
"""Second derivatives are written out for up to this many inputs."""


def degree_upper(
    polynomial: LadderPolynomial,
    region: Region,
    states: States,
    readout: Ball,
    offset: Ball,
    limit: float | Tensor = -torch.inf,
) -> tuple[Tensor, Tensor]:
    r"""Bounds from the value, gradient and Hessian at the center, all exact, and sizes of the parts above them.

    With q^s the derivative with respect to the state of layer s, a part of degree j is
    :math:`\sum_s q^s \cdot ((V^s \delta) * u^s_{j-1})`. Second derivatives are written out only for those
    sums where they can decide whether the bound falls to the limit.

    Args:
        polynomial: float64, a single one.
        region: n regions.
        states: of the ladder on them.
        readout: what is to be bounded: functionals of the last state. Shape (n, o, k_L).
        offset: shape (n, o).
        limit: a bound at or below it is low enough. One number or shape (n, o).

    Returns:
        Upper bounds (n, o), and points in units of the region where they may be reached (n, o, d).
    """
    value, gradient, weights = backward(polynomial, region, states, readout, offset)
    # The parts of degree 2, and those above it.
    second, rest = torch.zeros_like(offset.mid), torch.zeros_like(offset.mid)
    for q, reach, parts in zip(weights, states.gate_reach, states.parts, strict=True):
        second = (second + sum_up(q.size * (reach * parts[0] + TINY).unsqueeze(-2))) * UP
        for part in parts[1:]:
            rest = (rest + sum_up(q.size * (reach * part + TINY).unsqueeze(-2))) * UP
    b = product(gradient, exact(region.radius).row)
    rise, points = highest_on(b, region.norm)
    bound = sum_of([value.upper, rise, second, rest])
    d = polynomial.in_features
    if d > LARGEST or not states.inner:
        return bound, points
    # Whatever the second derivatives say, the bound cannot fall below what the parts are at one point together.
    least = value.mid + (b.mid * points).sum(-1) + second_at(polynomial, region, states, weights, points) + rest
    useful = ~(bound <= limit) & ((least <= limit) | torch.as_tensor(limit == -torch.inf))
    row, sum_ = useful.nonzero(as_tuple=True)
    step = max(1, WRITTEN // (4 * d * d))
    for i in range(0, len(row), step):
        at = (row[i : i + step], sum_[i : i + step])
        both, points[at] = quadratic_part(polynomial, region[at[0]], states, [q.at(at) for q in weights], b, at)
        bound[at] = torch.minimum(bound[at], sum_of([value.upper[at], both, rest[at]]))
    return bound, points


def second_at(polynomial: LadderPolynomial, region: Region, states: States, weights: list[Ball], t: Tensor) -> Tensor:
    """The quadratic parts at points in units of the region, (n, o, d), without care for rounding. Shape (n, o)."""
    step = t * region.radius.unsqueeze(-2)
    parts = [
        (q.mid * (step @ V.mT) * (step @ slope.mid.mT)).sum(-1)
        for q, slope, V in zip(weights, states.slopes, polynomial.V, strict=True)
    ]
    return torch.stack(parts).sum(0)


def backward(
    polynomial: LadderPolynomial, region: Region, states: States, readout: Ball, offset: Ball
) -> tuple[Ball, Ball, list[Ball]]:
    """The functionals at the centers (n, o), their gradients (n, o, d) and derivatives by each state (n, o, k)."""
    if not states.inner:
        value = total(product(readout, exact(region.center).row))
        return plus(value, offset), readout, []
    last = product(states.inner[-1], states.gates[-1])
    value = total(product(readout, last.row))
    weights, q, gradient = [], readout, exact(region.center.new_zeros(1))
    for (W, _, V, _), inner, gate in zip(
        reversed(list(polynomial.layers())), reversed(states.inner), reversed(states.gates), strict=True
    ):
        weights.append(q)
        gradient = plus(gradient, linear(product(q, inner.row), V.mT))
        q = linear(product(q, gate.row), W.mT)
    return plus(value, offset), plus(gradient, q), weights[::-1]


def quadratic_part(
    polynomial: LadderPolynomial,
    region: Region,
    states: States,
    weights: list[Ball],
    b: Ball,
    at: tuple[Tensor, Tensor],
) -> tuple[Tensor, Tensor]:
    """Bounds on the linear and quadratic part together, for c sums of c regions. Shapes (c,) and (c, d)."""
    radius = exact(region.radius).row
    second = exact(region.radius.new_zeros(1))
    for q, slope, V in zip(weights, states.slopes, polynomial.V, strict=True):
        inner = product(slope.at(at[0]), radius)
        gates = product(q.column, product(exact(V), radius))
        second = plus(second, matmul(gates.map(lambda t: t.mT), inner))
    return quadratic_upper(b.at(at), second, region.norm)
