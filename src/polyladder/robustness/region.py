"""Where an input may be: boxes and Euclidean balls around rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from polyladder.polynomial.ball import EPSILON, TINY, UP, Ball, sum_up

Norm = Literal["inf", 2]


@dataclass(frozen=True, eq=False)
class Region:
    """One box or ball for each row, all of one kind.

    Attributes:
        center: shape (n, d), float64.
        radius: of a box for each input, of a ball the same number d times. Shape (n, d), float64.
        norm: "inf" for boxes, 2 for balls.
        ends: lower and upper ends that found points keep to, where they are narrower by a rounding than center and
            radius. Shapes (n, d).
    """

    center: Tensor
    radius: Tensor
    norm: Norm
    ends: tuple[Tensor, Tensor] | None = None

    def __getitem__(self, rows: Tensor | slice) -> Region:
        """Some of the regions."""
        ends = None if self.ends is None else (self.ends[0][rows], self.ends[1][rows])
        return Region(self.center[rows], self.radius[rows], self.norm, ends)

    def __len__(self) -> int:
        return len(self.center)

    def reach(self, rows: Ball) -> Tensor:
        """The largest size of linear forms of the step from the center. Shape (n, ..., d) to (n, ...)."""
        radius = self.radius.reshape(len(self), *[1] * (rows.mid.dim() - 2), -1)
        if self.norm == "inf":
            return sum_up(rows.size * radius) * UP
        return euclidean(rows.size) * radius[..., 0] * UP

    def at(self, t: Tensor) -> Tensor:
        """The points center + radius * t, held inside the region as far as float64 can. Shape (n, d)."""
        if self.norm == "inf":
            return torch.clamp(self.center + self.radius * t, self.lower, self.upper)
        return self.center + self.radius * t / t.norm(dim=-1, keepdim=True).clamp_min(1.0)

    @cached_property
    def lower(self) -> Tensor:
        """The lowest inputs that lie inside after rounding. Shape (n, d)."""
        if self.ends is not None:
            return self.ends[0]
        end = self.center - self.radius
        return torch.where(self.center - end > self.radius, torch.nextafter(end, self.center), end)

    @cached_property
    def upper(self) -> Tensor:
        """The highest inputs that lie inside after rounding. Shape (n, d)."""
        if self.ends is not None:
            return self.ends[1]
        end = self.center + self.radius
        return torch.where(end - self.center > self.radius, torch.nextafter(end, self.center), end)

    @property
    def farthest(self) -> Tensor:
        """How large each input can be in any of the regions. Shape (d,)."""
        return (self.center.abs() + self.radius).amax(0)

    @cached_property
    def cover(self) -> tuple[Tensor, Tensor]:
        """Ends between which the whole region lies. Shapes (n, d)."""
        far = torch.full_like(self.center, torch.inf)
        still = self.radius == 0
        low = torch.nextafter(self.center - self.radius, -far)
        high = torch.nextafter(self.center + self.radius, far)
        return torch.where(still, self.center, low), torch.where(still, self.center, high)


def euclidean(sizes: Tensor) -> Tensor:
    """An upper bound on the Euclidean norm of non-negative numbers along the last dimension."""
    top = sizes.amax(-1, keepdim=True).clamp_min(TINY)
    norm = (sizes / top).square().sum(-1).sqrt() * top.squeeze(-1)
    return norm * (1 + (sizes.shape[-1] + 8) * EPSILON)


def highest_on(slope: Ball, norm: Norm) -> tuple[Tensor, Tensor]:
    """The largest value of linear forms over the unit box or ball, from above, and where it is.

    Args:
        slope: shape (..., d).
        norm: of the region.

    Returns:
        Shapes (...) and (..., d).
    """
    if norm == "inf":
        return sum_up(slope.size), torch.sign(slope.mid)
    return euclidean(slope.size), slope.mid / slope.mid.norm(dim=-1, keepdim=True).clamp_min(TINY)


def box(lower: Tensor, upper: Tensor) -> Region:
    """The boxes from lower to upper, shapes (n, d): a center and a radius that reach both ends in floating point."""
    center = lower + (upper - lower) / 2
    radius = torch.maximum(upper - center, center - lower)
    # One rounding up: the difference itself was rounded.
    return Region(center, torch.where(radius > 0, radius * (1 + 2 * EPSILON), radius), "inf", (lower, upper))
