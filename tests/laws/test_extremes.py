"""Proven bounds of ladders whose states underflow or overflow on the way, held against exact rational arithmetic.

``POLYLADDER_FUZZ`` says how many ladders are tried, ten times.
"""

from __future__ import annotations

import os
from fractions import Fraction

import pytest
import torch
from torch import Tensor

from polyladder import (
    LadderPolynomial,
    attack,
    certified_radius,
    certify,
    certify_margins,
    lipschitz_bound,
    maximize,
    minimize,
    output_bound,
)
from polyladder.robustness.region import Norm, Region
from tests.ladders import random_ladder
from tests.oracles.rational import rational, rational_line, rational_value
from tests.robustness.cases import points_of

F64 = torch.float64
LADDERS = max(6, int(os.environ.get("POLYLADDER_FUZZ", "60")) // 10)


def cube(small: float = 1e-170) -> LadderPolynomial:
    """x^3 by weights so small that their product is zero in float64, and then so large that it is infinite."""
    weights = [torch.full((1, 1), t, dtype=F64) for t in (small, 1 / small, 1.0)]
    none = torch.zeros(1, dtype=F64)
    return LadderPolynomial(tuple(weights[:2]), (none, none), tuple(weights[:2]), (none, none), weights[2], none)


def drawn(seed: int) -> LadderPolynomial:
    """Layers, and in every third ladder units, of sizes far apart; the readout brings outputs back to about 1."""
    g = torch.Generator().manual_seed(seed)
    hidden = [int(torch.randint(1, 4, (), generator=g)) for _ in range(seed % 4 + 1)]
    p = random_ladder(seed % 3 + 1, hidden, 2, seed=seed, gate_bias=seed % 2 == 0)

    def exponents(k: int) -> Tensor:
        """Of ten: what W h + b, or V x + c, is multiplied by."""
        return (300 * (2 * torch.rand(k if seed % 3 == 0 else 1, generator=g, dtype=F64) - 1)).expand(k)

    state, W, b, V, c = torch.zeros(p.in_features, dtype=F64), [], [], [], []
    for weight, intercept, gate, gate_intercept in p.layers():
        inner, outer = exponents(len(weight)), exponents(len(weight))
        W.append(weight * 10.0 ** (inner.unsqueeze(-1) - state).clamp(-300, 300))
        b.append(intercept * 10.0**inner * (seed % 4 > 0))
        V.append(gate * 10.0 ** outer.unsqueeze(-1))
        c.append(gate_intercept * 10.0**outer)
        state = inner + outer
    readout = p.readout * 10.0 ** (-state).clamp(-300, 300)
    return LadderPolynomial(tuple(W), tuple(b), tuple(V), tuple(c), readout, p.offset * (seed % 2))


def exact_points(center: Tensor, radius: float, norm: Norm) -> list[list[Fraction]]:
    """The center, and points on and in the box or ball around it, all of them inside in exact arithmetic."""
    region = Region(center.unsqueeze(0), torch.full((1, len(center)), radius, dtype=F64), norm)
    points = [center, *(center + (x - center) * (1 - 1e-9) for x in points_of(region, 8, 0)[0])]
    return [rational(x) for x in points]


@pytest.mark.parametrize("small", [1e-170, 1e170, 1e-120, 1e-300])
def test_a_cube_by_tiny_and_huge_weights_is_bounded_closely(small: float) -> None:
    p, x = cube(small), torch.tensor([[1.5]], dtype=F64)
    for found in (certify(p, x, 0.5), certify(p, x, 0.5, norm=2), certify(p, x, 0.5, max_seconds=0.1)):
        assert 0 < found.lower.item() <= 1.0 <= 8.0 <= found.upper.item() < 12.0
        assert found.lower.item() <= found.lowest.item() <= found.highest.item() <= found.upper.item()
    assert 8.0 <= maximize(p, 1.0, 2.0).bound <= 8.081
    assert 0.989 <= minimize(p, 1.0, 2.0).bound <= 1.0
    for method in ("paper", "recursive", "local"):
        assert 8.0 <= output_bound(p, 2.0, method=method).item() <= 8.0001
        assert 12.0 <= lipschitz_bound(p, 2.0, method=method).item() <= 12.0001
    assert 7.0 <= attack(p, x, torch.tensor([1.0], dtype=F64), 0.5, goal="up").bound.item() < 10.0  # type: ignore[union-attr]


def centered(seed: int) -> tuple[LadderPolynomial, Tensor]:
    p = drawn(seed)
    return p, torch.randn(p.in_features, generator=torch.Generator().manual_seed(seed + 1), dtype=F64)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["inf", 2])
def test_no_point_leaves_what_is_proven(norm: Norm) -> None:
    close = 0
    for seed in range(LADDERS):
        p, center = centered(seed)
        values = [rational_value(p, x) for x in exact_points(center, 0.25, norm)]
        for max_seconds in (None, 0.005):
            found = certify(p, center, 0.25, norm=norm, max_seconds=max_seconds)
            for i, (low, high) in enumerate(zip(found.lower[0].tolist(), found.upper[0].tolist(), strict=True)):
                assert all(low <= value[i] <= high for value in values), (seed, max_seconds)
        close += int(((found.upper - found.lower) <= 10 * (found.highest - found.lowest) + 1e-3).all())
        proven = certify_margins(p, center.unsqueeze(0), torch.tensor([0]), 0.25, norm=norm).item()
        assert all(value[1] - value[0] <= proven for value in values), seed
    # The bounds are not merely infinite.
    assert close > LADDERS / 2


@pytest.mark.slow
def test_no_corner_of_a_box_is_beyond_an_optimum_or_changes_a_certified_class() -> None:
    for seed in range(LADDERS):
        p, center = centered(seed)
        values = [rational_value(p, x)[0] for x in exact_points(center, 0.25, "inf")]
        assert max(values) <= maximize(p, center - 0.25, center + 0.25, max_seconds=0.01).bound, seed
        assert min(values) >= minimize(p, center - 0.25, center + 0.25, max_seconds=0.01).bound, seed
        radius = float(certified_radius(p, center.unsqueeze(0), torch.tensor([0]), steps=4))
        if radius:
            outputs = [rational_value(p, x) for x in exact_points(center, radius, "inf")]
            assert all(value[0] > value[1] for value in outputs), seed


@pytest.mark.slow
@pytest.mark.parametrize("method", ["paper", "recursive", "local"])
def test_no_output_and_no_slope_exceeds_its_bound(method: str) -> None:
    finite = 0
    for seed in range(LADDERS):
        p, center = centered(seed)
        output, slope = (bound(p, 0.25, center, method).item() for bound in (output_bound, lipschitz_bound))
        finite += output < torch.inf
        for x in exact_points(center, 0.25, 2)[:4]:
            for i in range(p.in_features):
                value, rise = rational_line(p, x, [Fraction(int(i == j)) for j in range(p.in_features)])
                for bound, found in ((output, value), (slope, rise)):
                    assert bound == torch.inf or sum(v * v for v in found) <= Fraction(bound) ** 2, seed
    # With intercepts absorbed, huge weights multiply to more than any number.
    assert finite > LADDERS / 2 or method == "paper"
