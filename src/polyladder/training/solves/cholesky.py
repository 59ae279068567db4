"""Cholesky factors, also of matrices that are singular to rounding, and the ridge regressions they solve."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.training.solves.blocks import NormalEquations


def solve_ridge(
    equations: NormalEquations, penalty: Tensor, old: Tensor, estimating: bool = False, rounding: float = 0.0
) -> tuple[Tensor, Tensor]:
    """The step from the present weights to the minimizer of a block's quadratic plus ridge.

    A step, not the minimizer itself: rounding and jitter of the factorization then affect only the step, and the
    quadratic does not rise.

    Args:
        equations: of p weights and r right-hand sides; the response is the residual of the present weights.
        penalty: ridge weights. Shape (B, p).
        old: the present weights. Shape (B, p, r).
        estimating: whether the second result is wanted; it is zero otherwise.
        rounding: error of the Gram matrix, relative to its diagonal. The step is damped by it, and directions that lie
            below it count as undetermined.

    Returns:
        The step, (B, p, r), and how many of the weights the data determine, (B,).
    """
    damped = penalty
    if rounding:
        damped = penalty + rounding * equations.gram.diagonal(dim1=-2, dim2=-1)
    lower = cholesky(equations.gram, damped)
    gradient = torch.addcmul(equations.moment, penalty.unsqueeze(2), old, value=-1)
    # Two triangular solves copy less than one by the factor.
    half = torch.linalg.solve_triangular(lower, gradient, upper=False)
    step = torch.linalg.solve_triangular(lower.mT, half, upper=True)
    if not estimating:
        return step, penalty.new_zeros(len(penalty))
    inverse_diagonal = torch.cholesky_inverse(lower.mT, upper=True).diagonal(dim1=-2, dim2=-1)
    return step, (1 - damped * inverse_diagonal).sum(-1) * old.shape[-1]


def cholesky(gram: Tensor, penalty: Tensor) -> Tensor:
    """Lower factor of gram + diag(penalty); where that is not positive definite to rounding, a jitter is added.

    "To rounding": some pivot is at most p times the machine epsilon of its diagonal entry. The jitter starts at 1e-12
    of each diagonal entry (of their mean, where one is zero) and grows tenfold until the factorization succeeds; the
    models that did not need it do not get it.

    Args:
        gram: Shape (B, p, p).
        penalty: Shape (B, p).
    """
    matrix = gram.clone()
    matrix.diagonal(dim1=-2, dim2=-1).add_(penalty)
    diagonal = matrix.diagonal(dim1=-2, dim2=-1)
    least = gram.shape[-1] * torch.finfo(gram.dtype).eps

    def factorize(matrix: Tensor, diagonal: Tensor) -> tuple[Tensor, Tensor]:
        # The upper factor: up to a hundred columns LAPACK finds it, and its inverse, a tenth faster than the lower one.
        factor, failed = torch.linalg.cholesky_ex(matrix, upper=True)
        pivots = factor.diagonal(dim1=-2, dim2=-1).square()
        return factor, (failed > 0) | (pivots <= least * diagonal).any(-1)

    factor, failed = factorize(matrix, diagonal)
    jitter = 1e-12
    while failed.any():
        if jitter > 1:
            raise ValueError(
                "The rows must be finite and of moderate size; a block's Gram matrix cannot be factorized."
            )
        bad = failed.nonzero().squeeze(-1)
        mean = diagonal[bad].mean(-1, keepdim=True)
        scale = torch.where(diagonal[bad] > 0, diagonal[bad], torch.where(mean > 0, mean, 1.0))
        factor[bad], failed[bad] = factorize(matrix[bad] + torch.diag_embed(jitter * scale), diagonal[bad])
        jitter *= 10
    return factor.mT
