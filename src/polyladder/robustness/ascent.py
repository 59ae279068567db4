"""Ascent by exact steps: along every direction the highest point is found, not stepped towards."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.analysis.jacobian import weighted_gradient
from polyladder.analysis.line import LinePolynomial, line_polynomial
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.feasible import Feasible

COORDINATES = 24
"""Inputs that are tried one by one in a round; with more, those with the steepest way to go."""


class Climb:
    """Points on their way up, one for each problem.

    Args:
        polynomial: float64, a single one.
        feasible: where they may go.
        weights: of the outputs whose sum is to be large. Shape (q, m).
        x: allowed points. Shape (q, d).
    """

    def __init__(self, polynomial: LadderPolynomial, feasible: Feasible, weights: Tensor, x: Tensor) -> None:
        self.polynomial, self.feasible, self.weights, self.x = polynomial, feasible, weights, x.clone()
        self.evaluations, self.free = 0, feasible.continuous
        self.value = self.values(self.x, torch.arange(len(x)))

    def values(self, x: Tensor, rows: Tensor) -> Tensor:
        """The weighted sums of some problems, at points of theirs. Shape (c,)."""
        self.evaluations += len(x)
        return torch.nan_to_num((self.polynomial(x) * self.weights[rows]).sum(-1), nan=-torch.inf)

    def gradient(self, rows: Tensor) -> Tensor:
        """Of the weighted sums, at the points, as far as they move continuously. Shape (c, d)."""
        self.evaluations += 2 * len(rows)
        return torch.nan_to_num(weighted_gradient(self.polynomial, self.x[rows], self.weights[rows])) * self.free

    def step(self, rows: Tensor, direction: Tensor) -> None:
        """Go to the highest allowed point along a direction, one for each of some problems. Shapes (c,) and (c, d)."""
        low, high = self.feasible[rows].reach(self.x[rows], direction)
        moving = (high > low) & low.isfinite() & high.isfinite()
        rows, direction, low, high = rows[moving], direction[moving], low[moving], high[moving]
        if not len(rows):
            return
        lines = line_polynomial(self.polynomial, self.x[rows], direction).coefficients
        self.evaluations += len(rows) * self.polynomial.order
        along = (lines * self.weights[rows].unsqueeze(-1)).sum(-2)
        good = along.isfinite().all(-1)
        t = highest(along[good], low[good], high[good])
        if t is None:
            return
        rows = rows[good]
        self.accept(rows, self.feasible[rows].held(self.x[rows] + t.unsqueeze(-1) * direction[good]))

    def accept(self, rows: Tensor, x: Tensor) -> None:
        """Move to points that are allowed and higher than where the climb stands."""
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
                tried = self.x[rows]
                tried[:, i] = torch.where(low + k <= high, low + k, tried[:, i])
                self.accept(rows, tried)
        for i, levels in part.rules.levels.items():
            for level in levels.tolist():
                tried = self.x[rows]
                inside = (part.lower[:, i] <= level) & (level <= part.upper[:, i])
                tried[:, i] = torch.where(inside, level, tried[:, i])
                self.accept(rows, tried)
        for group in part.rules.one_hot:
            for i in group:
                tried = self.x[rows]
                tried[:, list(group)] = 0.0
                tried[:, i] = 1.0
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
            if not len(rows):
                return


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


def gained(after: Tensor, before: Tensor, tolerance: float) -> Tensor:
    """Whether values have grown by more than a part of their size."""
    return after - before > tolerance * after.abs() + 1e-300
