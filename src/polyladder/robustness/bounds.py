"""The best of all upper bounds of a ladder on regions."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ball import Ball, exact, ladder_intervals, matmul, plus, product, total
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled
from polyladder.robustness.degrees import degree_upper
from polyladder.robustness.region import Region
from polyladder.robustness.states import states_on
from polyladder.robustness.written import NUMBERS, chunks, cost, write_out, written_upper

STATES = 2**23
"""Numbers of slopes that are held at once."""


def upper_bounds(
    polynomial: LadderPolynomial, region: Region, weights: Tensor, limit: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Proven upper bounds of weighted sums of outputs on regions, each the best of several methods.

    Where the polynomial has few enough terms it is written out over the region (`written_upper`); otherwise it is
    bounded degree by degree around the center (`degree_upper`). Intervals, layer by layer, are tried in either case.
    The ladder is rescaled first, so that an underflow of its states is far below `TINY`.

    Args:
        polynomial: float64, a single one.
        region: n regions.
        weights: of the outputs, one set for each of o sums. Shape (n, o, m).
        limit: bounds that cannot decide whether a sum exceeds it are not made closer. Shape (n, o).

    Returns:
        Upper bounds (n, o), infinite where a computation overflowed; and the points (n, o, d) where the best
        method would have the sum be largest.
    """
    n, o, _ = weights.shape
    d = polynomial.in_features
    if not n:
        return weights.new_zeros(0, o), weights.new_zeros(0, o, d)
    polynomial = rescaled(polynomial, region.farthest)
    step = max(1, STATES // (d * max((o, *polynomial.hidden))))
    limit = weights.new_full((n, o), -torch.inf) if limit is None else limit
    found = [
        best_of(polynomial, region[at], weights[at], limit[at])
        for at in (slice(i, i + step) for i in range(0, n, step))
    ]
    bounds, points = zip(*found, strict=True)
    return torch.cat(bounds), torch.cat(points)


def best_of(polynomial: LadderPolynomial, region: Region, weights: Tensor, limit: Tensor) -> tuple[Tensor, Tensor]:
    """What `upper_bounds` says, for as many regions as fit into memory."""
    readout, offset = functionals(polynomial, weights)
    if cost(polynomial) <= NUMBERS:
        # Whatever cancels between units and layers has canceled in the coefficients: bounding the same products degree
        # by degree would add nothing but time.
        bound, points = written(polynomial, region, readout, offset)
    else:
        bound, points = degree_upper(polynomial, region, states_on(polynomial, region), readout, offset, limit)
    # Far from the center intervals may be narrower.
    intervals = interval_upper(polynomial, region, readout, offset)
    bound, intervals = (torch.where(each.isfinite(), each, torch.inf) for each in (bound, intervals))
    points = torch.where((bound <= intervals).unsqueeze(-1), torch.nan_to_num(points), 0.0)
    return torch.minimum(bound, intervals), torch.stack([region.at(point) for point in points.unbind(1)], 1)


def functionals(polynomial: LadderPolynomial, weights: Tensor) -> tuple[Ball, Ball]:
    """Weighted sums of outputs as functionals of the last state: shapes (n, o, k_L) and (n, o)."""
    readout = matmul(exact(weights), exact(polynomial.readout))
    return readout, total(product(exact(weights), exact(polynomial.offset.expand_as(weights))))


def interval_upper(polynomial: LadderPolynomial, region: Region, readout: Ball, offset: Ball) -> Tensor:
    """Bounds from what each state can be by itself, layer by layer. Shape (n, o)."""
    x = Ball(region.center, region.radius)
    rungs = ladder_intervals(polynomial, x)
    top = rungs[-1].product if rungs else x
    return plus(total(product(readout, top.row)), offset).upper


def written(polynomial: LadderPolynomial, region: Region, readout: Ball, offset: Ball) -> tuple[Tensor, Tensor]:
    """Bounds from the polynomial written out. Shapes (n, o) and (n, o, d)."""
    d, order = polynomial.in_features, polynomial.order
    n, o = offset.mid.shape
    bounds, points = [], []
    for at in chunks(polynomial, n):
        coefficients, error = write_out(polynomial, region[at], readout.at(at), offset.at(at))
        bound, point, _ = written_upper(coefficients.flatten(0, 1), error.flatten(), d, order, region.norm)
        bounds.append(bound.view(-1, o))
        points.append(point.view(-1, o, d))
    return torch.cat(bounds), torch.cat(points)
