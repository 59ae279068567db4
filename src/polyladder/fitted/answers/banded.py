"""The answer of a regression that is exported with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from polyladder.fitted.answers.answer import Answer, Array, Guard, held


@dataclass(frozen=True)
class Banded(Answer):
    """Numbers, the ends of their intervals and the scales of their errors, from three outputs of the ladders for each.

    The outputs are first the numbers, then the log scales, then what these grow by beyond the training ranges. As for
    `Numbers`, the mean over the ladders counts.

    Attributes:
        guard: lowest and highest of the numbers, or None.
        log_scales: lowest and highest of the log scales, before they grow.
        most: by what a log scale grows at most.
        widths: half of an interval's width, in scales.
        degrees: of freedom of errors, in scales; infinity is the normal distribution.
        percentage: of new observations that the intervals are made to hold.
    """

    guard: Guard | None
    log_scales: Guard
    most: float
    widths: tuple[float, ...]
    degrees: tuple[float, ...]
    percentage: float

    @property
    def note(self) -> str:
        """What the intervals promise, and the distribution of errors."""
        shapes = [f"Student, {nu:.6g} degrees of freedom" if np.isfinite(nu) else "normal" for nu in self.degrees]
        return (
            f"Intervals, from low to high, are made to hold {self.percentage:g} % of new observations. "
            f"Distribution of errors divided by the scale: {'; '.join(shapes)}."
        )

    def predict(self, outputs: Tensor) -> Array:
        """All numbers, then all lower ends, all upper ends and all scales. Shape (n, 4 m)."""
        values, log_scales, growth = outputs.mean(0).chunk(3, 1)
        scale = (held(log_scales, self.log_scales) + growth.clamp_max(self.most)).exp()
        center, half = held(values, self.guard), torch.tensor(self.widths, dtype=torch.float64) * scale
        return np.asarray(torch.cat([center, center - half, center + half, scale], 1).numpy())

    def label(self, name: str, output: int) -> str:
        """The name of what is predicted."""
        return name
