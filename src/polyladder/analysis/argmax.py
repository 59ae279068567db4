"""The probability that each entry of a Gaussian vector is the largest."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.special import ndtr, ndtri

CHUNK = 2**18
"""Numbers held in one tensor of the quadrature, which bounds the memory for any number of rows."""


def argmax_probability(mean: Tensor, covariance: Tensor, nodes: int = 256) -> Tensor:
    r"""P(f_j is the largest entry of f) for f ~ N(mean, covariance), for every j.

    For each j it is the probability that all m - 1 differences :math:`f_j - f_k` are positive. They are taken one
    after the other, each given that the ones before it are positive (Genz's transformation), which leaves a smooth
    integral over the unit cube of m - 2 dimensions; a fixed set of scrambled Sobol points integrates it. The smallest
    standardized margin comes first, so that most of the probability is settled in closed form. For m = 2 nothing is
    left to integrate and the result is exact. At the end the m probabilities are divided by their sum, which differs
    from one by the error of the quadrature.

    The result is deterministic, converges to the true probability as ``nodes`` grows and is differentiable. With
    256 nodes the mean and the largest error over 100 random means and covariances were 8e-6 and 3e-4 for m = 3, 1e-4
    and 4e-3 for m = 10.

    Args:
        mean: Shape (..., m), m >= 2.
        covariance: positive semi-definite; zero rows are allowed and give ties equal shares. Shape (..., m, m).
        nodes: points of the quadrature, best a power of two.

    Returns:
        Non-negative, summing to one. Shape (..., m), dtype of ``mean``.

    Cost: O(nodes m^3) a row: one to two milliseconds for m = 10.
    """
    m = mean.shape[-1]
    if m < 2 or covariance.shape != (*mean.shape, m):
        raise ValueError(
            "mean and covariance must have shapes (..., m) and (..., m, m) with m >= 2; "
            f"got shapes {tuple(mean.shape)} and {tuple(covariance.shape)}."
        )
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
        raise ValueError(f"nodes must be a positive integer; got {nodes!r}.")
    points = unit_cube_points(nodes, m - 2).to(mean.device)
    # Probabilities near 0 and 1 pass through the inverse normal distribution function: float64 whatever comes in.
    rows, covariances = mean.double().reshape(-1, m), regular(covariance).double().reshape(-1, m, m)
    size = max(1, CHUNK // (m * (m - 1) * nodes))
    chunks = zip(torch.split(rows, size), torch.split(covariances, size), strict=True)
    parts = [largest(*chunk, points) for chunk in chunks]
    return torch.cat(parts).reshape(mean.shape).to(mean.dtype)


def unit_cube_points(nodes: int, dimension: int) -> Tensor:
    """The same scrambled Sobol points on every call. Shape (nodes, dimension)."""
    if dimension == 0:
        return torch.zeros(1, 0, dtype=torch.float64)
    engine = torch.quasirandom.SobolEngine(dimension, scramble=True, seed=0)  # type: ignore[no-untyped-call]
    points: Tensor = engine.draw(nodes, dtype=torch.float64)
    return points


def largest(mean: Tensor, covariance: Tensor, points: Tensor) -> Tensor:
    """`argmax_probability` of rows (n, m) and (n, m, m) at quadrature points (nodes, m - 2)."""
    m = mean.shape[-1]
    margin, root = differences(mean, covariance)
    t = margin.unsqueeze(-1)
    probability = torch.ones_like(mean).unsqueeze(-1)
    for i in range(m - 1):
        # Given what came before, difference i is positive with probability q, node by node.
        q = ndtr(t[..., 0, :] / root[..., i, i, None])
        probability = probability * q
        if i < m - 2:
            # The node picks the value of difference i among the positive ones; the bounds keep it finite.
            z = -ndtri((points[:, i] * q).clamp(TINY, 1 - EPSILON))
            t = t[..., 1:, :] + root[..., i + 1 :, i, None] * z.unsqueeze(-2)
    probability = probability.mean(-1)
    return probability / probability.sum(-1, keepdim=True)


TINY, EPSILON = torch.finfo(torch.float64).tiny, torch.finfo(torch.float64).eps


def regular(covariance: Tensor) -> Tensor:
    """Add to the variances what rounding may have taken from them; otherwise the Cholesky factor could fail.

    That is a standard deviation of 1e-7 (in float32 2e-3) of the largest one, for m = 10.
    """
    m, limits = covariance.shape[-1], torch.finfo(covariance.dtype)
    largest_variance = covariance.diagonal(dim1=-2, dim2=-1).detach().amax(-1, keepdim=True)
    return covariance + torch.diag_embed(
        (4 * m * limits.eps * largest_variance + limits.tiny).expand(covariance.shape[:-1])
    )


def differences(mean: Tensor, covariance: Tensor) -> tuple[Tensor, Tensor]:
    """For each class j, the m - 1 differences f_j - f_k in order of rising standardized margin.

    Returns:
        Their means, shape (n, m, m - 1), and the Cholesky factor of their covariance, shape (n, m, m - 1, m - 1).
    """
    variance = covariance.diagonal(dim1=-2, dim2=-1)
    with torch.no_grad():
        spread = variance.unsqueeze(-1) + variance.unsqueeze(-2) - 2 * covariance
        margin = (mean.unsqueeze(-1) - mean.unsqueeze(-2)) / spread.clamp(min=TINY).sqrt()
        margin.diagonal(dim1=-2, dim2=-1).fill_(torch.inf)  # Class j itself sorts last and is dropped.
        rivals = margin.argsort(-1)[..., :-1]
    row = torch.arange(len(mean), device=mean.device)[:, None, None]
    shared = covariance.gather(-1, rivals)
    among = covariance[row.unsqueeze(-1), rivals.unsqueeze(-1), rivals.unsqueeze(-2)]
    between = variance[..., None, None] - shared.unsqueeze(-1) - shared.unsqueeze(-2) + among
    return mean.unsqueeze(-1) - mean[row, rivals], torch.linalg.cholesky(between)
