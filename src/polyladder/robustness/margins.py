"""Whether classes are proven to stay: bounds on how near another class can come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.bounds import upper_bounds
from polyladder.robustness.branch import Stop, branch
from polyladder.robustness.certificate import check_budget, check_region, single
from polyladder.robustness.certify import unsafe_sums
from polyladder.robustness.region import Norm, Region
from polyladder.robustness.table_boxes import TableBoxes
from polyladder.robustness.table_model import read_estimator
from polyladder.training.threads import small_on_one_thread


@small_on_one_thread
def certify_margins(
    p: LadderPolynomial | Any,
    x: Tensor | Any,
    y: Any,
    radius: float | Tensor | Mapping[str, float],
    budget: float | None = None,
    norm: Norm = "inf",
) -> Tensor:
    """Proven upper bounds on the highest output of another class less that of y; negative: the class stays.

    Differences of outputs are bounded as such, which is tighter than bounding each output. Where a closer bound
    could not decide a row without splitting, the one that costs least is returned.

    Args:
        p: a single ladder, or a fitted estimator of classes.
        x: rows, as for `certify`.
        y: classes, whole numbers of shape (n,); of an estimator, its labels.
        radius: as for `certify`.
        budget: seconds for splitting the regions of rows that are still undecided. A row is decided when it is
            proven to stay, or when an input is found where its class changes.
        norm: "inf" for boxes, 2 for Euclidean balls.

    Returns:
        Shape (n,), float64.
    """
    check_budget(budget)
    if isinstance(p, LadderPolynomial):
        if isinstance(radius, Mapping):
            raise TypeError("radius must be a number or a tensor for a ladder; got a mapping.")
        polynomial = single(p)
        region = check_region(polynomial, x, radius, norm)
    else:
        model = read_estimator(p)
        polynomial, region, y = model.polynomial, TableBoxes.around(model, x, radius, norm).region, model.classes(y)
    weights, limit = unsafe_sums(polynomial, y, len(region), None)
    bounds, points = upper_bounds(polynomial, region, weights, limit)
    if budget is not None:
        bounds = split_undecided(polynomial, region, weights, bounds, points, budget)
    return bounds.amax(1)


def split_undecided(
    polynomial: LadderPolynomial, region: Region, weights: Tensor, bounds: Tensor, points: Tensor, budget: float
) -> Tensor:
    """Bounds after splitting the regions where one of the sums may still be positive. Shape (n, o)."""
    row, sum_ = (bounds >= 0).nonzero(as_tuple=True)
    if not len(row):
        return bounds
    chosen = weights[row, sum_]
    zero = torch.zeros(len(row), dtype=torch.float64)
    below = torch.full_like(zero, -torch.finfo(torch.float64).tiny)
    found = branch(polynomial, region[row], chosen, points[row, sum_], Stop(budget, 0.0, zero, threshold=below))
    after = bounds.clone()
    after[row, sum_] = torch.minimum(bounds[row, sum_], found.bound)
    return after
