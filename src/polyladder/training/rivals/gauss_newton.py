"""Gauss-Newton steps with an exact line search, for models that are polynomials in their weights.

Along any line in the weights the outputs of a factorization machine or a polynomial-kernel network are polynomials of
the step length, and so is their squared error: its lowest point is found exactly, and the loss cannot rise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from polyladder.analysis.real_roots import lowest_within
from polyladder.training.solves.blocks import chunks
from polyladder.training.solves.cholesky import cholesky

LONGEST = 2.0
"""Longest step, in Gauss-Newton directions."""


class Structure(Protocol):
    """A family of models at fixed rows, its weights as vectors theta.

    s counts the parts of a model that share no weight (the outputs of a factorization machine), o the outputs of a
    part: one of the two is 1, the other m.

    Attributes:
        degree: of the outputs as a polynomial of the step length, along any line in the weights.
        groups: the number of the ridge weight of every weight; -1 for one that is not penalized. Shape (p,).
    """

    degree: int
    groups: Tensor

    def outputs(self, theta: Tensor) -> Tensor:
        """Outputs at all rows. Shape (B, s, p) to (B, s, o, n)."""

    def derivatives(self, theta: Tensor, rows: slice) -> Tensor:
        """Derivatives of the outputs at some rows by every weight. Shape (B, s, p) to (B, s, o, p, rows)."""

    def balanced(self, theta: Tensor) -> Tensor:
        """Weights of the same function whose norm is as small as rescaling can make it. Shape (B, s, p)."""


@dataclass(frozen=True)
class Quadratic:
    """What a step lowers: sum_n w_n |f_n - response_n|^2 / total + sum_i penalty_i theta_i^2.

    Attributes:
        response: shape (B, s, o, n).
        weight: of the rows. Shape (B, n) or (1, n).
        total: what to divide by. Shape (B,) or (1,).
        penalty: shape (B, 1, p).
    """

    response: Tensor
    weight: Tensor
    total: Tensor
    penalty: Tensor

    def value(self, f: Tensor, theta: Tensor) -> Tensor:
        """Its value for every part. Shape (B, s)."""
        errors = ((f - self.response).square().sum(2) * self.weight.unsqueeze(1)).sum(-1)
        return errors / self.total.unsqueeze(-1) + (self.penalty * theta.square()).sum(-1)


@dataclass(frozen=True)
class NewtonStep:
    """Where a step leads.

    Attributes:
        theta: the weights after it. Shape (B, s, p).
        f: their outputs. Shape (B, s, o, n).
        damping: for the next step. Shape (B, s).
        determined: how much of each weight the data determine rather than the ridge, from 0 to 1. Shape (B, s, p).
    """

    theta: Tensor
    f: Tensor
    damping: Tensor
    determined: Tensor


def gauss_newton_step(
    structure: Structure, theta: Tensor, f: Tensor, quadratic: Quadratic, damping: Tensor, estimating: bool
) -> NewtonStep:
    """One damped Gauss-Newton step of exactly the best length.

    The direction solves (G + penalty + damping diag(G)) step = -gradient / 2, G being the Gram matrix of the
    derivatives. A short best length means that the direction was poor: the damping grows. A long one: it shrinks.

    Args:
        structure: the family, at its rows.
        theta: where to start. Shape (B, s, p).
        f: the outputs there. Shape (B, s, o, n).
        quadratic: what to lower.
        damping: relative to the diagonal. Shape (B, s).
        estimating: whether ``determined`` is wanted; it is zero otherwise.
    """
    gram, moment = joint_equations(structure, theta, f, quadratic)
    B, s, p = theta.shape
    penalty = quadratic.penalty.expand_as(theta)
    lifted = penalty + damping.unsqueeze(-1) * gram.diagonal(dim1=-2, dim2=-1)
    factor = cholesky(gram.flatten(0, 1), lifted.flatten(0, 1))
    gradient = (moment - penalty * theta).flatten(0, 1).unsqueeze(-1)
    direction = torch.cholesky_solve(gradient, factor).reshape(B, s, p)
    length = best_length(structure, theta, direction, quadratic)
    new = theta + length.unsqueeze(-1) * direction
    new_f = structure.outputs(new)
    # The line's polynomial is exact up to rounding, which may decide where there is nothing left to gain.
    lower = quadratic.value(new_f, new) <= quadratic.value(f, theta)
    damping = torch.where(length < 0.3, 4 * damping, torch.where(length > 0.7, damping / 3, damping))
    damping = torch.where(lower, damping, 4 * damping).clamp(1e-9, 1e3)
    return NewtonStep(
        torch.where(lower.unsqueeze(-1), new, theta),
        torch.where(lower[..., None, None], new_f, f),
        damping,
        determined_share(gram, penalty) if estimating else torch.zeros_like(theta),
    )


def joint_equations(structure: Structure, theta: Tensor, f: Tensor, quadratic: Quadratic) -> tuple[Tensor, Tensor]:
    """Gram matrix of the derivatives, and their products with the residuals. Shapes (B, s, p, p) and (B, s, p)."""
    B, s, p = theta.shape
    gram, moment = theta.new_zeros(B, s, p, p), theta.new_zeros(B, s, p)
    root = quadratic.weight.sqrt()[:, None, None]
    missing = (quadratic.response - f) * root
    for rows in chunks(f.shape[-1], B * s * f.shape[2] * p):
        slopes = structure.derivatives(theta, rows) * root[..., None, rows]
        gram += (slopes @ slopes.mT).sum(2)
        moment += (slopes @ missing[..., rows].unsqueeze(-1)).squeeze(-1).sum(2)
    scale = quadratic.total.reshape(-1, 1, 1)
    return gram / scale.unsqueeze(-1), moment / scale


def determined_share(gram: Tensor, penalty: Tensor) -> Tensor:
    """1 - penalty * diagonal of (gram + penalty)^-1. Shape (B, s, p)."""
    inverse = torch.cholesky_inverse(cholesky(gram.flatten(0, 1), penalty.flatten(0, 1)))
    return 1 - penalty * inverse.diagonal(dim1=-2, dim2=-1).reshape(penalty.shape)


def best_length(structure: Structure, theta: Tensor, direction: Tensor, quadratic: Quadratic) -> Tensor:
    """The step length in [0, LONGEST] at which the quadratic is lowest. Shape (B, s)."""
    nodes, to_powers = interpolation(structure.degree)
    values = torch.stack([structure.outputs(theta + t * direction) for t in nodes], -1)
    series = (values - quadratic.response.unsqueeze(-1)) @ to_powers.to(theta).mT
    weighted = series * quadratic.weight[:, None, None, :, None]
    products = (weighted.flatten(2, 3).mT @ series.flatten(2, 3)) / quadratic.total.reshape(-1, 1, 1, 1)
    size = structure.degree + 1
    loss = theta.new_zeros(*theta.shape[:2], 2 * size - 1)
    for power in range(size):
        loss[..., power : power + size] += products[..., power, :]
    for power, term in enumerate((theta.square(), 2 * theta * direction, direction.square())):
        loss[..., power] += (quadratic.penalty * term).sum(-1)
    columns, start = loss.flatten(0, 1).mT.contiguous(), loss.new_zeros(len(loss) * loss.shape[1])
    return lowest_within(columns, start, start + LONGEST)[0].reshape(loss.shape[:-1])


@cache
def interpolation(degree: int) -> tuple[list[float], Tensor]:
    """Chebyshev nodes in [0, LONGEST], and the matrix from values there to coefficients of powers."""
    count = degree + 1
    nodes = (1 + torch.cos(math.pi * (torch.arange(count, dtype=torch.float64) + 0.5) / count)) * LONGEST / 2
    return nodes.tolist(), torch.linalg.inv(nodes.unsqueeze(-1) ** torch.arange(count))
