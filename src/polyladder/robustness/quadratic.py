r"""The largest value of a quadratic over a box or ball, from above.

Any quadratic is at most a concave one plus a constant, and a concave one lies below each of its tangents, whose largest
value is known. So there is a bound at whatever point an ascent stopped, and where it stopped at the maximum the tangent
loses nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.polynomial.ball import EPSILON, TINY, UP, Ball, exact, matmul, plus, product, sum_of, sum_up, total
from polyladder.robustness.region import Norm, euclidean, highest_on

STEPS = 24
"""Steps of the ascent, at most."""

EIGEN = 1024
"""Eigenvalues are computed for up to this many inputs; with more, row sums bound them."""


def quadratic_upper(b: Ball, C: Ball, norm: Norm) -> tuple[Tensor, Tensor]:
    r"""Upper bounds of :math:`b^T t + t^T C t` over the unit box or ball.

    Args:
        b: shape (n, d).
        C: symmetric but for rounding. Shape (n, d, d).
        norm: of the region.

    Returns:
        The bounds, shape (n,), and the points where the ascent stopped, shape (n, d).
    """
    middle = (C.mid + C.mid.mT) / 2
    unknown = C.rad + C.rad.mT + 4 * EPSILON * C.mid.abs()
    P, constant = concave(middle, norm)
    t = ascend(b.mid, P, norm)
    bound = torch.minimum(tangent(b, P, t, norm), tangent(b, P, torch.zeros_like(t), norm))
    loose = sum_up(unknown.flatten(1)) if norm == "inf" else euclidean(unknown.flatten(1))
    return sum_of([bound, constant, loose]), t


def concave(C: Tensor, norm: Norm) -> tuple[Tensor, Tensor]:
    r"""A negative semidefinite P and a constant with t'Ct <= t'Pt + constant on the region.

    Over a box, P differs from C on the diagonal alone. With s the row sums of sizes off the diagonal and a the largest
    eigenvalue of C's other entries divided by sqrt(s_i s_j), which is at most 1, the diagonal may be anything up to
    -a s. Over a ball, P is C less its largest eigenvalue.
    """
    d = C.shape[-1]
    diagonal = C.diagonal(dim1=-2, dim2=-1)
    others = C - torch.diag_embed(diagonal)
    if norm == "inf":
        sums = sum_up(others.abs()) * UP
        root = sums.sqrt()
        scaled = others / (root.unsqueeze(-1) * root.unsqueeze(-2))
        share = largest_eigenvalue(scaled).clamp(max=1.0) if d <= EIGEN else torch.ones_like(sums[:, 0])
        lowered = torch.minimum(diagonal, -(share.clamp_min(0.0).unsqueeze(-1) * sums) * UP)
        constant = sum_up((diagonal - lowered) * UP)
    else:
        size = euclidean(C.abs().flatten(1))
        top = largest_eigenvalue(C) if d <= EIGEN else size
        top = torch.minimum(top, size).clamp_min(0.0)
        lowered = diagonal - (top.unsqueeze(-1) * UP + 4 * EPSILON * diagonal.abs())
        constant = (top * UP + 8 * EPSILON * diagonal.abs().amax(-1)) * UP + TINY
    return others + torch.diag_embed(lowered), constant


def largest_eigenvalue(matrix: Tensor) -> Tensor:
    """The largest eigenvalue of symmetric matrices, with room for LAPACK's error. Shape (n, d, d) to (n,)."""
    finite = matrix.isfinite().all(-1).all(-1)
    safe = torch.where(finite[:, None, None], matrix, 0.0)
    d, size = matrix.shape[-1], euclidean(safe.abs().flatten(1))
    top = torch.linalg.eigvalsh(safe)[:, -1] + 20 * d * EPSILON * size + TINY
    return torch.where(finite, top, torch.inf)


def ascend(b: Tensor, P: Tensor, norm: Norm) -> Tensor:
    """Where accelerated projected ascent on the concave quadratic stops. Shape (n, d)."""
    rate = 1 / (2 * P.abs().sum(-1).amax(-1, keepdim=True)).clamp_min(1e-200)
    t = torch.zeros_like(b)
    y, momentum = t, 1.0
    for _ in range(STEPS):
        slope = b + 2 * (P @ y.unsqueeze(-1)).squeeze(-1)
        after = nearest(torch.nan_to_num(y + rate * slope), norm)
        following = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        if torch.equal(after, t):
            break
        y = after + (momentum - 1) / following * (after - t)
        t, momentum = after, following
    return t


def nearest(t: Tensor, norm: Norm) -> Tensor:
    """The nearest point of the unit box or ball. Shape (n, d)."""
    if norm == "inf":
        return t.clamp(-1.0, 1.0)
    return t / t.norm(dim=-1, keepdim=True).clamp_min(1.0)


def tangent(b: Ball, P: Tensor, t: Tensor, norm: Norm) -> Tensor:
    """The largest value over the region of the tangent of b't + t'Pt at t, from above. Shape (n,)."""
    image = matmul(exact(P), exact(t).column).map(lambda each: each.squeeze(-1))
    slope = plus(b, Ball(2 * image.mid, 2 * image.rad))
    constant = total(product(exact(t), image))
    rise, _ = highest_on(slope, norm)
    return Ball(rise - constant.mid, (constant.rad + EPSILON * (rise + constant.mid.abs())) * UP).upper
