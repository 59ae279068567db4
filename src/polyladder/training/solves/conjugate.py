"""Block solves without a Gram matrix: conjugate gradients preconditioned by a Kronecker product."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.training.solves.blocks import block_moment, row_chunks

PROBES = 4
"""Random sign vectors that estimate the number of determined weights."""

MANY = 1000
"""Blocks of at least this many weights need only one sign vector."""


EIGEN_LIMIT = 600
"""Up to this many inputs the preconditioner uses their correlations, at a cost that grows with their cube."""


class MatrixFreeRidge:
    """The ridge regression of `polyladder.training.solves.blocks.normal_equations`, for blocks too large to form it.

    A product with the Gram matrix is two matrix products over the rows, sum_n w g (g . T h) h, of the size of a forward
    pass. The preconditioner is the Gram matrix that g and h would have if they were independent over rows,
    mean(g g') (x) mean(h h') + alpha I, inverted through the eigenvectors of its two small factors.

    Args:
        g: derivatives. Shape (B, m, k, n).
        h: what the block reads. Shape (q, n), shared, or (B, q, n).
        weight: of every row. Shape (B, n) or (1, n).
        total: the sum of weights to divide by. Shape (B,) or (1,).
        alpha: ridge weights. Shape (B,).
    """

    def __init__(self, g: Tensor, h: Tensor, weight: Tensor, total: Tensor, alpha: Tensor) -> None:
        self.g, self.h, self.weight = g, h if h.dim() == 3 else h.unsqueeze(0), weight.unsqueeze(1)
        self.total, self.alpha = total.reshape(-1, 1, 1), alpha.reshape(-1, 1, 1)
        left = g.new_zeros(g.shape[0], g.shape[2], g.shape[2])
        for rows in row_chunks(self.g):
            part = g[..., rows]
            left += ((part * self.weight[..., rows].unsqueeze(1)) @ part.mT).sum(1)
        left_values, self.left = torch.linalg.eigh(left / self.total)
        right_values, self.right = self.right_spectrum()
        spectrum = left_values.clamp_min(0).unsqueeze(2) * right_values.clamp_min(0).unsqueeze(1)
        # A floor for fits without a ridge: directions without any data would divide by zero.
        floor = (1e-14 * spectrum.amax((1, 2), keepdim=True)).clamp_min(1e-300)
        self.spectrum = spectrum + self.alpha + floor

    def right_spectrum(self) -> tuple[Tensor, Tensor | None]:
        """Eigenvalues (., q) and eigenvectors of mean(h h'); of many inputs its diagonal, and None."""
        weighted = self.h * self.weight
        if self.h.shape[1] > EIGEN_LIMIT:
            return (weighted * self.h).sum(-1) / self.total.squeeze(-1), None
        values, vectors = torch.linalg.eigh(weighted @ self.h.mT / self.total)
        return values, vectors

    def moment(self, response: Tensor) -> Tensor:
        """Weighted mean of g h' times the response (B, m, n). Shape (B, k, q)."""
        return block_moment(self.g, self.h, response, self.weight) / self.total

    def apply(self, theta: Tensor) -> Tensor:
        """The system's matrix times a block (B, k, q)."""
        out = self.g.new_empty(self.g.shape[0], self.g.shape[1], self.g.shape[3])
        for rows in row_chunks(self.g):
            out[..., rows] = (self.g[..., rows] * (theta @ self.h[..., rows]).unsqueeze(1)).sum(2)
        return self.moment(out) + self.alpha * theta

    def precondition(self, theta: Tensor) -> Tensor:
        """The inverse of the preconditioner times a block (B, k, q)."""
        turned = self.left.mT @ theta
        if self.right is None:
            return self.left @ (turned / self.spectrum)
        return self.left @ ((turned @ self.right) / self.spectrum) @ self.right.mT

    def solve(self, right: Tensor, start: Tensor, tolerance: float = 1e-10, iterations: int = 1000) -> Tensor:
        """Conjugate gradients from a start. The quadratic falls in every step, so that they may end early.

        Args:
            right: right-hand side. Shape (B, k, q).
            start: where to start. Shape (B, k, q).
            tolerance: a model is done when its residual is this small, relative to the right-hand side.
            iterations: at most this many.
        """

        def inner(a: Tensor, b: Tensor) -> Tensor:
            return (a * b).sum((1, 2), keepdim=True)

        theta, residual = start, right - self.apply(start)
        goal = tolerance * right.norm(dim=(1, 2), keepdim=True)
        z = self.precondition(residual)
        direction, size = z, inner(residual, z)
        for _ in range(iterations):
            # A model that is done, or so small that products underflow, does not change any more.
            going = (residual.norm(dim=(1, 2), keepdim=True) > goal) & (size > 1e-280)
            if not bool(going.any()):
                break
            image = self.apply(direction)
            step = torch.where(going, size / inner(direction, image), 0.0)
            theta, residual = theta + step * direction, residual - step * image
            z = self.precondition(residual)
            before, size = size, inner(residual, z)
            direction = z + torch.where(going, size / before, 0.0) * direction
        return theta

    def determined(self, tolerance: float = 1e-4, iterations: int = 1000) -> Tensor:
        """How many weights the data determine, tr(G (G + alpha I)^-1) for Gram matrix G, estimated. Shape (B,).

        For random signs v the mean of v . G (G + alpha I)^-1 v is that trace (Hutchinson). Its relative standard
        deviation is at most sqrt(2 / (probes * trace)): a few percent for blocks of this size. The signs are fixed, and
        the same for all models. Tolerance and iterations are those of its solves.
        """
        B, _, k, _ = self.g.shape
        q = self.h.shape[1]
        stream = torch.Generator().manual_seed(0)
        trace = self.g.new_zeros(B)
        probes = probes_of(k * q)
        for _ in range(probes):
            signs = torch.randint(0, 2, (k, q), generator=stream).to(self.g) * 2 - 1
            v = signs.expand(B, k, q)
            solved = self.solve(v, self.precondition(v), tolerance, iterations)
            trace += (v * (v - self.alpha * solved)).sum((1, 2))
        return trace / probes


def probes_of(weights: int) -> int:
    """Random sign vectors, each of which takes a solve, that count the determined weights of a block."""
    return PROBES if weights < MANY else 1
