"""The worst inputs near rows: what is made large, the climb toward it, and the proof of how large it can become."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.ascent import Climb
from polyladder.robustness.bounds import upper_bounds
from polyladder.robustness.branch import Stop, branch
from polyladder.robustness.certify import check_classes, unsafe_sums
from polyladder.robustness.feasible import Feasible
from polyladder.robustness.region import Region, box
from polyladder.robustness.space import Space
from polyladder.robustness.surface import Surface, jacobians

Goal = Literal["margin", "up", "down", "away"]

ALL = 5
"""Up to this many other classes are all tried for each row."""

TARGETS = 3
"""Of more other classes, this many are tried: those that the gradient says are nearest."""


@dataclass(frozen=True, eq=False)
class Attack:
    """What was found near each row.

    Attributes:
        x: the worst inputs. Shape (n, d), dtype of the ladder. Of an estimator, the inputs of its polynomial that the
            worst rows stand for, without ramps.
        prediction: the outputs there; of an estimator as it predicts them, of classes before the link. Shape (n, m).
        value: what was made large: the highest output of another class minus that of y; or f - y, y - f or their larger
            for numbers. Shape (n,), float64.
        success: whether the class changed, or for numbers whether the value exceeds ``within`` (left out: whether it
            grew). Shape (n,).
        bound: no allowed input has a larger value; None where no certificate was asked for. Shape (n,).
        evaluations: of the polynomial, a line counting as many as its order.
        rows: of an estimator, the worst rows as dictionaries by column.
    """

    x: Tensor
    prediction: Tensor
    value: Tensor
    success: Tensor
    bound: Tensor | None
    evaluations: int
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def gap(self) -> Tensor:
        """How much larger a value may exist than the one that was found. Shape (n,)."""
        if self.bound is None:
            raise ValueError("The attack must have been asked for its certificate; call attack(..., certificate=True).")
        return self.bound - self.value


@dataclass(frozen=True, eq=False)
class Aim:
    """What is to be made large: the largest of several sums of outputs.

    Attributes:
        weights: of the outputs in each sum. Shape (n, o, m).
        shift: what is added to the sums. Shape (n, o).
        classes: whether the sums are margins of classes.
    """

    weights: Tensor
    shift: Tensor
    classes: bool

    def value(self, outputs: Tensor) -> Tensor:
        """The largest sum at outputs (n, m). Shape (n,)."""
        return (torch.einsum("nom,nm->no", self.weights, outputs) + self.shift).amax(1)

    def success(self, value: Tensor, clean: Tensor, within: float | None) -> Tensor:
        """Whether values are a success, ``clean`` being those of the rows themselves. Shapes (n,)."""
        if self.classes:
            return value > 0
        return value > (clean if within is None else within)


def aim_at(polynomial: LadderPolynomial, y: Any, n: int, goal: Goal | None) -> Aim:
    """What an attack makes large: for classes margins, for numbers distances from y."""
    if goal not in (None, "margin", "up", "down", "away"):
        raise ValueError(f"goal must be 'margin', 'up', 'down', 'away' or None; got {goal!r}.")
    if goal == "margin" or (goal is None and not torch.as_tensor(y).is_floating_point()):
        weights, _ = unsafe_sums(polynomial, check_classes(y, n, polynomial.out_features), n, None)
        return Aim(weights, weights.new_zeros(weights.shape[:2]), classes=True)
    if polynomial.out_features != 1:
        raise ValueError(f"model must have one output to be attacked as a number; got {polynomial.out_features}.")
    target = torch.as_tensor(y, dtype=torch.float64).reshape(-1)
    if len(target) != n or not bool(target.isfinite().all()):
        raise ValueError(
            f"y must hold one finite number per row, shape ({n},); got shape {tuple(torch.as_tensor(y).shape)}."
        )
    signs = {"up": [1.0], "down": [-1.0]}.get(goal or "away", [1.0, -1.0])
    weights = torch.tensor(signs, dtype=torch.float64).view(1, -1, 1).expand(n, -1, -1)
    return Aim(weights, -weights[..., 0] * target.unsqueeze(-1), classes=False)


def strongest(
    surface: Surface,
    feasible: Feasible,
    aim: Aim,
    x: Tensor,
    restarts: int,
    rounds: int = 20,
    seed: int = 0,
) -> tuple[Tensor, int]:
    """The allowed inputs where the value is as large as climbing makes it.

    Args:
        surface: of d inputs.
        feasible: for each of n rows, where it may go.
        aim: what is to be large.
        x: where the first climb of each row starts; the others start in corners. Shape (n, d).
        restarts: climbs for each row.
        rounds: of steps, at most.
        seed: of the corners.

    Returns:
        The inputs, shape (n, d), and how many evaluations that took.
    """
    n, o, _ = aim.weights.shape
    kept = likely(surface, feasible.region, aim.weights) if o > ALL else torch.arange(o).expand(n, -1)
    problems = torch.arange(n).repeat_interleave(kept.shape[1] * restarts)
    targets = kept.flatten().repeat_interleave(restarts)
    chosen = aim.weights[problems, targets]
    starts = random_starts(feasible[problems], x[problems], restarts, seed)
    climb = Climb(surface, feasible[problems], chosen, starts)
    climb.run(rounds, single=False)
    # The best start of each row goes on with single inputs, which cost a line each.
    best = (climb.value + aim.shift[problems, targets]).view(n, -1).argmax(1) + torch.arange(n) * (
        len(starts) // max(n, 1)
    )
    last = Climb(surface, feasible, chosen[best], climb.x[best])
    last.run(rounds)
    return last.x, climb.evaluations + last.evaluations


def likely(surface: Surface, region: Region, weights: Tensor) -> Tensor:
    """The sums that look largest on the region, by value and slope at the rows. Shape (n, TARGETS)."""
    value = torch.einsum("nom,nm->no", weights, surface.polynomial(surface.lift(region.center)))
    slope = (weights @ jacobians(surface, region.center)) * region.radius.unsqueeze(1)
    rise = slope.abs().sum(-1) if region.norm == "inf" else slope.norm(dim=-1)
    return (value + rise).topk(TARGETS, 1).indices


def random_starts(feasible: Feasible, x: Tensor, restarts: int, seed: int) -> Tensor:
    """For each problem the row x itself, then random corners as far as the rules allow. Shape (q, d)."""
    if isinstance(restarts, bool) or not isinstance(restarts, int) or restarts < 1:
        raise ValueError(f"restarts must be a positive integer; got {restarts!r}.")
    signs = torch.randint(0, 2, x.shape, generator=torch.Generator().manual_seed(seed)) * 2.0 - 1
    direction = feasible.held(feasible.region.center + signs * feasible.region.radius) - x
    direction = direction * feasible.continuous
    direction[torch.arange(len(x)) % restarts == 0] = 0.0
    _, high = feasible.reach(x, direction)
    starts = feasible.held(x + high.clamp_max(1.0).unsqueeze(-1) * direction)
    return torch.where(feasible.allows(starts).unsqueeze(-1), starts, x)


def proven(
    polynomial: LadderPolynomial,
    feasible: Feasible,
    aim: Aim,
    found: Tensor,
    max_seconds: float | None,
    space: Space | None = None,
) -> Tensor:
    """Bounds on the values of all inputs of the region whose frozen inputs stay; other rules are not used."""
    region = box(feasible.lower, feasible.upper) if feasible.region.norm == "inf" else feasible.region
    n, o, m = aim.weights.shape
    if max_seconds is None:
        read = region if space is None or space.is_free else space.lifted(region.lower, region.upper)
        bounds = upper_bounds(polynomial, read, aim.weights)[0]
    else:
        rows = torch.arange(n).repeat_interleave(o)
        flat, start = aim.weights.reshape(n * o, m), found[rows]
        inputs = start if space is None else space.surface.lift(start)
        width = 1e-3 * (polynomial(inputs) * flat).sum(-1).abs() + 1e-12
        bounds = branch(polynomial, region[rows], flat, start, Stop(max_seconds, 0.0, width), space).bound.view(n, o)
    total = bounds + aim.shift
    return (total + 4e-16 * (bounds.abs() + aim.shift.abs())).amax(1)
