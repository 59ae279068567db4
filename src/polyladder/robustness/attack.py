"""The worst input near a row, found by exact steps, with a proof of how much worse another could be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled
from polyladder.robustness.ascent import Climb
from polyladder.robustness.bounds import upper_bounds
from polyladder.robustness.branch import Stop, branch
from polyladder.robustness.certificate import check_budget, check_region, single
from polyladder.robustness.certify import check_classes, unsafe_sums
from polyladder.robustness.feasible import Feasible, Rules
from polyladder.robustness.region import Norm, Region, box
from polyladder.robustness.space import Space
from polyladder.robustness.surface import Smooth, Surface, jacobians
from polyladder.training.threads import small_on_one_thread

Goal = Literal["margin", "up", "down", "away"]

ALL, TARGETS = 5, 3
"""Up to so many other classes are all tried for each row; with more, those that the gradient says are nearest."""


@dataclass(frozen=True, eq=False)
class Attack:
    """What was found near each row.

    Attributes:
        x: the worst inputs. Shape (n, d), dtype of the ladder.
        value: what was made large: the highest output of another class less that of y; or f - y, y - f or their larger
            for numbers. Shape (n,), float64.
        success: whether the class changed, or for numbers whether the value exceeds ``within`` (left out: whether it
            grew). Shape (n,).
        bound: no allowed input has a larger value; None where no certificate was asked for. Shape (n,).
        evaluations: of the polynomial, a line counting as many as its order.
    """

    x: Tensor
    value: Tensor
    success: Tensor
    bound: Tensor | None
    evaluations: int

    @property
    def gap(self) -> Tensor:
        """How much larger a value may exist than the one that was found. Shape (n,)."""
        if self.bound is None:
            raise ValueError("The attack must have been asked for its certificate; call attack(..., certificate=True).")
        return self.bound - self.value


@small_on_one_thread
def attack(
    p: LadderPolynomial,
    x: Tensor,
    y: Tensor,
    radius: float | Tensor,
    norm: Norm = "inf",
    *,
    goal: Goal | None = None,
    within: float | None = None,
    rules: Rules | None = None,
    restarts: int = 4,
    rounds: int = 20,
    certificate: bool = True,
    budget: float | None = None,
    seed: int = 0,
) -> Attack:
    """The input within a radius of each row that is worst for the ladder.

    Every step goes to the highest point along its direction, which is known exactly (`line_polynomial`): toward the
    corner that the gradient points to, along the gradient, along single inputs. Starts are the row and random corners.

    Args:
        p: a single ladder.
        x: rows. Shape (n, d).
        y: whole numbers of shape (n,) are classes; other numbers, shape (n,) or (n, 1), are targets.
        radius: one number, or for boxes one for each input, (d,) or (n, d).
        norm: "inf" for boxes, 2 for Euclidean balls.
        goal: "margin" for classes; "up" (f - y), "down" (y - f) or "away" (the larger of both) for numbers. None:
            "margin" for whole numbers, else "away".
        within: how far from y a number may go before the attack counts as a success.
        rules: inputs that are frozen, whole numbers, one-hot groups or held to linear constraints. Every row must keep
            to them.
        restarts: starts for each row.
        rounds: of steps from each start, at most.
        certificate: whether to prove a bound as well.
        budget: seconds for making that bound tight by splitting; None for none.
        seed: of the random starts.

    Returns:
        The worst input, its value, whether it is a success, and the proven bound.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> found = attack(square, torch.tensor([[1.0]]), torch.tensor([1.0]), 0.5)
        >>> found.x, found.value
        (tensor([[1.5000]]), tensor([1.2500], dtype=torch.float64))
    """
    if not isinstance(p, LadderPolynomial):
        raise TypeError(f"p must be a LadderPolynomial; got {type(p).__name__}. For an estimator, use attack_table.")
    polynomial, rules = single(p), rules or Rules()
    check_budget(budget)
    rules.check(polynomial.in_features, norm)
    region = check_region(polynomial, x, radius, norm)
    if len(region):
        polynomial = rescaled(polynomial, region.farthest)
    weights, shift = objectives(polynomial, y, len(region), goal)
    feasible = Feasible(region, rules)
    if not bool(feasible.allows(region.center).all()):
        wrong = int((~feasible.allows(region.center)).nonzero()[0]) + 1
        raise ValueError(f"x must satisfy the rules; row {wrong} does not. Leave it out or loosen the constraints.")
    n = len(region)
    worst, evaluations = strongest(Smooth(polynomial), feasible, weights, shift, region.center, restarts, rounds, seed)
    found = feasible.rounded(worst, p.dtype)
    # Another class than the one that was aimed at may have come out on top.
    value, clean = (
        (torch.einsum("nom,nm->no", weights, polynomial(at)) + shift).amax(1) for at in (found, region.center)
    )
    limit = torch.zeros_like(clean) if is_class(y, goal) else clean if within is None else clean.new_full((n,), within)
    bound = proven(polynomial, feasible, weights, shift, found, budget) if certificate else None
    return Attack(found.to(p.dtype), value, value > limit, bound, evaluations)


def strongest(
    surface: Surface,
    feasible: Feasible,
    weights: Tensor,
    shift: Tensor,
    x: Tensor,
    restarts: int,
    rounds: int = 20,
    seed: int = 0,
) -> tuple[Tensor, int]:
    """The allowed inputs where the largest of several sums of outputs is as large as climbing makes it.

    Args:
        surface: of d inputs.
        feasible: for each of n rows, where it may go.
        weights: of the outputs in each sum. Shape (n, o, m).
        shift: what is added to the sums. Shape (n, o).
        x: where the first climb of each row starts; the others start in corners. Shape (n, d).
        restarts: climbs for each row.
        rounds: of steps, at most.
        seed: of the corners.

    Returns:
        The inputs, shape (n, d), and how many evaluations that took.
    """
    n, o, _ = weights.shape
    kept = likely(surface, feasible.region, weights) if o > ALL else torch.arange(o).expand(n, -1)
    problems = torch.arange(n).repeat_interleave(kept.shape[1] * restarts)
    targets = kept.flatten().repeat_interleave(restarts)
    chosen = weights[problems, targets]
    starts = random_starts(feasible[problems], x[problems], restarts, seed)
    climb = Climb(surface, feasible[problems], chosen, starts)
    climb.run(rounds, single=False)
    # The best start of each row goes on with single inputs, which cost a line each.
    best = (climb.value + shift[problems, targets]).view(n, -1).argmax(1) + torch.arange(n) * (len(starts) // max(n, 1))
    last = Climb(surface, feasible, chosen[best], climb.x[best])
    last.run(rounds)
    return last.x, climb.evaluations + last.evaluations


def is_class(y: Any, goal: Goal | None) -> bool:
    """Whether y holds classes."""
    if goal not in (None, "margin", "up", "down", "away"):
        raise ValueError(f"goal must be 'margin', 'up', 'down', 'away' or None; got {goal!r}.")
    return goal == "margin" or (goal is None and not torch.as_tensor(y).is_floating_point())


def objectives(polynomial: LadderPolynomial, y: Any, n: int, goal: Goal | None) -> tuple[Tensor, Tensor]:
    """Sums of outputs, of which the largest is the value, and what is added to them. Shapes (n, o, m) and (n, o)."""
    if is_class(y, goal):
        weights, _ = unsafe_sums(polynomial, check_classes(y, n, polynomial.out_features), n, None)
        return weights, weights.new_zeros(weights.shape[:2])
    if polynomial.out_features != 1:
        raise ValueError(f"p must have one output to be attacked as a number; got {polynomial.out_features}.")
    target = torch.as_tensor(y, dtype=torch.float64).reshape(-1)
    if len(target) != n or not bool(target.isfinite().all()):
        raise ValueError(
            f"y must hold one finite number per row, shape ({n},); got shape {tuple(torch.as_tensor(y).shape)}."
        )
    signs = {"up": [1.0], "down": [-1.0]}.get(goal or "away", [1.0, -1.0])
    weights = torch.tensor(signs, dtype=torch.float64).view(1, -1, 1).expand(n, -1, -1)
    return weights, -weights[..., 0] * target.unsqueeze(-1)


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
    weights: Tensor,
    shift: Tensor,
    found: Tensor,
    budget: float | None,
    space: Space | None = None,
) -> Tensor:
    """Bounds on the values of all allowed inputs: those of the region, frozen inputs held, other rules left out."""
    region = box(feasible.lower, feasible.upper) if feasible.region.norm == "inf" else feasible.region
    n, o, m = weights.shape
    if budget is None:
        read = region if space is None else space.lifted(region.lower, region.upper)
        bounds = upper_bounds(polynomial, read, weights)[0]
    else:
        rows = torch.arange(n).repeat_interleave(o)
        flat, start = weights.reshape(n * o, m), found[rows]
        inputs = start if space is None else space.surface.lift(start)
        width = 1e-3 * (polynomial(inputs) * flat).sum(-1).abs() + 1e-12
        bounds = branch(polynomial, region[rows], flat, start, Stop(budget, 0.0, width), space).bound.view(n, o)
    total = bounds + shift
    return (total + 4e-16 * (bounds.abs() + shift.abs())).amax(1)
