"""The paper's bounds on outputs and gradients of a trained ladder, beside the largest that a search finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from polyladder import LadderPolynomial, lipschitz_bound, merge, output_bound
from polyladder_lab.experiments.engine.plan import Measurement
from polyladder_lab.experiments.engine.scores import Result
from polyladder_lab.experiments.runners.networks import trained_ladder

STARTS, STEPS = 64, 200
"""Of the search."""


def run_bounds(group: Sequence[Measurement]) -> list[list[Result]]:
    """For each measurement a trained ladder's error, its bounds, and what was found."""
    return [[bounds(measurement)] for measurement in group]


def bounds(measurement: Measurement) -> Result:
    """Train a ladder; bound and search its outputs and gradients on the ball that holds a test row of middle norm."""
    single, held_out, result = trained_ladder(measurement)
    ladder = merge(single.double()).map(torch.detach)
    radius = float(held_out.double().norm(dim=1).median())
    found: dict[str, float] = {"radius": radius}
    for name, bound, size in (("output", output_bound, output_size), ("gradient", lipschitz_bound, gradient_size)):
        found[f"{name}_found"] = largest(ladder, size, radius, measurement.seed)
        for method in ("paper", "local"):
            found[f"{name}_{method}"] = float(bound(ladder, radius, method=method))
    return Result(result.value, {"bounds": found})


def output_size(ladder: LadderPolynomial, x: Tensor) -> Tensor:
    """Absolute value of a single output. Shape (n,)."""
    return ladder(x)[:, 0].abs()


def gradient_size(ladder: LadderPolynomial, x: Tensor) -> Tensor:
    """Norm of its gradient. Shape (n,)."""
    (gradient,) = torch.autograd.grad(ladder(x).sum(), x, create_graph=True)
    return gradient.norm(dim=1)


def largest(
    ladder: LadderPolynomial, size: Callable[[LadderPolynomial, Tensor], Tensor], radius: float, seed: int
) -> float:
    """The largest value that projected ascent finds in the ball around the origin, from many starts."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(STARTS, ladder.in_features, generator=generator, dtype=torch.float64)
    x = radius * x / x.norm(dim=1, keepdim=True)
    best = 0.0
    for i in range(STEPS):
        x.requires_grad_()
        value = size(ladder, x)
        best = max(best, float(value.detach().max()))
        (uphill,) = torch.autograd.grad(value.sum(), x)
        x = x.detach() + 0.1 * radius * 0.98**i * uphill / uphill.norm(dim=1, keepdim=True).clamp_min(1e-30)
        x = x * (radius / x.norm(dim=1, keepdim=True)).clamp_max(1)
    return best
