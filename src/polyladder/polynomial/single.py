"""The mean of ladders in single precision, and a proven bound on what the rounding costs.

Whatever the order of its sums, a ladder computes a sum of monomials, each off by a factor (1 + e)^N with |e| at most u,
half the spacing of the numbers around 1. N counts the roundings on the way. The error is thus at most N u / (1 - N u)
times the same ladder with every weight and input replaced by its absolute value. Numbers that are too small for single
precision have a larger error, but never more than one rounding of a product of two numbers of size `FLOOR`: so every
weight and input counts with at least that size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.layout import Layout
from polyladder.polynomial.units import MeanOfParts, UnitSum, mean_of

UNIT = torch.finfo(torch.float32).eps / 2
"""The largest relative error of one rounding."""

FLOOR = 2.0**-51
"""The least size that a weight or input counts with: a rounding of its square is the smallest ordinary float32."""


@dataclass(frozen=True, eq=False)
class SingleMean:
    """The mean of ladders, evaluated in single precision.

    Attributes:
        rounded: the mean in float32, (n, d) to (n, m).
        magnitudes: the mean in float64 with the magnitudes of all weights.
        roundings: N, the most that a monomial goes through.
    """

    rounded: Callable[[Tensor], Tensor]
    magnitudes: Callable[[Tensor], Tensor]
    roundings: int

    def __call__(self, x: Tensor) -> Tensor:
        """The mean at rows x (n, d), float32. Shape (n, m)."""
        return self.rounded(x.to(torch.float32))

    def error(self, x: Tensor) -> Tensor:
        """An upper bound on the distance to the exact mean at rows x (n, d). Shape (n, m)."""
        share = self.roundings * UNIT
        return (share / (1 - share) if share < 1 else torch.inf) * self.magnitudes(magnitude(x))


def single_mean(members: LadderPolynomial, by_units: bool) -> SingleMean:
    """The mean of a batch (B,) of ladders.

    Args:
        members: float64.
        by_units: whether members may be sums of units (`mean_of`); otherwise they are evaluated side by side, for which
            they need a layer.
    """
    if not by_units:
        roundings = len(members) + 2 + ladder_roundings(members)
        side_by_side = Layout.of(members.to(torch.float32)).mean
        return SingleMean(side_by_side, Layout.of(members.map(magnitude)).mean, roundings)
    parts = mean_of(members).parts
    most = max(unit_roundings(part) if isinstance(part, UnitSum) else ladder_roundings(part) for part in parts)
    single = MeanOfParts(tuple(part.map(lambda t: t.to(torch.float32)) for part in parts))
    return SingleMean(single, MeanOfParts(tuple(part.map(magnitude) for part in parts)), len(parts) + 2 + most)


def magnitude(t: Tensor) -> Tensor:
    """The size with which a number enters a bound."""
    return t.abs().clamp_min(FLOOR)


def ladder_roundings(polynomial: LadderPolynomial) -> int:
    """Roundings of a monomial in a ladder: of weights and inputs, products, sums and intercepts."""
    reads_x = polynomial.in_features + 4
    layers = [reads_x + 1 + (k + 3) for k in polynomial.hidden]
    return reads_x + sum(layers) + 1


def unit_roundings(units: UnitSum) -> int:
    """The same for a sum of units: each power of t costs those of t, a product and a sum."""
    columns, count = units.directions.shape
    return (len(units.powers) - 1) * (columns + 5) + count + 5
