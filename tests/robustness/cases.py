"""Ladders and regions that are hard on rounding, and points to try on them."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder import LadderPolynomial
from polyladder.robustness.region import Norm, Region
from tests.ladders import random_ladder


def wild_ladder(seed: int, d: int = 4, hidden: tuple[int, ...] = (5, 4, 3), m: int = 2) -> LadderPolynomial:
    """A ladder whose weights have sizes from 1e-8 to 1e8, tensor by tensor."""
    g = torch.Generator().manual_seed(seed)
    return random_ladder(d, hidden, m, seed=seed).map(lambda t: t * 10.0 ** float(torch.rand(1, generator=g) * 16 - 8))


def region_of(n: int, d: int, radius: float, norm: Norm, seed: int = 0) -> Region:
    g = torch.Generator().manual_seed(seed)
    center = torch.randn(n, d, generator=g, dtype=torch.float64)
    return Region(center, torch.full_like(center, radius), norm)


def points_of(region: Region, count: int, seed: int = 0) -> Tensor:
    """Points of each region: corners or the sphere, and inside. Shape (n, count, d)."""
    g = torch.Generator().manual_seed(seed)
    shape = (len(region), count, region.center.shape[1])
    t = torch.randn(shape, generator=g, dtype=torch.float64)
    t = t.sign() if region.norm == "inf" else t / t.norm(dim=-1, keepdim=True)
    t[:, count // 2 :] *= torch.rand(len(region), count - count // 2, 1, generator=g, dtype=torch.float64) * (1 - 1e-12)
    t[:, : count // 2] *= 1 - 1e-15
    return region.center.unsqueeze(1) + region.radius.unsqueeze(1) * t


def both_signs(n: int, m: int) -> Tensor:
    """Weights for the upper and the lower end of each output. Shape (n, 2 m, m)."""
    eye = torch.eye(m, dtype=torch.float64)
    return torch.cat([eye, -eye]).expand(n, -1, -1)
