"""The answer of a posterior over regressions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from polyladder.fitted.answers.answer import Array, Guard, Numeric, guard_range
from polyladder.predictive.mixture import StudentMixture
from polyladder.training.bayes.noise import TILT, log_tilt, noise_columns


@dataclass(frozen=True, eq=False)
class Draws(Numeric):
    """The lower median over the believed draws, and the distribution of a new observation.

    A draw is believed where all its outputs lie in the guard's range; where none does, all are, held to it.

    Attributes:
        guard: lowest and highest value of each output, or None.
        scales: of each draw's noise at a row of mean inputs, in the target's units. Shape (draws, m).
        degrees: of freedom of the noise; infinity is Gaussian. Shape (draws, m).
        slopes: of the noise's log precision on the inputs, held to [-3, 3], and on half their squares less 1. Shape
            (draws, m, 2 d), or (draws, m, 0) where the noise is the same everywhere.
        flat: as for `Numbers`.
        span: as for `Numbers`.
    """

    guard: Guard | None
    scales: Array
    degrees: Array
    slopes: Array
    flat: bool = False
    span: Guard | None = None

    by_member = True

    @property
    def variance(self) -> Array:
        """Of each draw's noise at a row of mean inputs. Shape (draws, m)."""
        nu = np.where(np.isfinite(self.degrees), self.degrees, 3.0)
        with np.errstate(divide="ignore"):
            heavier = np.where(np.isfinite(self.degrees), nu / np.maximum(nu - 2, 0.0), 1.0)
        return np.asarray(self.scales**2 * heavier)

    @property
    def tilt(self) -> float:
        """The log precision of the noise lies within this of a mean row's."""
        return TILT

    def noise_scale(self, z: Tensor) -> Tensor:
        """Scale of the noise at inputs z (n, d). Shape (draws, n, m), or (draws, 1, m) where it is the same."""
        scales, slopes = (torch.from_numpy(each) for each in (self.scales, self.slopes))
        if not slopes.shape[-1]:
            return scales.unsqueeze(1)
        return scales.unsqueeze(1) * (-log_tilt(noise_columns(z) @ slopes.mT) / 2).exp()

    def distribution(self, outputs: Tensor, z: Tensor) -> StudentMixture:
        """The distribution of a new observation at each row: one component for each draw."""
        mixture = StudentMixture.equal(outputs, self.noise_scale(z), torch.from_numpy(self.degrees).unsqueeze(1))
        return mixture if self.guard is None else mixture.within(*guard_range(self.guard))
