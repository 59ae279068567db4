"""The Taylor polynomial of every state of a ladder around the center of a region."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from polyladder.polynomial.ball import EPSILON, TINY, UP, Ball, affine, exact, matmul, plus, product, sum_up
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.region import Region

WIDE = 256
"""From this many units in a layer on, products of weights between layers are not formed, as they would take most of the
time. Wide ladders are mostly sums of units that do not mix, for which nothing is lost."""


@dataclass(frozen=True, eq=False)
class States:
    """A ladder around the centers of n regions. Lists have one entry for each layer.

    Attributes:
        inner: W h + b at the centers. Shapes (n, k).
        gates: V x + c at the centers. Shapes (n, k).
        slopes: derivatives of ``inner`` at the centers. Shapes (n, k, d).
        parts: for each layer, bounds on the parts of degree 1, 2, ... of W h + b on the region. Shapes (n, k).
        gate_reach: by how much V x + c can change on the region. Shapes (n, k).
    """

    inner: list[Ball] = field(default_factory=list)
    gates: list[Ball] = field(default_factory=list)
    slopes: list[Ball] = field(default_factory=list)
    parts: list[list[Tensor]] = field(default_factory=list)
    gate_reach: list[Tensor] = field(default_factory=list)


def states_on(polynomial: LadderPolynomial, region: Region) -> States:
    """Carry values, slopes and bounds of all higher parts through the ladder, exactly but for proven rounding.

    With u what enters a gate, D the gates at the center and Q the products W D W ... D W between two layers, formed
    before their sizes are taken, the part of degree j is

    .. math:: u^l_j = \\sum_{s<l} Q_{ls} ((V^s \\delta) * u^s_{j-1})

    Args:
        polynomial: float64, a single one.
        region: n regions.
    """
    n, found = len(region), States()
    h, dh = exact(region.center), exact(torch.eye(polynomial.in_features, dtype=torch.float64).expand(n, -1, -1))
    between: list[Ball] = []
    for W, b, V, c in polynomial.layers():
        inner, gate = affine(h, W, b), affine(exact(region.center), V, c)
        slope = exact(W.expand(n, -1, -1)) if not found.inner else matmul(exact(W), dh)
        if max(polynomial.hidden) < WIDE:
            parts, between = higher_parts(W, found, between, region.reach(slope))
        else:
            parts = layered_parts(W, found, region.reach(slope))
        found.inner.append(inner)
        found.gates.append(gate)
        found.slopes.append(slope)
        found.parts.append(parts)
        found.gate_reach.append(region.reach(exact(V.expand(n, -1, -1))))
        rise = product(gate.column, slope)
        dh = plus(rise, product(inner.column, exact(V.expand(n, -1, -1))))
        h = product(inner, gate)
    return found


def higher_parts(W: Tensor, found: States, between: list[Ball], first: Tensor) -> tuple[list[Tensor], list[Ball]]:
    """Bounds on the parts of degree 1, 2, ... of one more layer, and the products that lead to it from those before.

    Args:
        W: its weights.
        found: the layers before it.
        between: for each of them but the last, the product from it to the last one. Shapes (n, k, k_s).
        first: the bound on its part of degree 1. Shape (n, k).
    """
    if not found.inner:
        return [first], []
    gate = found.gates[-1]
    n = len(first)
    last = exact(W.expand(n, -1, -1))
    gated = product(last, gate.row)
    leading = [matmul(gated, Q) for Q in between] + [last]
    sizes = [Q.size for Q in leading]
    parts = [first]
    for j in range(len(found.inner)):
        total = torch.zeros_like(first)
        for size, reach, below in zip(sizes, found.gate_reach, found.parts, strict=True):
            if j < len(below):
                total = total + sum_up(size * (reach * below[j] + TINY).unsqueeze(-2))
        parts.append(total * UP)
    return parts, leading


def layered_parts(W: Tensor, found: States, first: Tensor) -> list[Tensor]:
    """The bounds of `higher_parts` from those of the layer before it alone, sizes being taken at each layer."""
    if not found.inner:
        return [first]
    size, reach, below = found.gates[-1].size, found.gate_reach[-1], found.parts[-1]
    weights, k = W.abs().mT, W.shape[-1]
    parts = [first]
    for j in range(1, len(below) + 1):
        # A part of a product is the gate times the part of its degree, plus the gate's step times the part below.
        part = reach * below[j - 1] * UP + TINY
        if j < len(below):
            part = (part + size * below[j]) * UP
        parts.append((part @ weights) * (1 + (2 * k + 8) * EPSILON) + k * TINY)
    return parts
