"""Block solves without a Gram matrix: conjugate gradients preconditioned by a Kronecker product."""

from __future__ import annotations

import torch
from torch import Tensor


def solve_iteratively(
    g: Tensor,
    h: Tensor,
    response: Tensor,
    weight: Tensor,
    total: Tensor,
    alpha: Tensor,
    tolerance: float = 1e-10,
    iterations: int = 1000,
) -> Tensor:
    """The ridge regression of `polyladder.training.blocks.normal_equations`, for blocks too large to form it.

    A product with the Gram matrix is two matrix products over the rows, sum_n g (g . T h) h, of the size of a forward
    pass. The preconditioner is the Gram matrix that g and h would have if they were independent over rows,
    mean(g g') (x) mean(h h') + alpha I, inverted through the eigenvectors of its two small factors.

    Args:
        g: derivatives. Shape (B, m, k, n).
        h: what the block reads. Shape (q, n), shared, or (B, q, n).
        response: what g (x) h should sum to. Shape (B, m, n).
        weight: of every row. Shape (B, n) or (1, n).
        total: the sum of weights to divide by. Shape (B,) or (1,).
        alpha: ridge weights. Shape (B,).
        tolerance: of the residual, relative to the right-hand side.
        iterations: at most so many.

    Returns:
        The block. Shape (B, k, q).
    """
    B = g.shape[0]
    h = h if h.dim() == 3 else h.unsqueeze(0)
    scale, ridge = total.reshape(-1, 1, 1), alpha.reshape(-1, 1, 1)
    rows = weight.unsqueeze(1)

    def back(outputs: Tensor) -> Tensor:
        return (g * (outputs * rows).unsqueeze(2)).sum(1) @ h.mT / scale

    def apply(theta: Tensor) -> Tensor:
        return back((g * (theta @ h).unsqueeze(1)).sum(2)) + ridge * theta

    left = torch.einsum("bmkn,bmln->bkl", g * rows.unsqueeze(1), g) / scale
    right = (h * rows) @ h.mT / scale
    left_values, left_vectors = torch.linalg.eigh(left)
    right_values, right_vectors = torch.linalg.eigh(right)
    spectrum = left_values.clamp_min(0).unsqueeze(2) * right_values.clamp_min(0).unsqueeze(1)
    spectrum = spectrum + ridge + 1e-14 * spectrum.amax((1, 2), keepdim=True)

    def precondition(t: Tensor) -> Tensor:
        return left_vectors @ ((left_vectors.mT @ t @ right_vectors) / spectrum) @ right_vectors.mT

    theta = g.new_zeros(B, g.shape[2], h.shape[1])
    residual = back(response)
    goal = tolerance * residual.norm(dim=(1, 2), keepdim=True)
    z = precondition(residual)
    direction = z
    inner = (residual * z).sum((1, 2), keepdim=True)
    for _ in range(iterations):
        if bool((residual.norm(dim=(1, 2), keepdim=True) <= goal).all()):
            break
        image = apply(direction)
        step = inner / (direction * image).sum((1, 2), keepdim=True).clamp_min(1e-300)
        theta = theta + step * direction
        residual = residual - step * image
        z = precondition(residual)
        new_inner = (residual * z).sum((1, 2), keepdim=True)
        direction = z + new_inner / inner.clamp_min(1e-300) * direction
        inner = new_inner
    return theta
