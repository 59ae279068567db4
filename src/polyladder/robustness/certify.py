"""Proven ranges of a ladder's outputs around rows, and the largest radius that is proven safe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.rescale import rescaled
from polyladder.renamed import renamed
from polyladder.robustness.bounds import upper_bounds
from polyladder.robustness.branch import Stop, branch
from polyladder.robustness.certificate import Certificate, check_number, check_seconds
from polyladder.robustness.region import Norm, Region
from polyladder.robustness.table_boxes import regions_of
from polyladder.training.threads import small_on_one_thread


@renamed("norm", "max_seconds", "tolerance", p="model", budget="max_seconds")
@small_on_one_thread
def certify(
    model: LadderPolynomial | Any,
    center: Tensor | Any,
    radius: float | Tensor | Mapping[str, float],
    *,
    norm: Norm = "inf",
    max_seconds: float | None = None,
    tolerance: float = 1e-3,
) -> Certificate:
    """The proven range of every output over a box or ball around every row.

    All bounds hold for the exact polynomial of the given weights: they are computed in float64, each number with a
    proven bound on its rounding error. (Only eigenvalues of symmetric matrices rely on LAPACK's, with ample room.)

    Args:
        model: a ladder of any ``batch_shape``, or a fitted estimator with one polynomial behind it.
        center: rows. Shape (n, d), or (d,) for one. For an estimator, rows of its table.
        radius: of the regions: one number; for boxes also one for each input, (d,), or for each row and input, (n, d);
            for balls also one for each row, (n,). For an estimator, one number is a part of each column's training
            range; a mapping from names of columns is in their own units, and other columns stay. Categories stay.
        norm: "inf" for boxes, 2 for Euclidean balls.
        max_seconds: for splitting the regions, all rows together, until the proven range is within ``tolerance`` of
            the range that was found. None: no splitting.
        tolerance: gap at which splitting ends, as a part of the width of the range.

    Returns:
        ``lower`` and ``upper``, shapes (*batch_shape, n, m), and the range that was found inside. For an estimator they
        are what it predicts, clipped inputs and guarded predictions included; for classes, scores or log-odds.

    Cost: about as much as the Hessians at the rows. With few inputs the polynomial is written out around each row.

    Example:
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> found = certify(square, torch.tensor([[1.0]]), 0.5)
        >>> found.lower, found.upper
        (tensor([[0.2500]], dtype=torch.float64), tensor([[2.2500]], dtype=torch.float64))
    """
    check_seconds(max_seconds)
    check_number("tolerance", tolerance)
    if isinstance(model, LadderPolynomial) and model.batch_shape:
        count = math.prod(model.batch_shape)
        flat = model.map(lambda t: t.flatten(0, len(model.batch_shape) - 1))
        share = None if max_seconds is None else max_seconds / count
        each = [certify(one, center, radius, norm=norm, max_seconds=share, tolerance=tolerance) for one in flat]
        stacked = [torch.stack(parts) for parts in zip(*(vars(c).values() for c in each), strict=True)]
        return Certificate(*(t.reshape(*model.batch_shape, *t.shape[1:]) for t in stacked))
    polynomial, region, boxes = regions_of(model, center, radius, norm)
    eye = torch.eye(polynomial.out_features, dtype=torch.float64)
    found = certify_sums(polynomial, region, eye.expand(len(region), -1, -1), max_seconds, tolerance)
    return found if boxes is None else boxes.held(found)


def certify_sums(
    polynomial: LadderPolynomial, region: Region, weights: Tensor, max_seconds: float | None, tolerance: float
) -> Certificate:
    """The proven ranges of weighted sums of outputs. Weights (n, o, m); results (n, o)."""
    n, o, m = weights.shape
    if n:
        # Values that are found must not underflow on the way either.
        polynomial = rescaled(polynomial, region.farthest)
    both = torch.cat([weights, -weights], 1)
    upper, points = upper_bounds(polynomial, region, both)
    # The point where a method has its bound, and the center: values that exist.
    values = [
        torch.einsum("nom,nom->no", both, polynomial(at.reshape(-1, at.shape[-1])).view(n, 2 * o, m))
        for at in (points, region.center.unsqueeze(1).expand(-1, 2 * o, -1))
    ]
    start = torch.where((values[0] >= values[1]).unsqueeze(-1), points, region.center.unsqueeze(1))
    found = torch.maximum(*values)
    if max_seconds is not None and n:
        width = (found[:, :o] + found[:, o:]).repeat(1, 2)
        rows = torch.arange(n).repeat_interleave(2 * o)
        stop = Stop(max_seconds, 0.0, tolerance * width.flatten())
        solved = branch(polynomial, region[rows], both.flatten(0, 1), start.flatten(0, 1), stop)
        upper, found = solved.bound.view(n, 2 * o), solved.value.view(n, 2 * o)
    return Certificate(-upper[:, o:], upper[:, :o], -found[:, o:], found[:, :o])


@renamed("norm", "within", "largest", "steps", p="model")
@small_on_one_thread
def certified_radius(
    model: LadderPolynomial | Any,
    x: Tensor | Any,
    y: Any,
    *,
    norm: Norm = "inf",
    within: float | None = None,
    largest: float = 1.0,
    steps: int = 20,
) -> Tensor:
    """The largest radius around each row that is proven safe, by bisection.

    Safe means, with ``within`` left out, that the class y keeps the highest output (of a ladder with one output: that
    its sign stays, y being 0 or 1); with ``within``, that every output stays within this much of y.

    Args:
        model: a single ladder, or a fitted estimator.
        x: rows. Shape (n, d), or rows of the estimator's table.
        y: classes, whole numbers of shape (n,), of an estimator its labels; or numbers of shape (n,) or (n, m).
        norm: "inf" for boxes, 2 for Euclidean balls.
        within: the tolerance for numbers, or None for classes.
        largest: radii above it are not tried.
        steps: of the bisection; the result is within ``largest / 2 ** steps`` of the largest radius the bounds prove.

    Returns:
        Shape (n,), float64; zero where even the row itself is not safe. For an estimator, in parts of each column's
        training range.
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"steps must be a positive integer; got {steps!r}.")
    polynomial, region, boxes = regions_of(model, x, float(largest), norm)
    n = len(region)
    if boxes is not None and within is None:
        y = boxes.model.classes(y)

    def at(radius: Tensor) -> Region:
        if boxes is not None:
            return boxes.scaled(radius / largest).region
        return Region(region.center, radius.unsqueeze(-1).expand_as(region.radius), norm)

    weights, limit = unsafe_sums(polynomial, y, n, within)
    low, high = torch.zeros(n, dtype=torch.float64), torch.full((n,), float(largest), dtype=torch.float64)
    for step in range(steps + 1):
        tried = high if step == 0 else (low + high) / 2
        proven = (upper_bounds(polynomial, at(tried), weights, limit)[0] <= limit).all(-1)
        low = torch.where(proven, tried, low)
        high = torch.where(proven, high, tried)
    return low


