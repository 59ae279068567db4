"""No search leaves a certified range: ladders of every size and scale, boxes and balls, attacks, corners and chance.

``POLYLADDER_FUZZ`` says how many ladders are tried; ``benchmarks/soundness.py`` tries 10,000.
"""

from __future__ import annotations

import os

import mpmath
import pytest
import torch
from torch import Tensor

from polyladder import LadderPolynomial, certify
from polyladder.robustness.ascent import Climb
from polyladder.robustness.feasible import Feasible
from polyladder.robustness.region import Norm, Region
from polyladder.robustness.surface import Surface
from tests.ladders import random_ladder
from tests.oracles.long_arithmetic import PRECISION, long_value
from tests.robustness.cases import points_of

LADDERS = int(os.environ.get("POLYLADDER_FUZZ", "60"))
CHUNK = 20
ROWS = 2


def drawn(seed: int) -> tuple[LadderPolynomial, Region]:
    """Orders 2 to 10, widths to 50, inputs to 100, weights 1e-8 to 1e8, either dtype, any radius."""
    g = torch.Generator().manual_seed(seed)

    def uniform(low: float, high: float) -> float:
        return low + (high - low) * float(torch.rand(1, generator=g))

    def size(most: int) -> int:
        return round(most ** uniform(0.0, 1.0))

    order, d = round(uniform(2, 10)), size(100)
    hidden = [size(50) for _ in range(order - 1)]
    dtype = torch.float32 if seed % 2 else torch.float64
    p = random_ladder(d, hidden, 1, seed=seed, gate_bias=uniform(0, 1) > 0.2)
    if seed % 3:
        p = p.map(lambda t: t * 10.0 ** uniform(-8, 8))
    p = p.to(dtype)
    norm: Norm = "inf" if seed % 5 else 2
    center = torch.randn(ROWS, d, generator=g, dtype=torch.float64).to(dtype).double() * 10.0 ** uniform(-3, 3)
    radius = torch.full_like(center, 10.0 ** uniform(-8, 2))
    return p, Region(center, radius, norm)


def searched(p: LadderPolynomial, region: Region, seed: int) -> Tensor:
    """Points that a search for the largest and the smallest output ends at. Shape (ROWS, searches, d)."""
    weights = torch.tensor([[1.0], [-1.0]], dtype=torch.float64).repeat(ROWS, 1)
    rows = torch.arange(ROWS).repeat_interleave(2)
    feasible = Feasible(region[rows])
    climb = Climb(Surface.of(p), feasible, weights, region.center[rows])
    climb.run(3)
    chance = points_of(region, 40, seed)
    held = torch.stack([Feasible(region).held(x) for x in chance.unbind(1)], 1)
    return torch.cat([climb.x.view(ROWS, 2, -1), held], 1)


def violated(p: LadderPolynomial, x: Tensor, low: float, high: float) -> bool:
    """Whether the exact output at a point lies outside."""
    with mpmath.workprec(PRECISION):
        value = long_value(p, x)[0]
        return not mpmath.mpf(low) <= value <= mpmath.mpf(high)


def outside(seed: int) -> tuple[list[Tensor], int]:
    """Points of one drawn ladder whose exact outputs leave the certified range, and how many of its ends are finite."""
    p, region = drawn(seed)
    radius = region.radius if region.norm == "inf" else region.radius[:, 0]
    found = certify(p, region.center, radius, norm=region.norm)
    exact = p.to(torch.float64)
    points = searched(exact, region, seed)
    values = exact(points.flatten(0, 1)).view(ROWS, -1)
    # Values are rounded too: whatever looks like a violation is looked at in long arithmetic.
    wrong = ~((values <= found.upper) & (values >= found.lower))
    bad = [
        points[row, at]
        for row, at in wrong.nonzero().tolist()
        if violated(exact, points[row, at], float(found.lower[row, 0]), float(found.upper[row, 0]))
    ]
    return bad, int(found.upper.isfinite().sum())


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(max(1, LADDERS // CHUNK)))
def test_no_search_leaves_the_certified_range(chunk: int) -> None:
    finite = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        bad, ends = outside(seed)
        assert not bad, seed
        finite += ends
    assert finite > ROWS * CHUNK // 2
