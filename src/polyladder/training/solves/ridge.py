"""Ridge weights of groups of weights (the blocks of a ladder, the parts of a rival), given or re-estimated.

Empirical Bayes: with noise variance s and n rows, a group's ridge weight a means the prior precision n a / s. The
evidence of that group's regression is stationary where a = s gamma / (n |theta|^2), gamma = p - a tr((G + a I)^-1)
being how many of its p weights the data determine, and s = n mse / (n - sum of gamma).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from polyladder.models.batched import per_model

Alpha = float | Tensor | Literal["auto"]

START = 0.3
"""Where ``alpha="auto"`` starts: this over the number of rows. A larger start would switch units off for good before
they learn anything."""

WARM_UP = 3
"""Steps with the starting ridge weight before ``alpha="auto"`` re-estimates it: random weights fit only noise."""


@dataclass(frozen=True)
class Ridge:
    """Ridge weights of many models.

    Attributes:
        alpha: of each group. Shape (groups, B).
        noise_inflation: by how much noise raises the estimates; see `polyladder.fit_alternating`. Shape (B,).
    """

    alpha: Tensor
    noise_inflation: Tensor

    def select(self, keep: Tensor) -> Ridge:
        """The ridge weights of some of the models."""
        return Ridge(self.alpha[:, keep], self.noise_inflation[keep])

    def estimated(self, norms: Tensor, determined: Tensor, noise: Tensor, rows: Tensor) -> Ridge:
        """The ridge weights at which the evidence is stationary.

        Args:
            norms: squared norm of each group. Shape (groups, B).
            determined: how many weights of each group the data determine. Shape (groups, B).
            noise: variance. Shape (B,).
            rows: their number, or sum of weights. Shape (B,) or (1,).
        """
        # A floor: without any noise the ridge would vanish, and rounding errors would dominate the solves.
        noise = noise.clamp_min(1e-7)
        estimate = noise * determined.clamp_min(1e-3) / (rows * norms.clamp_min(1e-300))
        return Ridge(((1 + self.noise_inflation * noise) * estimate).clamp(1e-10, 1e2), self.noise_inflation)


def first_ridge(
    alpha: Alpha, noise_inflation: float | Tensor, groups: int, rows: Tensor, batch_shape: Sequence[int]
) -> Ridge:
    """The ridge weights to start with: as given, or for "auto" by the number of rows, shape (B,) or (1,)."""
    count = math.prod(batch_shape)
    if isinstance(alpha, str):
        if alpha != "auto":
            raise ValueError(f"alpha must be a non-negative number, one per model, or 'auto'; got {alpha!r}.")
        first = (START / rows).clamp_max(1e-3).expand(count)
    else:
        first = per_model("alpha", alpha, batch_shape, 0.0, math.inf).reshape(count).to(rows)
    inflation = per_model("noise_inflation", noise_inflation, batch_shape, 0.0, math.inf).reshape(count).to(rows)
    return Ridge(first.repeat(groups, 1), inflation)
