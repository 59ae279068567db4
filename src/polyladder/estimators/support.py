"""How well training rows support predictions: leverages of their hidden states in the readout regression."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.estimators.rows import TrainingRows
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.layout import Layout
from polyladder.polynomial.rungs import last_states
from polyladder.polynomial.sparse import is_sparse, take_rows
from polyladder.polynomial.trim import trim, used
from polyladder.training.solves.cholesky import cholesky

MOST_ROWS = 3_000
"""Most rows that the support is learned from, evenly spread over all: the matrix is a mean over rows, so that more
would change it little."""


@dataclass(frozen=True)
class Support:
    """How the training rows support each member's readout.

    Attributes:
        count: how many training rows there were.
        factor: lower Cholesky factor of the mean of h h' over them, h = [h^L, 1]. Shape (members, k + 1, k + 1).
        largest: the largest leverage of a training row. Shape (members,).
    """

    count: int
    factor: Tensor
    largest: Tensor

    @property
    def gram(self) -> Tensor:
        """The sum of h h' over the training rows, with the trace of a ridge that the factor has. Shape as factor's."""
        return self.count * self.factor @ self.factor.mT

    def leverages(self, members: LadderPolynomial, z: Tensor) -> Tensor:
        """Leverage times the number of rows, h' (gram / count)^-1 h, at each row. Shape (members, n)."""
        return leverages(self.factor, states(members, z))

    def select(self, members: list[int]) -> Support:
        """The support of some of the members."""
        return Support(self.count, self.factor[members], self.largest[members])


def support(members: LadderPolynomial, rows: TrainingRows, before: Support | None) -> Support:
    """The support by these rows, at most `MOST_ROWS` of them, and, if given, earlier ones."""
    used = torch.arange(len(rows.z)) if rows.weight is None else (rows.weight > 0).nonzero().squeeze(-1)
    some = used[torch.linspace(0, len(used) - 1, min(len(used), MOST_ROWS)).round().long()]
    z = rows.z if len(some) == len(rows.z) else take_rows(rows.z, some)
    width = members.readout.shape[-1] + 1
    gram = torch.zeros(len(members), width, width, dtype=torch.float64) if before is None else before.gram
    count = len(z) if before is None else len(z) + before.count
    h = states(members, z)
    gram += h.mT @ h
    # Units that the ridge has switched off leave empty columns; a trace of it keeps the matrix invertible.
    scale = gram.diagonal(dim1=-2, dim2=-1).amax(-1, keepdim=True) / count
    factor = cholesky(gram / count, 1e-10 * scale.expand(-1, width))
    largest = leverages(factor, h).amax(-1)
    return Support(count, factor, largest if before is None else largest.maximum(before.largest))


def leverages(factor: Tensor, h: Tensor) -> Tensor:
    """H' (gram / count)^-1 h of each row, from the matrix's factor. Shape (members, n)."""
    return torch.linalg.solve_triangular(factor, h.mT, upper=False).square().sum(-2)


def states(members: LadderPolynomial, z: Tensor) -> Tensor:
    """[h^L, 1] of each row; states that nothing reads are zero. Shape (members, n, k + 1)."""
    h = z.new_zeros(len(members), len(z), members.readout.shape[-1] + 1, layout=torch.strided)
    h[..., -1] = 1.0
    if members.W and not is_sparse(z) and all_read(members):
        for rows, last in Layout.of(members).last_states(z):
            h[:, rows, :-1] = last.mT
        return h
    for own, member in zip(h, members, strict=True):
        # One by one and trimmed: members of a selection are of several kinds, padded to the widest.
        small, kept = trim(member), used(member.readout)
        own[:, kept] = small.hidden_states(z)[-1] if is_sparse(z) else last_states(small, z)
    return h


def all_read(members: LadderPolynomial) -> bool:
    """Whether every unit of every member is read by something."""
    return all(bool((weight != 0).any(-2).all()) for weight in (*members.W[1:], members.readout))
