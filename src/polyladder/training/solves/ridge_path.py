"""Many ridge weights from one start: only the last sweeps depend on the ridge weight.

Ladders of a grid that differ only in their ridge weight share their first sweeps, and each of them is the same alone as
in the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.solves.stages import Stage, fit_in_stages

OWN_SHARE = 1 / 8
"""Part of the sweeps of the last stage, rounded up, that are made with the given ridge weight: one of seven. Held-out
errors at the best ridge weight are then, on average, those of fits that have it from the first sweep on; two or three
of seven did not bring them closer."""


@dataclass(frozen=True, eq=False)
class RidgePath:
    """Ladders with ridge weights of their own.

    Attributes:
        polynomial: the fitted ladders. Batch shape (B,).
        losses: regularized losses after each sweep with the given ridge weight, NaN after a ladder's last one. Shape
            (B, sweeps).
        sweeps: how many each ladder made, those of the common beginning included. Shape (B,).
    """

    polynomial: LadderPolynomial
    losses: Tensor
    sweeps: Tensor


def fit_ridge_path(
    start: LadderPolynomial, x: Tensor, y: Tensor, stages: tuple[Stage, ...], *, alpha: Tensor, **options: Any
) -> RidgePath:
    """Fit ladders that may have equal starts, with ridge weights of their own in the last sweeps.

    The first sweeps estimate their ridge weights, as ``alpha="auto"`` does. Ladders with equal starts make them once.
    From the first sweep with the given weight on, the objective with that weight does not rise.

    Args:
        start: batch of ladders. Batch shape (B,).
        x: inputs. Shape (n, d).
        y: targets, rows first.
        stages: as in `fit_in_stages`; the last of those that all ladders take part in is divided.
        alpha: ridge weights. Shape (B,).
        options: others of `fit_in_stages`, the same for all ladders.
    """
    beginning, end = divided(stages)
    polynomial, sweeps = start, torch.zeros(len(start), dtype=torch.int64)
    if beginning:
        first, begins = different(start)
        common = fit_in_stages(start[first], x, y, beginning, **options)
        polynomial, sweeps = common.polynomial[begins], common.losses.isfinite().sum(-1)[begins]
    own = fit_in_stages(polynomial, x, y, end, alpha=alpha, **options)
    return RidgePath(own.polynomial, own.losses, sweeps + own.losses.isfinite().sum(-1))


def divided(stages: tuple[Stage, ...]) -> tuple[tuple[Stage, ...], tuple[Stage, ...]]:
    """The stages that do not depend on the ridge weight, and those that do.

    Stages for ladders with little noise are among the second: which ladders take part depends on the ridge weight.
    """
    last = max(i for i, stage in enumerate(stages) if stage.noise_below == math.inf)
    sweeps = stages[last].sweeps
    own = math.ceil(OWN_SHARE * sweeps)
    rest = (replace(stages[last], sweeps=sweeps - own),) if own < sweeps else ()
    return (*stages[:last], *rest), (replace(stages[last], sweeps=own), *stages[last + 1 :])


def different(ladders: LadderPolynomial) -> tuple[Tensor, Tensor]:
    """Positions of ladders (B,) no two of which are equal, (S,), and for each ladder which of those it equals, (B,)."""
    weights = torch.cat([t.flatten(1) for t in ladders.tensors().values()], 1)
    distinct, equal = torch.unique(weights, dim=0, return_inverse=True)
    first = equal.new_empty(len(distinct)).index_copy_(0, equal, torch.arange(len(equal), device=equal.device))
    return first, equal
