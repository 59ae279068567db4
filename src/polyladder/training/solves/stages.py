"""Block solves in stages: the first sweeps on a random part of the rows, the last on more of them.

A sweep on few rows moves random weights nearly as far as one on all of them, and costs less in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from polyladder.polynomial.ladder import LadderPolynomial, combine
from polyladder.training.solves.alternating import EXACT_SWEEPS, fit_alternating
from polyladder.training.solves.ridge import Alpha

RELAXATION = 1.6
"""Length of block steps, where 1 is the block's minimizer. Longer steps need half as many sweeps."""


@dataclass(frozen=True)
class Stage:
    """Sweeps on a part of the rows.

    Attributes:
        share: of the rows, at most 1.
        sweeps: at most this many.
        noise_below: only ladders whose noise, for targets of variance 1, is below this take part. With little noise the
            error is mainly that of unfinished solves.
    """

    share: float
    sweeps: int
    noise_below: float = math.inf


@dataclass(frozen=True, eq=False)
class StagedFit:
    """Ladders after some stages, and what the next stages start from.

    Attributes:
        polynomial: the ladders. Batch shape (B,).
        losses: regularized, after each sweep, on the rows of its stage; NaN after a ladder's last one. Shape
            (B, sweeps).
        noise: remaining variance, for targets of variance 1. Shape (B,).
        precision: estimated ridge weights times rows; None where these are given. Shape (groups, B).
    """

    polynomial: LadderPolynomial
    losses: Tensor
    noise: Tensor
    precision: Tensor | None

    def __len__(self) -> int:
        return len(self.polynomial)

    def __getitem__(self, some: Tensor) -> StagedFit:
        """Some of the ladders."""
        precision = None if self.precision is None else self.precision[:, some]
        return StagedFit(self.polynomial[some], self.losses[some], self.noise[some], precision)


def joined(fits: Sequence[StagedFit]) -> StagedFit:
    """Ladders of several fits side by side, all with estimated ridge weights or none."""
    sweeps = max(fit.losses.shape[-1] for fit in fits)
    precision = [fit.precision for fit in fits if fit.precision is not None]
    return StagedFit(
        combine(torch.cat, [fit.polynomial for fit in fits]),
        torch.cat([pad(fit.losses, (0, sweeps - fit.losses.shape[-1]), value=math.nan) for fit in fits]),
        torch.cat([fit.noise for fit in fits]),
        torch.cat(precision, 1) if precision else None,
    )


def fit_in_stages(
    start: LadderPolynomial | StagedFit,
    x: Tensor,
    y: Tensor,
    stages: tuple[Stage, ...],
    *,
    alpha: Alpha = "auto",
    sample_weight: Tensor | None = None,
    exact_sweeps: int = EXACT_SWEEPS,
    **options: Any,
) -> StagedFit:
    """Fit ladders stage by stage, each from where the one before ended, its estimated ridge weights included.

    A ridge weight is a prior precision divided by the number of rows, and is rescaled with it. The parts do not depend
    on the ladders, and a larger part contains the smaller ones.

    Args:
        start: batch of ladders. Batch shape (B,). Or earlier stages on the same rows, after which these are the next.
        x: inputs. Shape (n, d).
        y: targets, rows first.
        stages: at least one, of growing shares.
        alpha: as in `polyladder.fit_alternating`.
        sample_weight: shape (n,), or None.
        exact_sweeps: of the first stage.
        options: others of `polyladder.fit_alternating`, the same for all ladders.

    """
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    weight = torch.ones(len(x), dtype=torch.float64) if sample_weight is None else sample_weight
    order = order[weight[order] > 0]  # a part must not consist of rows of weight zero
    if isinstance(start, StagedFit):
        polynomial, losses, noise, precision = start.polynomial, [start.losses], start.noise.clone(), start.precision
    else:
        polynomial, losses, precision = start, [], None
        noise = torch.zeros(start.batch_shape, dtype=torch.float64, device=start.device)
    for stage in stages:
        going = torch.arange(len(noise), device=noise.device)
        if stage.noise_below < math.inf:
            going = going[noise < stage.noise_below]
        if not len(going):
            continue
        whole = stage.share >= 1
        part = slice(None) if whole else order[: max(1, round(stage.share * len(order)))].sort().values
        rows = float(weight[part].sum())
        fit = fit_alternating(
            polynomial[going],
            x[part],
            y[part],
            alpha=alpha[going] if isinstance(alpha, Tensor) and alpha.dim() else alpha,
            sample_weight=None if sample_weight is None else sample_weight[part],
            sweeps=stage.sweeps,
            known_alpha=precision if precision is None else precision[:, going] / rows,
            exact_sweeps=0 if losses else exact_sweeps,
            **options,
        )
        polynomial = put(polynomial, going, fit.polynomial)
        noise[going] = fit.noise
        if isinstance(alpha, str):
            precision = fit.alpha.new_empty(len(fit.alpha), len(noise)) if precision is None else precision.clone()
            precision[:, going] = fit.alpha * rows
        curve = fit.training_loss.new_full((len(noise), fit.training_loss.shape[-1]), math.nan)
        curve[going] = fit.training_loss
        losses.append(curve)
    return StagedFit(polynomial, torch.cat(losses, -1), noise, precision)


def put(ladders: LadderPolynomial, at: Tensor, new: LadderPolynomial) -> LadderPolynomial:
    """The ladders (B,) with those at the given positions replaced."""
    if len(at) == len(ladders):
        return new

    def replaced(old_and_new: Sequence[Tensor]) -> Tensor:
        return old_and_new[0].index_copy(0, at, old_and_new[1])

    return combine(replaced, [ladders, new])
