"""The boxes of a table's inputs: which of their points are rows, and what its polynomial reads on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from polyladder.robustness.feasible import Rules
from polyladder.robustness.region import Region, box
from polyladder.robustness.surface import Surface

ROOM = 1e-12
"""By how much the end of a ramp is widened, for its rounding."""


@dataclass(frozen=True)
class Gap:
    """A number that may be missing.

    Attributes:
        flag: the input that is 1 where it is.
        column: the input of the number, or None where that does not vary.
        fill: what the number counts as where it is missing.
    """

    flag: int
    column: int | None
    fill: float


@dataclass(frozen=True, eq=False)
class Space:
    """What a table's inputs must keep to, so that a point is a row.

    Attributes:
        surface: what the polynomial reads at points.
        rules: levels of inputs, and one-hot groups.
        gaps: numbers that may be missing.
    """

    surface: Surface
    rules: Rules = field(default_factory=Rules)
    gaps: tuple[Gap, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether the inputs keep to nothing but their region, and are what the polynomial reads."""
        return self.surface.is_smooth and not self.levels

    @cached_property
    def levels(self) -> dict[int, Tensor]:
        """The values of each input that has no others, ascending. Those of groups and flags are 0 and 1."""
        both = torch.tensor([0.0, 1.0], dtype=torch.float64)
        switches = [i for group in self.rules.one_hot for i in group] + [gap.flag for gap in self.gaps]
        return {**self.rules.levels, **dict.fromkeys(switches, both)}

    def lifted(self, lower: Tensor, upper: Tensor) -> Region:
        """What the polynomial reads on boxes, (n, d): every ramp moves as its input does."""
        low, high = self.surface.lift(lower), self.surface.lift(upper)
        room = ROOM * (1 + torch.maximum(low.abs(), high.abs()))
        room[:, : lower.shape[1]] = 0.0
        return box(low - room, high + room)

    def share(self, sizes: Tensor, d: int) -> Tensor:
        """Sizes of what the polynomial reads, (n, lifted), added up for each input. Shape (n, d)."""
        return sizes[:, :d].index_add(1, self.surface.column, sizes[:, d:])

    def cut(self, lower: Tensor, upper: Tensor, variable: Tensor) -> Tensor:
        """Where boxes (n, d) are parted along an input each: in the middle, or at a knot near it. Shape (n,)."""
        low, high = (end.gather(1, variable.unsqueeze(-1)) for end in (lower, upper))
        middle = low + (high - low) / 2
        if self.surface.is_smooth:
            return middle.squeeze(-1)
        knots = torch.cat([self.surface.low, self.surface.high])
        own = self.surface.column.repeat(2) == variable.unsqueeze(-1)
        # Far from the middle a knot would leave one part nearly as large as the whole.
        off = torch.where(own & ((knots - middle).abs() < (high - low) / 4), (knots - middle).abs(), torch.inf)
        nearest, at = off.min(-1)
        return torch.where(nearest < torch.inf, knots[at], middle.squeeze(-1))

    def snapped(self, lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The boxes (n, d) drawn in to the rows that they hold, and whether they hold any. Shapes (n, d) and (n,)."""
        lower, upper = lower.clone(), upper.clone()
        exists = torch.ones(len(lower), dtype=torch.bool)
        for gap in self.gaps:
            if gap.column is not None:
                without = (lower[:, gap.column] > gap.fill) | (upper[:, gap.column] < gap.fill)
                upper[without, gap.flag] = lower[without, gap.flag]
        for i, levels in self.levels.items():
            first = torch.searchsorted(levels, lower[:, i].contiguous())
            last = torch.searchsorted(levels, upper[:, i].contiguous(), right=True) - 1
            exists &= first <= last
            lower[:, i] = levels[first.clamp_max(len(levels) - 1)]
            upper[:, i] = torch.maximum(levels[last.clamp_min(0)], lower[:, i])
        for group in map(list, self.rules.one_hot):
            low, high = lower[:, group], upper[:, group]
            chosen = low.amax(1, keepdim=True) > 0
            high = torch.where(chosen, low, high)
            low = torch.where(high.sum(1, keepdim=True) == 1, high, low)
            exists &= (high.amax(1) > 0) & (low.sum(1) <= 1)
            lower[:, group], upper[:, group] = low, high
        for gap in self.gaps:
            if gap.column is not None:
                missing = lower[:, gap.flag] > 0
                lower[missing, gap.column] = upper[missing, gap.column] = gap.fill
        return lower, upper, exists

    def rows(self, x: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
        """Points of snapped boxes moved to rows that these hold. Shapes (n, d)."""
        x = torch.minimum(torch.maximum(x, lower), upper)
        for i, levels in self.rules.levels.items():
            above = torch.searchsorted(levels, x[:, i].contiguous()).clamp_max(len(levels) - 1)
            below = (above - 1).clamp_min(0)
            nearer = torch.where(levels[above] - x[:, i] < x[:, i] - levels[below], levels[above], levels[below])
            x[:, i] = torch.minimum(torch.maximum(nearer, lower[:, i]), upper[:, i])
        for group in map(list, self.rules.one_hot):
            best = torch.where(upper[:, group] > 0, x[:, group] + lower[:, group], -1.0).argmax(1, keepdim=True)
            x[:, group] = torch.zeros(len(x), len(group), dtype=x.dtype).scatter_(1, best, 1.0)
        for gap in self.gaps:
            x[:, gap.flag] = lower[:, gap.flag]
        return x
