"""Which inputs an attack may choose: a region, and what tables add to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from polyladder.robustness.region import Norm, Region

SLACK = 1e-9
"""By how much a linear constraint may be missed, relative to its size."""


@dataclass(frozen=True, eq=False)
class Rules:
    """What an input must keep to, besides its region.

    Attributes:
        frozen: numbers of the inputs that never change.
        integer: numbers of the inputs that are whole numbers.
        one_hot: groups of inputs of which one is 1 and the others 0; they may change whatever the radius is.
        matrix: A of the constraints A x <= b. Shape (c, d), or None.
        limits: b. Shape (c,), or None.
        levels: for some inputs the values that they may have, where these are not the whole numbers. Shapes (v,).
    """

    frozen: Sequence[int] = ()
    integer: Sequence[int] = ()
    one_hot: Sequence[Sequence[int]] = ()
    matrix: Tensor | None = None
    limits: Tensor | None = None
    levels: Mapping[int, Tensor] = field(default_factory=dict)

    def check(self, d: int, norm: Norm = "inf") -> None:
        """Refuse rules that do not fit d inputs."""
        if self.one_hot and norm != "inf":
            raise ValueError("one_hot must come with norm='inf'; a change of category has no Euclidean length.")
        named = [*self.frozen, *self.integer, *self.levels, *(i for group in self.one_hot for i in group)]
        wrong = [i for i in named if isinstance(i, bool) or not isinstance(i, int) or not 0 <= i < d]
        if wrong:
            raise ValueError(f"frozen, integer and one_hot must name inputs from 0 to {d - 1}; got {wrong[0]!r}.")
        if (self.matrix is None) != (self.limits is None):
            raise ValueError("constraints must have both a matrix and limits; got one of them.")
        if self.matrix is not None and self.limits is not None:
            expected = (self.matrix.shape[0], d)
            if self.matrix.dim() != 2 or tuple(self.matrix.shape) != expected or self.limits.shape != expected[:1]:
                raise ValueError(
                    f"constraints must have shapes (c, {d}) and (c,); "
                    f"got {tuple(self.matrix.shape)} and {tuple(self.limits.shape)}."
                )

    @property
    def discrete(self) -> list[int]:
        """The inputs that do not move continuously."""
        return sorted({*self.integer, *self.levels, *(i for group in self.one_hot for i in group)})


@dataclass(frozen=True, eq=False)
class Feasible:
    """The inputs that are allowed in each of q problems.

    Attributes:
        region: of each problem.
        rules: shared by all.
    """

    region: Region
    rules: Rules = field(default_factory=Rules)

    def __getitem__(self, rows: Tensor) -> Feasible:
        return Feasible(self.region[rows], self.rules)

    @cached_property
    def lower(self) -> Tensor:
        """The lowest inputs; frozen ones stay. Shape (q, d)."""
        found = torch.where(self.fixed, self.region.center, self.region.lower)
        found[:, self.grouped] = 0.0
        return found

    @cached_property
    def upper(self) -> Tensor:
        """The highest inputs; frozen ones stay. Shape (q, d)."""
        found = torch.where(self.fixed, self.region.center, self.region.upper)
        found[:, self.grouped] = 1.0
        return found

    @cached_property
    def grouped(self) -> list[int]:
        """The inputs of one-hot groups: they may be 0 or 1 whatever the radius is."""
        return [i for group in self.rules.one_hot for i in group]

    @cached_property
    def fixed(self) -> Tensor:
        """Which inputs never change. Shape (d,)."""
        found = torch.zeros(self.region.center.shape[1], dtype=torch.bool)
        found[list(self.rules.frozen)] = True
        return found

    @cached_property
    def continuous(self) -> Tensor:
        """Which inputs move along lines. Shape (d,), float64."""
        found = (~self.fixed).double()
        found[self.rules.discrete] = 0.0
        return found

    def held(self, x: Tensor) -> Tensor:
        """Points moved to the nearest ones of the region, without looking at the other rules. Shape (q, d)."""
        x = torch.minimum(torch.maximum(x, self.lower), self.upper)
        if self.region.norm == "inf":
            return x
        step = x - self.region.center
        length = step.norm(dim=-1, keepdim=True).clamp_min(1e-300)
        # A hair inside, so that the length is no larger than the radius after rounding either.
        return self.region.center + step * (self.region.radius[:, :1] * (1 - 1e-14) / length).clamp_max(1.0)

    def rounded(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        """Allowed points as numbers of a dtype, moved inward where rounding would lead out. Shape (q, d), float64.

        Where the range of an input holds no number of the dtype, the nearest one outside is used.
        """
        if dtype == x.dtype:
            return x
        free = self.continuous > 0
        found = inward(x, self.lower, self.upper, dtype)
        for share in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0):
            out = ~self.allows(torch.where(free, found, x))
            if not bool(out.any()):
                break
            nearer = torch.where(free, x + share * (self.region.center - x), x)
            found[out] = inward(nearer, self.lower, self.upper, dtype)[out]
        return found

    def allows(self, x: Tensor) -> Tensor:
        """Whether points satisfy the region and the linear constraints. Shape (q, d) to (q,)."""
        inside = ((x >= self.lower) & (x <= self.upper)).all(-1)
        if self.region.norm == 2:
            inside &= (x - self.region.center).norm(dim=-1) <= self.region.radius[:, 0]
        return inside & self.satisfied(x)

    def satisfied(self, x: Tensor) -> Tensor:
        """Whether points satisfy the linear constraints. Shape (q, d) to (q,)."""
        if self.rules.matrix is None or self.rules.limits is None:
            return torch.ones(len(x), dtype=torch.bool)
        size = x.abs() @ self.rules.matrix.abs().mT + self.rules.limits.abs()
        return (x @ self.rules.matrix.mT <= self.rules.limits + SLACK * size).all(-1)

    def reach(self, x: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
        """From which to which t the points x + t direction are allowed. Shapes (q,); 0 is always within."""
        low, high = ends(direction, self.lower - x, self.upper - x)
        if self.region.norm == 2:
            first, last = chord(x - self.region.center, direction, self.region.radius[:, 0])
            low, high = torch.maximum(low, first), torch.minimum(high, last)
        if self.rules.matrix is not None and self.rules.limits is not None:
            slope, room = direction @ self.rules.matrix.mT, self.rules.limits - x @ self.rules.matrix.mT
            first, last = ends(slope, torch.full_like(room, -torch.inf), room.clamp_min(0.0))
            low, high = torch.maximum(low, first), torch.minimum(high, last)
        still = (direction == 0).all(-1)
        return low.clamp_max(0.0).masked_fill(still, 0.0), high.clamp_min(0.0).masked_fill(still, 0.0)


def inward(x: Tensor, lower: Tensor, upper: Tensor, dtype: torch.dtype) -> Tensor:
    """Points between two ends as numbers of a dtype that lie there too, if there are any. Shapes (q, d), float64."""
    found, far = x.to(dtype), torch.full_like(x, torch.inf, dtype=dtype)
    found = torch.where(found.double() > upper, torch.nextafter(found, -far), found)
    return torch.where(found.double() < lower, torch.nextafter(found, far), found).double()


def ends(slope: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """From which to which t all of low <= t slope <= high hold. Shapes (q, c) to (q,)."""
    moving = slope != 0
    safe = torch.where(moving, slope, 1.0)
    first, last = low / safe, high / safe
    first, last = torch.minimum(first, last), torch.maximum(first, last)
    first, last = first.masked_fill(~moving, -torch.inf), last.masked_fill(~moving, torch.inf)
    return first.amax(-1), last.amin(-1)


def chord(offset: Tensor, direction: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
    """From which to which t the points offset + t direction lie in the ball around 0. Shapes (q,)."""
    a, b = direction.square().sum(-1).clamp_min(1e-300), (offset * direction).sum(-1)
    c = (offset.square().sum(-1) - radius.square()).clamp_max(0.0)
    root = (b.square() - a * c).clamp_min(0.0).sqrt()
    return (-b - root) / a, (-b + root) / a