def unsafe_sums(polynomial: LadderPolynomial, y: Tensor, n: int, within: float | None) -> tuple[Tensor, Tensor]:
    """Sums of outputs that must not exceed a limit. Shapes (n, o, m) and (n, o)."""
    m = polynomial.out_features
    eye = torch.eye(m, dtype=torch.float64)
    if within is not None:
        target = torch.as_tensor(y, dtype=torch.float64).reshape(n, m)
        weights = torch.cat([eye, -eye]).expand(n, -1, -1)
        return weights, torch.cat([target + within, within - target], 1) * (1 - 1e-15)
    classes = check_classes(y, n, m)
    below = -torch.finfo(torch.float64).tiny
    if m == 1:
        return (1.0 - 2.0 * classes.double()).view(n, 1, 1), torch.full((n, 1), below)
    every = torch.arange(m).expand(n, m)
    others = every[every != classes.unsqueeze(1)].view(n, m - 1)
    return eye[others] - eye[classes].unsqueeze(1), torch.full((n, m - 1), below)


def check_classes(y: Any, n: int, m: int) -> Tensor:
    """Classes as whole numbers from 0 on. Shape (n,)."""
    classes = torch.as_tensor(y)
    if classes.is_floating_point() or tuple(classes.shape) != (n,):
        raise ValueError(
            f"y must hold one whole number per row, shape ({n},); got shape {tuple(classes.shape)} of {classes.dtype}."
        )
    if n and (classes.min() < 0 or classes.max() >= max(m, 2)):
        raise ValueError(f"y must be in 0, ..., {max(m, 2) - 1}; got {int(classes.min())} to {int(classes.max())}.")
    return classes.long()
