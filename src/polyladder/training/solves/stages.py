"""Block solves in stages: the first sweeps on a random part of the rows, the last on more of them.

A sweep on few rows moves random weights nearly as far as one on all of them, and costs less in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.training.solves.alternating import fit_alternating
from polyladder.training.solves.ridge import Alpha


@dataclass(frozen=True)
class Stage:
    """Sweeps on a part of the rows.

    Attributes:
        share: of the rows, at most 1.
        sweeps: at most this many.
    """

    share: float
    sweeps: int


def fit_in_stages(
    start: LadderPolynomial,
    x: Tensor,
    y: Tensor,
    stages: tuple[Stage, ...],
    *,
    alpha: Alpha = "auto",
    sample_weight: Tensor | None = None,
    **options: Any,
) -> tuple[LadderPolynomial, Tensor]:
    """Fit ladders stage by stage, each from where the one before ended, its estimated ridge weights included.

    A ridge weight is a prior precision divided by the number of rows, and is rescaled with it. The parts are drawn in
    the same way whatever the ladders are, and a larger one contains the smaller.

    Args:
        start: batch of ladders. Batch shape (B,).
        x: inputs. Shape (n, d).
        y: targets, rows first.
        stages: at least one, of growing shares.
        alpha: as in `polyladder.fit_alternating`.
        sample_weight: shape (n,), or None.
        options: others of `polyladder.fit_alternating`.

    Returns:
        The ladders, and their regularized losses after each sweep on the rows of its stage, shape (B, sweeps).
    """
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    weight = torch.ones(len(x), dtype=torch.float64) if sample_weight is None else sample_weight
    order = order[weight[order] > 0]  # a part must not consist of rows that do not count
    polynomial, known, before, losses = start, None, 1.0, []
    for stage in stages:
        whole = stage.share >= 1
        part = slice(None) if whole else order[: max(1, round(stage.share * len(order)))].sort().values
        rows = float(weight[part].sum())
        fit = fit_alternating(
            polynomial,
            x[part],
            y[part],
            alpha=alpha,
            sample_weight=None if sample_weight is None else sample_weight[part],
            sweeps=stage.sweeps,
            known_alpha=known if known is None else known * (before / rows),
            **options,
        )
        polynomial, before = fit.polynomial, rows
        known = fit.alpha if alpha == "auto" else None
        losses.append(fit.training_loss)
    return polynomial, torch.cat(losses, -1)
