"""The largest output and gradient on a ball by search with autograd: on a dense grid, or by ascent."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import jacrev, vmap

from polyladder import LadderPolynomial


def output_norm(p: LadderPolynomial, x: Tensor) -> Tensor:
    """norm(f(x)) at rows (n, d) of one ladder."""
    return p(x).norm(dim=-1)


def gradient_norm(p: LadderPolynomial, x: Tensor) -> Tensor:
    """The spectral norm of the Jacobian at rows (n, d) of one ladder, by automatic differentiation."""
    return torch.linalg.matrix_norm(vmap(jacrev(lambda row: p(row[None])[0]))(x), 2)


def ball_grid(center: Tensor, radius: float, points: int = 201) -> Tensor:
    """Rows that cover an interval or a disk, its boundary included."""
    radii = torch.linspace(0, radius, points, dtype=center.dtype)
    if len(center) == 1:
        return center + torch.cat([-radii, radii])[:, None]
    angles = torch.linspace(0, 2 * math.pi, points, dtype=center.dtype)
    directions = torch.stack([angles.cos(), angles.sin()], -1)
    return center + (radii[:, None, None] * directions).reshape(-1, 2)


def largest_by_ascent(
    norm: Callable[[LadderPolynomial, Tensor], Tensor],
    p: LadderPolynomial,
    center: Tensor,
    radius: float,
    starts: int = 12,
    steps: int = 30,
) -> float:
    """The largest value of `output_norm` or `gradient_norm` that projected ascent finds in the ball."""
    generator = torch.Generator().manual_seed(0)
    step = torch.randn(starts, p.in_features, generator=generator, dtype=p.dtype)
    step = radius * step / step.norm(dim=-1, keepdim=True)
    best = 0.0
    for i in range(steps):
        x = (center + step).requires_grad_()
        value = norm(p, x)
        best = max(best, float(value.detach().max()))
        (uphill,) = torch.autograd.grad(value.sum(), x)
        step = step + 0.2 * radius * 0.9**i * uphill / uphill.norm(dim=-1, keepdim=True).clamp_min(1e-30)
        step = step * (radius / step.norm(dim=-1, keepdim=True).clamp_min(1e-30)).clamp_max(1)
    return best
