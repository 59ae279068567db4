"""Branch and bound: the largest value over boxes, found and proven, for many problems at once."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled
from polyladder.robustness.bounds import upper_bounds
from polyladder.robustness.feasible import Feasible
from polyladder.robustness.nodes import Nodes, Tree, joined
from polyladder.robustness.region import Region, box
from polyladder.robustness.space import Space
from polyladder.robustness.surface import Surface


@dataclass(frozen=True, eq=False)
class Maximum:
    """The largest values over q regions.

    Attributes:
        x: the best points found. Shape (q, d).
        value: there. Shape (q,).
        bound: no point of the region has a larger value. Shape (q,).
        boxes: how many boxes were bounded.
    """

    x: Tensor
    value: Tensor
    bound: Tensor
    boxes: int


@dataclass(frozen=True, eq=False)
class Stop:
    """When a problem is solved.

    Attributes:
        seconds: for all problems together.
        relative: gap allowed, as a part of the size of the value.
        absolute: gap allowed, if that is larger. Shape (q,).
        threshold: a problem is also solved once its bound is at most this, or its value above it. Shape (q,).
        ceiling: no value counts as more than this.
    """

    seconds: float
    relative: float
    absolute: Tensor
    threshold: Tensor | None = None
    ceiling: float = torch.inf


def branch(
    polynomial: LadderPolynomial,
    region: Region,
    weights: Tensor,
    start: Tensor,
    stop: Stop,
    space: Space | None = None,
) -> Maximum:
    """Maximize weighted sums of outputs over regions by halving boxes, the most doubtful ones first.

    The bound holds whenever the search ends. It is the largest bound of all boxes: those still open, and those closed
    because nothing in them can be better by more than the allowed gap.

    Args:
        polynomial: float64, a single one.
        region: one for each of q problems.
        weights: of the outputs. Shape (q, m).
        start: a point of each region, and of the space. Shape (q, d).
        stop: when to stop.
        space: what the inputs are tied to, where that is more than the region, which then is of boxes.
    """
    began = time.monotonic()
    space = Space(Surface.of(polynomial)) if space is None else space
    read = region if space.is_free else space.lifted(region.lower, region.upper)
    polynomial = rescaled(polynomial, read.farthest)
    tree = Tree(polynomial, weights, space)
    whole = region if region.norm == "inf" else box(*region.cover)
    nodes, points = tree.roots(whole)
    best = Best(polynomial, region, weights, start, space)
    best.look(nodes.problem, points)
    first = upper_bounds(polynomial, read, weights.unsqueeze(1))[0][:, 0] if tree.is_written else nodes.bound
    if region.norm == 2:
        first = torch.minimum(first, upper_bounds(polynomial, region, weights.unsqueeze(1))[0][:, 0])
    closed = torch.full_like(first, -torch.inf)
    boxes, pace = len(nodes), BoxPace(stop.seconds - (time.monotonic() - began), tree.batch)
    while True:
        nodes = outside_left_out(nodes, region)
        value = best.value.clamp_max(stop.ceiling)
        goal = value + torch.maximum(stop.relative * value.abs(), stop.absolute)
        if stop.threshold is not None:
            goal = torch.where(value > stop.threshold, torch.inf, torch.maximum(goal, stop.threshold))
        doubt = nodes.bound.clamp_max(stop.ceiling) - goal[nodes.problem]
        # A box whose bound is all rounding, or that is a point, gets no better by being halved.
        thin = (nodes.bound - value[nodes.problem] <= 4 * nodes.error) | (nodes.upper <= nodes.lower).all(-1)
        done = (doubt <= 0) | thin
        closed = closed.scatter_reduce(0, nodes.problem[done], nodes.bound[done], "amax")
        nodes, doubt = nodes[~done], doubt[~done]
        room = tree.capacity - len(nodes)
        count = min(len(nodes), pace.boxes(), room)
        if count < 1:
            break
        chosen = torch.zeros(len(nodes), dtype=torch.bool)
        chosen[doubt.topk(count).indices] = True
        children, points, kept = tree.split(nodes[chosen])
        # A half is no worse than its whole.
        children = replace(children, bound=torch.minimum(children.bound, nodes.bound[chosen].repeat(2)[kept]))
        best.look(children.problem, points)
        pace.done(count)
        boxes += len(children)
        nodes = joined([nodes[~chosen], children])
    bound = closed.scatter_reduce(0, nodes.problem, nodes.bound, "amax")
    bound = torch.where(bound == -torch.inf, first, torch.minimum(bound, first)).clamp_max(stop.ceiling)
    return Maximum(best.x, best.value, bound, boxes)


class BoxPace:
    """How many boxes to halve next: as many as take a fifth of a second, or a fifth of the time left.

    Args:
        seconds: in all.
        most: boxes at once.
    """

    def __init__(self, seconds: float, most: int) -> None:
        self.until, self.most = time.monotonic() + seconds, most
        self.began, self.each = time.monotonic(), 0.0

    def boxes(self) -> int:
        """How many to halve next: one at first, to learn how long it takes; 0 once the time is up."""
        self.began = time.monotonic()
        left = self.until - self.began
        if left < 0 or self.each > 2 * left + 1:
            return 0
        return min(self.most, max(1, int(min(0.2, left / 5) / self.each))) if self.each else 1

    def done(self, count: int) -> None:
        """Note that this many boxes have been halved since `boxes` was called."""
        self.each = (time.monotonic() - self.began) / count


class Best:
    """The best point found so far for each problem."""

    def __init__(
        self, polynomial: LadderPolynomial, region: Region, weights: Tensor, start: Tensor, space: Space
    ) -> None:
        self.polynomial, self.feasible, self.weights, self.space = polynomial, Feasible(region), weights, space
        self.x = start.clone()
        self.value = self.values(torch.arange(len(start)), start)

    def values(self, problem: Tensor, points: Tensor) -> Tensor:
        """What is maximized, at points of some problems. Shape (c,)."""
        values = (self.polynomial(self.space.surface.lift(points)) * self.weights[problem]).sum(-1)
        return torch.nan_to_num(values, nan=-torch.inf)

    def look(self, problem: Tensor, points: Tensor) -> None:
        """Keep the points that are better than what was known."""
        points = self.feasible[problem].held(points)
        values = self.values(problem, points)
        top = self.value.scatter_reduce(0, problem, values, "amax")
        winners = (values >= top[problem]) & (values > self.value[problem])
        self.x[problem[winners]] = points[winners]
        self.value[problem[winners]] = values[winners]


def outside_left_out(nodes: Nodes, region: Region) -> Nodes:
    """Without the boxes that have no point in common with their ball."""
    if region.norm == "inf":
        return nodes
    center, radius = region.center[nodes.problem], region.radius[nodes.problem, 0]
    nearest = torch.minimum(torch.maximum(center, nodes.lower), nodes.upper)
    return nodes[(nearest - center).norm(dim=-1) <= radius * (1 + 1e-12)]
