"""Upper bounds of a ladder on regions by planes above each product, carried back from the output to the input."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ball import EPSILON, UP, Ball, exact, linear, plus, product, total
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.region import Region, highest_on
from polyladder.robustness.states import States


def plane_upper(
    polynomial: LadderPolynomial, region: Region, states: States, readout: Ball, offset: Ball
) -> tuple[Tensor, Tensor]:
    r"""Bounds from a plane :math:`A u + B g + K` above each product u g; the gate g is affine and passes unchanged.

    A and B may be any numbers; here they are the factors at the center. K is the largest value of u g - A u - B g
    at the corners of the rectangle of u and g, so the plane holds whatever A and B are. Coefficients that rounding has
    moved count by their error times the largest state.

    Args:
        polynomial: float64, a single one.
        region: n regions.
        states: of the ladder on them.
        readout: functionals of the last state. Shape (n, o, k_L).
        offset: shape (n, o).

    Returns:
        Upper bounds (n, o), and the points in units of the region where the last plane is highest (n, o, d).
    """
    coefficient, constant, slope = readout, offset, exact(torch.zeros_like(readout.mid[..., :1]))
    tops = [product(u, g) for u, g in zip(states.inner_range, states.gate_range, strict=True)]
    layers = list(zip(polynomial.layers(), states.inner_range, states.gate_range, tops, strict=True))
    for (W, b, V, c), inner, gate, top in reversed(layers):
        constant = plus(constant, total(product(Ball(torch.zeros_like(coefficient.mid), coefficient.rad), top.row)))
        weight = coefficient.mid
        A, B = gate.mid.unsqueeze(-2), inner.mid.unsqueeze(-2)
        lowest, highest = rests(inner, gate)
        # Above the product where it counts positively, below it where it counts negatively.
        shift = total(product(exact(weight), exact(torch.where(weight > 0, highest, lowest))))
        to_inner, to_gate = product(exact(weight), exact(A)), product(exact(weight), exact(B))
        constant = plus(constant, shift)
        constant = plus(constant, linear(to_inner, b.unsqueeze(0)).map(single))
        constant = plus(constant, linear(to_gate, c.unsqueeze(0)).map(single))
        slope = plus(slope, linear(to_gate, V.mT))
        coefficient = linear(to_inner, W.mT)
    slope = plus(slope, coefficient)
    return affine_upper(region, slope, constant)


def affine_upper(region: Region, slope: Ball, constant: Ball) -> tuple[Tensor, Tensor]:
    """The largest value of affine functions on the regions, from above, and where it is. Shapes (n, o), (n, o, d)."""
    value = plus(total(product(slope, exact(region.center.unsqueeze(-2)))), constant)
    scaled = product(slope, exact(region.radius.unsqueeze(-2)))
    rise, points = highest_on(scaled, region.norm)
    return Ball(value.mid + rise, value.rad + EPSILON * (rise + value.mid.abs())).upper, points


def rests(inner: Ball, gate: Ball) -> tuple[Tensor, Tensor]:
    """Between what (u - B)(g - A) - A B lies for all u and g of the two balls around B and A. Shapes (n, 1, k)."""
    corner = inner.rad * gate.rad * UP
    center = product(exact(inner.mid), exact(gate.mid))
    rad = center.rad + EPSILON * (corner + center.mid.abs())
    low, high = Ball(-corner - center.mid, rad).lower, Ball(corner - center.mid, rad).upper
    return low.unsqueeze(-2), high.unsqueeze(-2)


def single(t: Tensor) -> Tensor:
    """Without the last dimension, which has one entry."""
    return t.squeeze(-1)
