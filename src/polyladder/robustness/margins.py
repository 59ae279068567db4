"""Whether classes are proven to stay: bounds on how near another class can come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.renamed import renamed
from polyladder.robustness.bounds import upper_bounds
from polyladder.robustness.branch import Stop, branch
from polyladder.robustness.certificate import check_seconds
from polyladder.robustness.certify import unsafe_sums
from polyladder.robustness.region import Norm, Region
from polyladder.robustness.table_boxes import regions_of
from polyladder.training.threads import small_on_one_thread


@renamed("max_seconds", "norm", p="model", budget="max_seconds")
@small_on_one_thread
def certify_margins(
    model: LadderPolynomial | Any,
    x: Tensor | Any,
    y: Any,
    radius: float | Tensor | Mapping[str, float],
    *,
    norm: Norm = "inf",
    max_seconds: float | None = None,
) -> Tensor:
    """Proven upper bounds on the highest output of another class minus that of y; if negative, the class stays.

    Differences of outputs are bounded as such, which is tighter than bounding each output. A row that even the
    closest bound could not decide without splitting gets the cheapest bound.

    Args:
        model: a single ladder, or a fitted estimator of classes.
        x: rows, as for `certify`.
        y: classes, whole numbers of shape (n,); of an estimator, its labels.
        radius: as for `certify`.
        norm: "inf" for boxes, 2 for Euclidean balls.
        max_seconds: for splitting the regions of rows that are still undecided. A row is decided when it is proven to
            stay, or when an input is found where its class changes. None: no splitting.

    Returns:
        Shape (n,), float64.
    """
    check_seconds(max_seconds)
    polynomial, region, boxes = regions_of(model, x, radius, norm)
    y = y if boxes is None else boxes.model.classes(y)
    weights, limit = unsafe_sums(polynomial, y, len(region), None)
    bounds, points = upper_bounds(polynomial, region, weights, limit)
    if max_seconds is not None:
        bounds = split_undecided(polynomial, region, weights, bounds, points, max_seconds)
    return bounds.amax(1)


def split_undecided(
    polynomial: LadderPolynomial, region: Region, weights: Tensor, bounds: Tensor, points: Tensor, max_seconds: float
) -> Tensor:
    """Bounds after splitting the regions where one of the sums may still be positive. Shape (n, o)."""
    row, sum_ = (bounds >= 0).nonzero(as_tuple=True)
    if not len(row):
        return bounds
    chosen = weights[row, sum_]
    zero = torch.zeros(len(row), dtype=torch.float64)
    below = torch.full_like(zero, -torch.finfo(torch.float64).tiny)
    found = branch(polynomial, region[row], chosen, points[row, sum_], Stop(max_seconds, 0.0, zero, threshold=below))
    after = bounds.clone()
    after[row, sum_] = torch.minimum(bounds[row, sum_], found.bound)
    return after
