"""The shape of errors whose log scale is known up to a factor: how heavy their tails are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyladder.training.errors.log_scale import log_densities, log_scale_coefficients
from polyladder.training.kernels.relevance import Array

TAILS = (3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 20.0, 50.0, np.inf)
"""Degrees of freedom that are tried. Fewer than 3 would have standard deviations that say nothing."""

FEW = 20
"""With fewer rows the log scale is not stretched."""


@dataclass(frozen=True)
class ErrorShape:
    """A Student distribution of errors with the log scale shift + stretch (g - center).

    Attributes:
        degrees: of freedom; infinity is the normal distribution.
        shift: of the log scale.
        stretch: at least 0; 0 is the same scale everywhere.
        center: that g is counted from.
    """

    degrees: float
    shift: float
    stretch: float
    center: float

    def __call__(self, g: Array) -> Array:
        """The log scales of values (n,) of g."""
        return self.shift + self.stretch * (g - self.center)


def shape_of(errors: Array, g: Array, weight: Array) -> ErrorShape:
    """The likeliest shape of errors.

    A normal shape of n errors is given n - 1 degrees of freedom, as their scale is not known exactly.

    Args:
        errors: of rows left out, not all zero. Shape (n,).
        g: their log scales, by fits that did not see them. Shape (n,).
        weight: of the rows. Shape (n,).
    """
    center, rows = float(weight @ g / weight.sum()), int((weight > 0).sum())
    varies = rows >= FEW and bool(np.ptp(g) > 0)
    best: tuple[float, ErrorShape] | None = None
    for degrees in TAILS:
        features = (g - center)[:, None] if varies else np.zeros((len(g), 0))
        *slopes, shift = log_scale_coefficients(features, errors, weight, 1e-9, degrees)
        if slopes and slopes[0] < 0:
            slopes, (shift,) = [], log_scale_coefficients(features[:, :0], errors, weight, 1e-9, degrees)
        shape = ErrorShape(degrees, float(shift), float(slopes[0]) if slopes else 0.0, center)
        likely = float(weight @ log_densities(errors, shape(g), degrees))
        if best is None or likely > best[0]:
            best = likely, shape
    assert best is not None
    most = max(TAILS[0], rows - 1.0) if rows < 200 else np.inf
    found = best[1]
    return ErrorShape(min(found.degrees, most), found.shift, found.stretch, found.center)
