"""Normal or Student predictions: a center and a scale for each row, with calibrated intervals where there are some."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from polyladder.predictive.conformal import Calibrated
from polyladder.predictive.number_predictive import NumberPredictive
from polyladder.predictive.standard_student import (
    half_difference,
    log_density,
    mean_distance,
    probability_below,
    quantile_at,
)


@dataclass(frozen=True, eq=False, repr=False)
class StudentPredictive(NumberPredictive):
    """A Student distribution for each row and output; outputs are independent of each other.

    Its standard deviation is infinite where there are two degrees of freedom or fewer. All tensors are float64.

    Attributes:
        center: the means. Shape (n, m).
        scale: of the distribution, positive; the standard deviation of a normal. Shape (n, m).
        degrees: of freedom, more than 1; infinity is the normal. Shape (m,).
        flat: whether the target is one column without a second dimension, so that answers have shape (n,).
        widths: half widths of central intervals that were calibrated, in units of the scale. `interval` takes them;
            below the lowest calibrated level it is no wider than at that level, above the highest no narrower. All
            else is the Student's.
    """

    center: Tensor
    scale: Tensor
    degrees: Tensor
    flat: bool
    widths: Calibrated | None = None

    def __post_init__(self) -> None:
        m = self.center.shape[-1] if self.center.dim() == 2 else 0
        if not m or (self.flat and m > 1):
            wanted = "(n, 1), as the answers are flat" if self.flat else "(n, m)"
            raise ValueError(f"center must have shape {wanted}; got shape {tuple(self.center.shape)}.")
        if self.scale.shape != self.center.shape:
            shapes = tuple(self.center.shape), tuple(self.scale.shape)
            raise ValueError(f"scale must have shape {shapes[0]}, as center has; got shape {shapes[1]}.")
        if self.degrees.shape != (m,):
            raise ValueError(
                f"degrees must have shape ({m},), one for each output; got shape {tuple(self.degrees.shape)}."
            )
        if not bool((self.scale > 0).all()):
            least = float(self.scale.min())
            raise ValueError(f"scale must be positive; got {least:g}. Take a small number where nothing is uncertain.")
        if not bool((self.degrees > 1).all()):
            raise ValueError(f"degrees must be more than 1, to have a mean; got {float(self.degrees.min()):g}.")
        if self.widths is not None and self.widths.widths.shape[1:] not in ((m,), self.center.shape):
            raise ValueError(f"widths must be of {m} outputs; got shape {tuple(self.widths.widths.shape)}.")

    @property
    def means(self) -> Tensor:
        """Shape (n, m)."""
        return self.center

    @property
    def deviations(self) -> Tensor:
        """Standard deviations. Shape (n, m)."""
        nu = torch.where(self.degrees > 2, self.degrees, 3.0)
        factor = torch.where(nu.isfinite(), nu / (nu - 2), 1.0).sqrt()
        return self.scale * torch.where(self.degrees > 2, factor, torch.inf)

    def standard(self, y: Tensor) -> Tensor:
        """How many scales y (n, m) lies above the center. Shape (n, m)."""
        return (y - self.center) / self.scale

    def quantiles(self, probability: float) -> Tensor:
        """Of each output by itself. Shape (n, m)."""
        return self.center + self.scale * quantile_at(torch.full_like(self.degrees, probability), self.degrees)

    def ends(self, level: float) -> tuple[Tensor, Tensor]:
        """Of the central interval. Shapes (n, m)."""
        half = quantile_at(torch.full_like(self.degrees, 0.5 + level / 2), self.degrees)
        if self.widths is not None:
            half = self.widths.held(level, half)
        return self.center - half * self.scale, self.center + half * self.scale

    def log_densities(self, y: Tensor) -> Tensor:
        """Of each output by itself. Shape (n, m)."""
        return log_density(self.standard(y), self.degrees) - self.scale.log()

    def joint_log_density(self, y: Tensor) -> Tensor:
        """Of the outputs of each row together: they are independent. Shape (n,)."""
        return self.log_densities(y).sum(-1)

    def below(self, y: Tensor) -> Tensor:
        """Probability of at most y (n, m). Shape (n, m)."""
        return probability_below(self.standard(y), self.degrees)

    def draws(self, n: int, seed: int) -> Tensor:
        """New observations. Shape (n, rows, m)."""
        rng = np.random.default_rng(seed)
        shape = (n, *self.center.shape)
        normal = torch.from_numpy(rng.standard_normal(shape))
        finite = self.degrees.isfinite()
        nu = torch.where(finite, self.degrees, 1.0)
        shrink = torch.where(finite, torch.from_numpy(rng.chisquare(nu.numpy(), shape)) / nu, 1.0)
        return self.center + self.scale * normal / shrink.sqrt()

    def scores(self, y: Tensor) -> Tensor:
        """CRPS of each output, in closed form (Jordan, Krüger and Lerch 2019). Shape (n, m)."""
        return self.scale * (mean_distance(self.standard(y), self.degrees) - half_difference(self.degrees))

    def rows(self, index: Tensor) -> Self:
        """The distributions of the rows with these numbers (k,)."""
        widths = None if self.widths is None else self.widths.rows(index)
        return replace(self, center=self.center[index], scale=self.scale[index], widths=widths)
