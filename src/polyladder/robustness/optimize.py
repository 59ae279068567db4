"""The lowest and highest value of a model: the point, and a proof of how much better another could be."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled
from polyladder.renamed import renamed
from polyladder.robustness.ascent import Climb
from polyladder.robustness.branch import Maximum, branch
from polyladder.robustness.certificate import single
from polyladder.robustness.feasible import Feasible
from polyladder.robustness.optimum import Optimum, Search
from polyladder.robustness.region import Region, box
from polyladder.robustness.surface import Surface
from polyladder.robustness.table_model import read_estimator
from polyladder.robustness.table_optimum import best_row
from polyladder.training.threads import small_on_one_thread

STARTS = 32
"""Points from which exact ascent looks for a good value before anything is proven."""

End = float | Tensor | Mapping[str, float] | None
"""An end of the box: numbers of a ladder's inputs, or of an estimator's columns by name."""


@renamed(p="model", seconds="max_seconds")
@small_on_one_thread
def minimize(
    model: LadderPolynomial | Any,
    lower: End = None,
    upper: End = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    output: int = 0,
    tolerance: float = 0.01,
    max_seconds: float = 60.0,
) -> Optimum:
    """The lowest value of one output over a box, by exact ascent, then branch and bound.

    Of an estimator it is the row with the lowest prediction, every combination of free categories included. The search
    starts from training rows that the model keeps, those with the best predictions among them, so no row of the
    training table is better than what is found. Columns that held whole numbers in training do so here. A number may
    be missing where training has seen it missing, unless the column has an end or is fixed.

    Args:
        model: a single ladder, or a fitted estimator with one polynomial behind it. Of classes, the score or log-odds
            is optimized.
        lower: of every input, or one number for all. Shape (d,). For an estimator a mapping from names of columns;
            others begin where their training range does. Where the model clips its inputs, ends far beyond that range
            change nothing.
        upper: as lower.
        fixed: numbers and categories of an estimator's columns that stay.
        output: whose lowest value.
        tolerance: the search ends when no value can be lower than the one found by more than this part of its size, or
            by this part of a hundredth of the spread of the outputs, if that is more.
        max_seconds: after which the search ends anyway, with the bound that is proven by then.

    Returns:
        The best point, its value, and a bound below which there is nothing. Of an estimator also ``row``.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=one[0])
        >>> found = minimize(square, -1.0, 2.0)  # x^2 + 1
        >>> round(found.value, 6), 0.99 < found.bound <= 1.0
        (1.0, True)
    """
    return extreme(model, lower, upper, fixed, Search(output, -1, tolerance, max_seconds, time.monotonic()))


@renamed(p="model", seconds="max_seconds")
@small_on_one_thread
def maximize(
    model: LadderPolynomial | Any,
    lower: End = None,
    upper: End = None,
    *,
    fixed: Mapping[str, Any] | None = None,
    output: int = 0,
    tolerance: float = 0.01,
    max_seconds: float = 60.0,
) -> Optimum:
    """The highest value of one output over a box; arguments and result as for `minimize`."""
    return extreme(model, lower, upper, fixed, Search(output, 1, tolerance, max_seconds, time.monotonic()))


def extreme(
    model: LadderPolynomial | Any, lower: End, upper: End, fixed: Mapping[str, Any] | None, search: Search
) -> Optimum:
    """Where an output is highest or lowest."""
    if not isinstance(model, LadderPolynomial):
        table = read_estimator(model)
        search.check(table.polynomial.out_features)
        return best_row(table, check_ends("lower", lower), check_ends("upper", upper), fixed or {}, search)
    if fixed is not None:
        raise ValueError("fixed names columns of an estimator; for a ladder, let lower and upper be the same number.")
    polynomial = single(model)
    search.check(polynomial.out_features)
    region = check_box(polynomial.in_features, lower, upper)
    polynomial = rescaled(polynomial, region.farthest)
    found = largest(polynomial, region, search)
    x = Feasible(region).rounded(found.x, model.dtype)
    value = float(polynomial(x)[0, search.output])
    return Optimum(x[0].to(model.dtype), value, search.sign * float(found.bound), found.boxes, search.seconds)


def largest(polynomial: LadderPolynomial, region: Region, search: Search) -> Maximum:
    """The best value over a box."""
    weights, surface = search.weights(polynomial.out_features), Surface.of(polynomial)
    feasible = Feasible(region[torch.zeros(STARTS, dtype=torch.long)])
    unit = torch.rand(STARTS, polynomial.in_features, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    starts = feasible.held(region.lower + unit * (region.upper - region.lower))
    climb = Climb(surface, feasible, weights.expand(STARTS, -1), starts, search.climbing_ends)
    values = climb.value[climb.value.isfinite()]
    spread = float(values.max() - values.min()) if len(values) else 0.0
    climb.run(50)
    best = climb.value.argmax().view(1)
    return branch(polynomial, region, weights, climb.x[best], search.stop(spread))


def check_ends(name: str, ends: End) -> Mapping[str, float]:
    """The ends of an estimator's columns."""
    if ends is None:
        return {}
    if not isinstance(ends, Mapping):
        raise TypeError(f"{name} must be a mapping from columns to numbers for an estimator; got {ends!r}.")
    return ends


def check_box(d: int, lower: End, upper: End) -> Region:
    """One box of a ladder's inputs, as a region of one row."""
    for name, given in (("lower", lower), ("upper", upper)):
        if given is None or isinstance(given, Mapping):
            raise TypeError(f"{name} must be a number or a tensor for a ladder; got {given!r}.")
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
