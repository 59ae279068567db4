"""The lowest and highest value of a ladder over a box: the point, and a proof of how much better another could be."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled
from polyladder.robustness.ascent import Climb
from polyladder.robustness.branch import Maximum, Stop, branch
from polyladder.robustness.certificate import check_tolerance, single
from polyladder.robustness.feasible import Feasible
from polyladder.robustness.region import Region, box
from polyladder.robustness.surface import Smooth
from polyladder.training.threads import small_on_one_thread

STARTS = 32
"""Points from which exact ascent looks for a good value before anything is proven."""

SHARE = 0.4
"""Of the time that the ascent may take; the rest is for the proof."""

SPREAD = 0.01
"""Where the optimum is near zero, the gap is measured by this part of the spread of the outputs over the box."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best point and the proof.

    Attributes:
        x: the best point found, in the ladder's dtype. Shape (d,).
        value: there.
        bound: no point of the box is better than this.
        boxes: how many boxes were bounded.
        seconds: taken.
    """

    x: Tensor
    value: float
    bound: float
    boxes: int
    seconds: float

    @property
    def gap(self) -> float:
        """By how much a better value may exist."""
        return abs(self.bound - self.value)


@small_on_one_thread
def minimize(
    p: LadderPolynomial,
    lower: float | Tensor,
    upper: float | Tensor,
    *,
    output: int = 0,
    tolerance: float = 0.01,
    seconds: float = 60.0,
) -> Optimum:
    """The lowest value of one output over a box, by exact ascent, then branch and bound.

    Args:
        p: a single ladder.
        lower: of every input, or one number for all. Shape (d,).
        upper: as lower.
        output: whose lowest value.
        tolerance: the search ends when no value can be lower than the one found by more than this part of its size, or
            by this part of a hundredth of the spread of the outputs over the box, if that is more.
        seconds: after which the search ends anyway, with the bound that is proven by then.

    Returns:
        The best point, its value, and a bound below which there is nothing.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=one[0])
        >>> found = minimize(square, -1.0, 2.0)  # x^2 + 1
        >>> round(found.value, 6), 0.99 < found.bound <= 1.0
        (1.0, True)
    """
    return extreme(p, lower, upper, output, tolerance, seconds, sign=-1)


@small_on_one_thread
def maximize(
    p: LadderPolynomial,
    lower: float | Tensor,
    upper: float | Tensor,
    *,
    output: int = 0,
    tolerance: float = 0.01,
    seconds: float = 60.0,
) -> Optimum:
    """The highest value of one output over a box; arguments and result as for `minimize`."""
    return extreme(p, lower, upper, output, tolerance, seconds, sign=1)


def extreme(
    p: LadderPolynomial,
    lower: float | Tensor,
    upper: float | Tensor,
    output: int,
    tolerance: float,
    seconds: float,
    sign: int,
) -> Optimum:
    """Where ``sign`` times an output is largest."""
    if not isinstance(p, LadderPolynomial):
        raise TypeError(f"p must be a LadderPolynomial; got {type(p).__name__}. For an estimator, use optimize_table.")
    polynomial = single(p)
    region = check_box(polynomial.in_features, lower, upper)
    if isinstance(output, bool) or not isinstance(output, int) or not 0 <= output < polynomial.out_features:
        raise ValueError(f"output must be from 0 to {polynomial.out_features - 1}; got {output!r}.")
    check_search(tolerance, seconds)
    polynomial = rescaled(polynomial, region.farthest)
    found = largest(polynomial, region, output, tolerance, seconds, sign)
    x = Feasible(region).rounded(found.x, p.dtype)
    value = float(polynomial(x)[0, output])
    return Optimum(x[0].to(p.dtype), value, sign * float(found.bound), found.boxes, found.seconds)


def largest(
    polynomial: LadderPolynomial, region: Region, output: int, tolerance: float, seconds: float, sign: int
) -> Maximum:
    """The largest value of ``sign`` times an output over a box."""
    began, d = time.monotonic(), polynomial.in_features
    weights = torch.zeros(1, polynomial.out_features, dtype=torch.float64)
    weights[:, output] = sign
    feasible = Feasible(region[torch.zeros(STARTS, dtype=torch.long)])
    unit = torch.rand(STARTS, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    starts = feasible.held(region.lower + unit * (region.upper - region.lower))
    until = began + SHARE * seconds
    climb = Climb(Smooth(polynomial), feasible, weights.expand(STARTS, -1), starts, until)
    values = climb.value[climb.value.isfinite()]
    spread = float(values.max() - values.min()) if len(values) else 0.0
    climb.run(50)
    best = climb.value.argmax().view(1)
    absolute = torch.tensor([tolerance * SPREAD * spread], dtype=torch.float64)
    stop = Stop(max(0.0, seconds - (time.monotonic() - began)), tolerance, absolute)
    found = branch(polynomial, region, weights, climb.x[best], stop)
    return replace(found, seconds=time.monotonic() - began)


def check_search(tolerance: float, seconds: float) -> None:
    """Refuse what is no gap or no time."""
    check_tolerance(tolerance)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        raise ValueError(f"seconds must be a number that is not negative; got {seconds!r}.")


def check_box(d: int, lower: float | Tensor, upper: float | Tensor) -> Region:
    """One box, as a region of one row."""
    low, high = (torch.as_tensor(end, dtype=torch.float64).cpu() for end in (lower, upper))
    for name, end in (("lower", low), ("upper", high)):
        if tuple(end.shape) not in ((), (d,)):
            raise ValueError(f"{name} must be one number or have shape ({d},); got shape {tuple(end.shape)}.")
        if not bool(end.isfinite().all()):
            raise ValueError(f"{name} must be finite; got infinite or NaN entries.")
    low, high = low.expand(d).unsqueeze(0), high.expand(d).unsqueeze(0)
    if bool((low > high).any()):
        at = int((low > high).nonzero()[0, 1])
        raise ValueError(f"lower must not exceed upper; input {at} has {low[0, at]:g} and {high[0, at]:g}.")
    return box(low, high)
