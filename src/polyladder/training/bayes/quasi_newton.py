"""L-BFGS for many models at once: each has its own curvature, step length and end, and none ever gets worse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.training.interrupt import check_interrupt

MEMORY = 10
"""Steps that the curvature is read from. More make a step better, and cost two vectors each."""

FIRST_STEP = 0.1
"""Length of the first step, before anything is known about the curvature."""

SHORTER = 0.3
"""A step that does not lower the value enough is tried again at this share of its length."""

TRIALS = 8
"""Lengths that are tried in one step; a model for which none is good has ended."""

SUFFICIENT = 1e-4
"""A step must lower the value by this share of what its slope promises."""

PATIENCE = 5
"""Steps in a row with less than the tolerated gain after which a model ends."""

Lowered = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Descent:
    """Where B models arrived.

    Attributes:
        points: of the least value. Shape (B, p).
        values: before the first step and after every one; constant once a model has ended. Shape (B, steps + 1).
    """

    points: Tensor
    values: Tensor


def descend(
    objective: Lowered,
    start: Tensor,
    steps: int,
    tolerance: Tensor,
    progress: Callable[[int, Tensor], None] | None = None,
) -> Descent:
    """Lower the values of many models by L-BFGS with backtracking.

    Args:
        objective: from points (B, p) to values (B,) and gradients (B, p), each model's from its own point alone.
        start: finite in value. Shape (B, p).
        steps: at most this many.
        tolerance: a model ends after `PATIENCE` steps in a row that gained less than this. Shape (B,).
        progress: called after each step with its number, counted from 1, and the values.
    """
    point = start.detach()
    value, gradient = objective(point)
    values, pairs = [value], list[tuple[Tensor, Tensor]]()
    idle = torch.zeros_like(value)
    for step in range(1, steps + 1):
        check_interrupt()
        running = idle < PATIENCE
        if not bool(running.any()):
            break
        direction = downhill(gradient, pairs)
        new, new_value, new_gradient = search(objective, point, value, gradient, direction, running)
        pairs = [*pairs[1 - MEMORY :], curved(new - point, new_gradient - gradient)]
        gain = value - new_value
        idle = torch.where(gain > 0, torch.where(gain < tolerance, idle + 1, 0.0), PATIENCE)
        point, value, gradient = new, new_value, new_gradient
        values.append(value)
        if progress is not None:
            progress(step, value)
    return Descent(point, torch.stack(values, -1))


def downhill(gradient: Tensor, pairs: list[tuple[Tensor, Tensor]]) -> Tensor:
    """The quasi-Newton direction of every model by the two loops of L-BFGS; steepest descent where it does not fall.

    Args:
        gradient: Shape (B, p).
        pairs: changes of point and gradient, the oldest first; zeros where a pair is of no use. Shapes (B, p).
    """
    steepest = -FIRST_STEP * gradient / gradient.norm(dim=1, keepdim=True).clamp_min(torch.finfo(gradient.dtype).tiny)
    if not pairs:
        return steepest
    rest, shares, scale = gradient, list[Tensor](), torch.zeros_like(gradient[:, :1])
    for move, change in reversed(pairs):
        share = ratio(dot(move, rest), dot(move, change))
        rest = rest - share * change
        shares.append(share)
        # The newest pair of use sets the scale.
        scale = torch.where(scale > 0, scale, ratio(dot(move, change), dot(change, change)))
    found = scale * rest
    for (move, change), share in zip(pairs, reversed(shares), strict=True):
        found = found + (share - ratio(dot(change, found), dot(move, change))) * move
    falls = dot(found, gradient) > 0
    return torch.where(falls, -found, steepest)


def search(
    objective: Lowered,
    point: Tensor,
    value: Tensor,
    gradient: Tensor,
    direction: Tensor,
    running: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Go as far along the direction as lowers the value; a model that is not running, or finds nothing, stays."""
    slope = dot(direction, gradient).squeeze(1)
    length, searching = torch.ones_like(value), running
    best, best_value, best_gradient = point, value, gradient
    for _ in range(TRIALS):
        # The others are evaluated where they are: their values must be finite, and are not read.
        tried = torch.where(searching.unsqueeze(1), point + length.unsqueeze(1) * direction, best)
        tried_value, tried_gradient = objective(tried)
        enough = tried_value <= value + SUFFICIENT * length * slope
        good = searching & enough & tried_gradient.isfinite().all(1)
        best = torch.where(good.unsqueeze(1), tried, best)
        best_value = torch.where(good, tried_value, best_value)
        best_gradient = torch.where(good.unsqueeze(1), tried_gradient, best_gradient)
        searching = searching & ~good
        if not bool(searching.any()):
            break
        length = torch.where(searching, SHORTER * length, length)
    return best, best_value, best_gradient


def curved(move: Tensor, change: Tensor) -> tuple[Tensor, Tensor]:
    """Changes of point and gradient, zeros for a model along whose move the value did not curve upward."""
    usable = dot(move, change) > 1e-10 * (dot(move, move) * dot(change, change)).sqrt()
    return torch.where(usable, move, 0.0), torch.where(usable, change, 0.0)


def ratio(upper: Tensor, lower: Tensor) -> Tensor:
    """Their quotient, 0 where the lower one is 0."""
    return torch.where(lower > 0, upper / torch.where(lower > 0, lower, 1.0), 0.0)


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Inner products of rows. Shape (B, 1)."""
    return (a * b).sum(1, keepdim=True)
