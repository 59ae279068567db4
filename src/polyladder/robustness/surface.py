"""What a search climbs: a ladder as a function of its inputs, or of those without ramps, a polynomial on each piece.

Ramps follow their columns. A search that moved them by themselves would find points that no row has.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.jacobian import jacobian, weighted_gradient
from polyladder.analysis.line import LinePolynomial, line_polynomial
from polyladder.fitted.ramps import Ramps
from polyladder.polynomial.ladder import LadderPolynomial

AT_ONCE = 2**23
"""Numbers of states along lines that are held at once."""


@dataclass(frozen=True, eq=False)
class Surface:
    """A ladder that reads inputs, and then ramps of some of them: a function of the inputs, known exactly along lines.

    Attributes:
        polynomial: over inputs and ramps; float64, a single one.
        column: the input of each ramp. Shape (ramps,).
        low: where ramps begin to rise. Shape (ramps,).
        high: where they stop. Shape (ramps,).
        mean: what is subtracted from them, as they rise from 0 to 1. Shape (ramps,).
        scale: by which they are divided then. Shape (ramps,).
    """

    polynomial: LadderPolynomial
    column: Tensor
    low: Tensor
    high: Tensor
    mean: Tensor
    scale: Tensor

    @classmethod
    def of(cls, polynomial: LadderPolynomial, ramps: Ramps | None = None) -> Surface:
        """The surface of a polynomial over the ramps of its model, if there are some."""
        if ramps is None:
            none = torch.zeros(0, dtype=torch.float64)
            return cls(polynomial, none.long(), none, none, none, none)
        numbers = (torch.from_numpy(t).double() for t in (ramps.low, ramps.high, ramps.mean, ramps.scale))
        return cls(polynomial, torch.from_numpy(ramps.column).long(), *numbers)

    @property
    def is_smooth(self) -> bool:
        """Whether there are no ramps."""
        return not len(self.column)

    def lift(self, x: Tensor) -> Tensor:
        """What the polynomial reads at points: the inputs and their ramps. Shape (n, d) to (n, d + ramps)."""
        risen = ((x[:, self.column] - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
        return torch.cat([x, (risen - self.mean) / self.scale], -1)

    def steepness(self, x: Tensor) -> Tensor:
        """The derivative of each ramp by its input; at a knot, of the piece above it. Shape (n, ramps)."""
        t = x[:, self.column]
        return torch.where((self.low <= t) & (t < self.high), 1 / ((self.high - self.low) * self.scale), 0.0)

    def pulled(self, slopes: Tensor, x: Tensor) -> Tensor:
        """Derivatives by the inputs from those by what the polynomial reads, (n, ..., lifted), at points (n, d)."""
        d = x.shape[-1]
        steepness = self.steepness(x).view(len(x), *[1] * (slopes.dim() - 2), -1)
        return slopes[..., :d].index_add(-1, self.column, slopes[..., d:] * steepness)

    def along(self, x: Tensor, direction: Tensor, low: Tensor, high: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Where weighted sums of outputs are highest on the segments x + t direction, low <= t <= high.

        Args:
            x: shape (n, d).
            direction: shape (n, d).
            low: shape (n,), at most 0.
            high: shape (n,), at least 0.
            weights: shape (n, m).

        Returns:
            Which segments have such a place that is known, and t for those.
        """
        if self.is_smooth:
            return highest_along(self.polynomial, x, direction, low, high, weights)
        row, first, last = self.pieces(x, direction, low, high)
        best, place = torch.full_like(low, -torch.inf), torch.zeros_like(low)
        p = self.polynomial
        size = max(1, AT_ONCE // (p.order * max((p.in_features, *p.hidden))))
        for at in (slice(i, i + size) for i in range(0, len(row), size)):
            rows, a, b = row[at], first[at], last[at]
            way = direction[rows]
            middle = x[rows] + ((a + b) / 2).unsqueeze(-1) * way
            rise = torch.cat([way, way[:, self.column] * self.steepness(middle)], -1)
            begin = self.lift(x[rows] + a.unsqueeze(-1) * way)
            found, t = highest_along(p, begin, rise, torch.zeros_like(a), b - a, weights[rows])
            rows, a, b = rows[found], a[found], b[found]
            values = (p(begin[found] + t.unsqueeze(-1) * rise[found]) * weights[rows]).sum(-1)
            values = torch.nan_to_num(values, nan=-torch.inf)
            top = best.scatter_reduce(0, rows, values, "amax")
            wins = (values >= top[rows]) & (values > best[rows])
            place[rows[wins]] = torch.minimum(a + t, b)[wins]
            best = top
        good = best > -torch.inf
        return good, place[good]

    def pieces(self, x: Tensor, direction: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The parts of segments between knots: whose they are, and from which t to which. Shapes (pieces,)."""
        knots, columns = torch.cat([self.low, self.high]), self.column.repeat(2)
        t = (knots - x[:, columns]) / direction[:, columns]
        t = torch.minimum(torch.maximum(torch.nan_to_num(t), low.unsqueeze(-1)), high.unsqueeze(-1))
        ends = torch.cat([low.unsqueeze(-1), t, high.unsqueeze(-1)], -1).sort(-1).values
        row, at = (ends[:, 1:] > ends[:, :-1]).nonzero(as_tuple=True)
        return row, ends[row, at], ends[row, at + 1]


def gradient(surface: Surface, x: Tensor, weights: Tensor) -> Tensor:
    """Of weighted sums (n, m) of outputs, at points (n, d). Shape (n, d)."""
    return surface.pulled(weighted_gradient(surface.polynomial, surface.lift(x), weights), x)


def jacobians(surface: Surface, x: Tensor) -> Tensor:
    """Of all outputs, at points (n, d). Shape (n, m, d)."""
    return surface.pulled(jacobian(surface.polynomial, surface.lift(x)), x)


def highest_along(
    polynomial: LadderPolynomial, x: Tensor, direction: Tensor, low: Tensor, high: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """`Surface.along` for a ladder without ramps."""
    line = (line_polynomial(polynomial, x, direction).coefficients * weights.unsqueeze(-1)).sum(-2)
    good = line.isfinite().all(-1)
    t = highest(line[good], low[good], high[good])
    return (torch.zeros_like(good), low[:0]) if t is None else (good, t)


def highest(along: Tensor, low: Tensor, high: Tensor) -> Tensor | None:
    """Where polynomials of one variable are highest between two ends; None where their values overflow.

    Args:
        along: ascending coefficients, finite. Shape (c, degree + 1).
        low: shape (c,), at most 0.
        high: shape (c,), at least 0.
    """
    # Where the slope at 0 outweighs all that other terms can add to it, the end is the place, and no root is needed.
    powers = torch.arange(1, along.shape[1], dtype=along.dtype)
    farthest = torch.maximum(-low, high).unsqueeze(-1)
    slopes = along[:, 1:].abs() * powers * farthest ** (powers - 1)
    clear = 2 * slopes[:, 0] > slopes.sum(-1)
    t = torch.where(along[:, 1] > 0, high, low)
    if bool(clear.all()):
        return t
    try:
        t[~clear] = LinePolynomial(along[~clear]).maximize(low[~clear], high[~clear])[0]
    except ValueError:
        # What is highest is not known where values overflow, so nobody moves.
        return None
    return t
