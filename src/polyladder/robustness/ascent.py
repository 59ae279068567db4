"""Ascent by exact steps: along every direction the highest point is found, not stepped towards."""

from __future__ import annotations

import time

import torch
from torch import Tensor

from polyladder.robustness.feasible import Feasible
from polyladder.robustness.surface import Surface, gradient

COORDINATES = 24
"""Inputs tried one by one in a round, at most: those whose slope times range is largest."""

LEVELS = 32
"""Of an input with up to this many allowed values all are tried. With more, only the two next to the highest point of
its line are."""


class Climb:
    """Points on their way up, one for each problem.

    Args:
        surface: what is climbed.
        feasible: where they may go.
        weights: of the outputs whose sum is to be large. Shape (q, m).
        x: allowed points. Shape (q, d).
        until: when to stop, by `time.monotonic`.
    """

    def __init__(
        self, surface: Surface, feasible: Feasible, weights: Tensor, x: Tensor, until: float = float("inf")
    ) -> None:
        self.surface, self.feasible, self.weights, self.x, self.until = surface, feasible, weights, x.clone(), until
        self.evaluations, self.free = 0, feasible.continuous
        self.value = self.values(self.x, torch.arange(len(x)))

    @property
    def late(self) -> bool:
        """Whether there is no time for another step."""
        return time.monotonic() > self.until

    def values(self, x: Tensor, rows: Tensor) -> Tensor:
        """The weighted sums of some problems, at points of theirs. Shape (c,)."""
        self.evaluations += len(x)
        outputs = self.surface.polynomial(self.surface.lift(x))
        return torch.nan_to_num((outputs * self.weights[rows]).sum(-1), nan=-torch.inf)

    def gradient(self, rows: Tensor) -> Tensor:
        """Of the weighted sums, at the points, as far as they move continuously. Shape (c, d)."""
        self.evaluations += 2 * len(rows)
        return torch.nan_to_num(gradient(self.surface, self.x[rows], self.weights[rows])) * self.free

    def peak(self, rows: Tensor, direction: Tensor) -> tuple[Tensor, Tensor]:
        """The highest allowed points along a direction, one for each of some problems: whose, and where."""
        low, high = self.feasible[rows].reach(self.x[rows], direction)
        moving = (high > low) & low.isfinite() & high.isfinite()
        rows, direction, low, high = rows[moving], direction[moving], low[moving], high[moving]
        if self.late or not len(rows):
            return rows[:0], self.x[:0]
        self.evaluations += len(rows) * self.surface.polynomial.order
        good, t = self.surface.along(self.x[rows], direction, low, high, self.weights[rows])
        rows = rows[good]
        return rows, self.x[rows] + t.unsqueeze(-1) * direction[good]

    def step(self, rows: Tensor, direction: Tensor) -> None:
        """Go to the highest allowed point along a direction, one for each of some problems. Shapes (c,) and (c, d)."""
        rows, x = self.peak(rows, direction)
        if len(rows):
            self.accept(rows, self.feasible[rows].held(x))

    def accept(self, rows: Tensor, x: Tensor) -> None:
        """Move to points that are allowed and higher than where the climb stands."""
        if self.late:
            return
        values = self.values(x, rows)
        better = (values > self.value[rows]) & self.feasible[rows].allows(x)
        self.x[rows[better]] = x[better]
        self.value[rows[better]] = values[better]

    def ascend(self, rows: Tensor) -> None:
        """Toward the corner that the gradient points to, then along the gradient as far as it is free."""
        if not bool(self.free.any()):
            return
        self.step(rows, self.corner(rows, self.gradient(rows)) - self.x[rows])
        slope, part = self.gradient(rows), self.feasible[rows]
        x = self.x[rows]
        blocked = ((x >= part.upper) & (slope > 0)) | ((x <= part.lower) & (slope < 0))
        self.step(rows, torch.where(blocked, 0.0, slope))

    def corner(self, rows: Tensor, slope: Tensor) -> Tensor:
        """Where a linear function of this slope is highest in the region; where it is flat, the point stays."""
        part = self.feasible[rows]
        if part.region.norm == 2:
            unit = slope / slope.norm(dim=-1, keepdim=True).clamp_min(1e-300)
            return part.held(part.region.center + part.region.radius * unit)
        return torch.where(slope == 0, self.x[rows], torch.where(slope > 0, part.upper, part.lower))

    def single_inputs(self, rows: Tensor) -> None:
        """Exact steps along single inputs, then every whole number and every choice of a group, one after the other."""
        slope, part, free = self.gradient(rows), self.feasible[rows], self.free
        order = (slope.abs() * (part.upper - part.lower)).argsort(-1, descending=True)
        for column in order[:, : min(int(free.sum()), COORDINATES)].unbind(-1):
            direction = torch.zeros_like(slope).scatter_(1, column.unsqueeze(-1), 1.0)
            self.step(rows, direction * free)
        for i in part.rules.integer:
            low, high = part.lower[:, i].ceil(), part.upper[:, i].floor()
            for k in range(int((high - low).max().clamp(-1, 256)) + 1):
                self.put(rows, i, torch.where(low + k <= high, low + k, self.x[rows, i]))
        for i, levels in part.rules.levels.items():
            self.try_levels(rows, i, levels)
        for group in part.rules.one_hot:
            for i in group:
                tried = self.x[rows]
                tried[:, list(group)] = 0.0
                tried[:, i] = 1.0
                self.accept(rows, tried)

    def try_levels(self, rows: Tensor, i: int, levels: Tensor) -> None:
        """The values that one input may have: all of them, or those beside the highest point of its line."""
        if len(levels) <= LEVELS:
            for level in levels:
                self.put(rows, i, level.expand(len(rows)))
            return
        direction = torch.zeros(len(rows), self.x.shape[1], dtype=torch.float64)
        direction[:, i] = 1.0
        rows, x = self.peak(rows, direction)
        above = torch.searchsorted(levels, x[:, i].contiguous())
        for at in (above - 1, above):
            self.put(rows, i, levels[at.clamp(0, len(levels) - 1)])

    def put(self, rows: Tensor, i: int, value: Tensor) -> None:
        """Try other values, (c,), of one input."""
        tried = self.x[rows]
        tried[:, i] = value
        self.accept(rows, tried)

    def run(self, rounds: int, tolerance: float = 1e-9, single: bool = True) -> None:
        """Rounds for every point until neither its gradient nor, if asked for, a single input gains anything."""
        rows = torch.arange(len(self.x))
        for _ in range(rounds):
            before = self.value[rows]
            self.ascend(rows)
            stuck = rows[~gained(self.value[rows], before, tolerance)]
            if single and len(stuck):
                self.single_inputs(stuck)
            rows = rows[gained(self.value[rows], before, tolerance)]
            if not len(rows) or self.late:
                return


def gained(after: Tensor, before: Tensor, tolerance: float) -> Tensor:
    """Whether values have grown by more than a part of their size."""
    return after - before > tolerance * after.abs() + 1e-300
