"""A factorization machine as blocks: with the weights of all other inputs fixed, it is linear in those of one input."""

from __future__ import annotations

import torch
from torch import Tensor

from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.training.interrupt import check_interrupt
from polyladder.training.rivals.gauss_newton import NewtonStep, Quadratic
from polyladder.training.solves.cholesky import cholesky


class MachineStructure:
    """Factorization machines of one shape at fixed rows; every output is a part of its own.

    A weight vector is [offset, linear (d), factors (rank d), factors3 (rank d)]. The offset is not penalized; the
    linear part, the pairs and the triples have a ridge weight each.

    Args:
        net: machines of this shape.
        x: inputs, rows last. Shape (d, n).
    """

    def __init__(self, net: FactorizationMachine, x: Tensor) -> None:
        self.x, self.square, self.cube = x, x.square(), x.pow(3)
        self.degree, self.rank, self.d = net.order, net.rank, net.in_features
        sizes = [self.d, *[self.rank * self.d] * (net.order - 1)]
        self.sizes = [1, *sizes]
        self.groups = torch.tensor([-1] + [g for g, size in enumerate(sizes) for _ in range(size)], device=x.device)

    def parts(self, theta: Tensor) -> list[Tensor]:
        """Offset (..., 1), linear (..., d), factors (..., rank, d) and, at order 3, factors3."""
        offset, linear, *factors = torch.split(theta, self.sizes, -1)
        return [offset, linear, *(t.reshape(*t.shape[:-1], self.rank, self.d) for t in factors)]

    def outputs(self, theta: Tensor) -> Tensor:
        """Outputs at all rows."""
        offset, linear, *factors = self.parts(theta)
        f = offset + (linear.unsqueeze(-2) @ self.x).squeeze(-2)
        first = factors[0] @ self.x
        f = f + (first.square() - factors[0].square() @ self.square).sum(-2) / 2
        if len(factors) == 2:
            first, second = factors[1] @ self.x, factors[1].square() @ self.square
            f = f + (first * (first.square() - 3 * second) + 2 * (factors[1].pow(3) @ self.cube)).sum(-2) / 6
        return f.unsqueeze(-2)

    def derivatives(self, theta: Tensor, rows: slice) -> Tensor:
        """1, x, x_j times the sum over the other inputs and, at order 3, x_j times the sum over pairs of them."""
        _, linear, *factors = self.parts(theta)
        x = self.x[:, rows]
        lead, n = linear.shape[:-1], x.shape[-1]
        others = (factors[0] @ x).unsqueeze(-2) - factors[0].unsqueeze(-1) * x
        parts = [x.new_ones(*lead, 1, n), x.expand(*lead, -1, -1), (others * x).flatten(-3, -2)]
        if len(factors) == 2:
            own = factors[1].unsqueeze(-1) * x
            first = factors[1] @ x
            pairs = (first.square() - factors[1].square() @ self.square[:, rows]) / 2
            parts.append(((pairs.unsqueeze(-2) - own * (first.unsqueeze(-2) - own)) * x).flatten(-3, -2))
        return torch.cat(parts, -2).unsqueeze(-3)

    def balanced(self, theta: Tensor) -> Tensor:
        """The weights themselves: every rescaling would change the machine."""
        return theta


def column_sweep(
    structure: MachineStructure, theta: Tensor, f: Tensor, quadratic: Quadratic, estimating: bool
) -> NewtonStep:
    """Solve the weights of one input after another exactly, each with the offset: 2 + rank (order - 1) weights.

    Args:
        structure: the machines, at their rows.
        theta: where to start. Shape (B, m, p).
        f: the outputs there. Shape (B, m, 1, n).
        quadratic: what to lower.
        estimating: whether ``determined`` is wanted; it is zero otherwise.
    """
    theta, f = theta.clone(), f.squeeze(2)
    share = torch.zeros_like(theta)
    at = column_positions(structure).to(theta.device)
    penalty = quadratic.penalty.expand_as(theta)
    response, rows = quadratic.response.squeeze(2), quadratic.weight.unsqueeze(1)
    scale = quadratic.total.reshape(-1, 1, 1)
    factors = structure.parts(theta)[2:]
    # Sums over all inputs, s . x, and for triples over all pairs as well; one input's part is taken out and put back.
    sums = [s @ structure.x for s in factors]
    pairs = (sums[-1].square() - factors[-1].square() @ structure.square) / 2
    for j, x in enumerate(structure.x):
        check_interrupt()
        old = [s[..., j].unsqueeze(-1) * x for s in factors]
        others = [total - own for total, own in zip(sums, old, strict=True)]
        seen = [others[0]]
        if len(factors) == 2:
            other_pairs = pairs - old[1] * others[1]
            seen.append(other_pairs)
        ones = x.new_ones(*theta.shape[:2], 1, len(x))
        features = torch.cat([ones, x * torch.cat([ones, *seen], 2)], 2)
        weighted = features * rows.unsqueeze(2)
        gram = weighted @ features.mT / scale.unsqueeze(-1)
        ridge = penalty[..., at[j]]
        factor = cholesky(gram.flatten(0, 1), ridge.flatten(0, 1))
        # Solved for the change, so that rounding affects only the step and the quadratic does not rise.
        missing = (weighted @ (response - f).unsqueeze(-1)).squeeze(-1) / scale - ridge * theta[..., at[j]]
        change = torch.cholesky_solve(missing.flatten(0, 1).unsqueeze(-1), factor).reshape(missing.shape)
        if estimating:
            inverse = torch.cholesky_inverse(factor).diagonal(dim1=-2, dim2=-1).reshape(missing.shape)
            share[..., at[j]] = 1 - ridge * inverse
        theta[..., at[j]] += change
        f = f + (change.unsqueeze(2) @ features).squeeze(2)
        factors = structure.parts(theta)[2:]
        changed = [s[..., j].unsqueeze(-1) * x for s in factors]
        sums = [other + own for other, own in zip(others, changed, strict=True)]
        if len(factors) == 2:
            pairs = other_pairs + changed[1] * others[1]
    return NewtonStep(theta, f.unsqueeze(2), theta.new_zeros(theta.shape[:2]), share)


def column_positions(structure: MachineStructure) -> Tensor:
    """For each input, where its weights stand in a weight vector, the offset first. Shape (d, 2 + rank (order - 1))."""
    d, ranks = structure.d, structure.rank * (structure.degree - 1)
    own = torch.arange(d).unsqueeze(-1) + 1 + d * torch.arange(1 + ranks)
    return torch.cat([torch.zeros(d, 1, dtype=torch.long), own], -1)
