"""The open boxes of branch and bound: where they lie, what is proven on them, and how they are halved."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.jacobian import jacobian
from polyladder.analysis.monomials import terms
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness.bounds import functionals, upper_bounds
from polyladder.robustness.region import Region, box
from polyladder.robustness.space import Space
from polyladder.robustness.written import NUMBERS, chunks, cost, halves, write_out, written_upper

MEMORY = 2**26
"""Numbers that all open boxes together may hold: half a gigabyte."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """Boxes, each belonging to one of the problems.

    Attributes:
        problem: whose. Shape (c,).
        lower: shape (c, d).
        upper: shape (c, d).
        coefficients: of the polynomial over the box, where it is written out; else no columns. Shape (c, N).
        error: a bound on the sum of their errors. Shape (c,).
        bound: proven upper bound. Shape (c,).
        variable: the input to halve. Shape (c,).
    """

    problem: Tensor
    lower: Tensor
    upper: Tensor
    coefficients: Tensor
    error: Tensor
    bound: Tensor
    variable: Tensor

    def __len__(self) -> int:
        return len(self.problem)

    def __getitem__(self, at: Tensor) -> Nodes:
        """Some of the boxes."""
        return Nodes(*(t[at] for t in vars(self).values()))


def joined(nodes: list[Nodes]) -> Nodes:
    """All boxes of several lists."""
    return Nodes(*(torch.cat([vars(each)[name] for each in nodes]) for name in vars(nodes[0])))


@dataclass(frozen=True, eq=False)
class Tree:
    """How boxes of one ladder are bounded and halved.

    Attributes:
        polynomial: float64, a single one.
        weights: for each problem, of the outputs. Shape (q, m).
        space: what the inputs are tied to.
    """

    polynomial: LadderPolynomial
    weights: Tensor
    space: Space

    @property
    def is_written(self) -> bool:
        """Whether the polynomial is written out."""
        return cost(self.polynomial) <= NUMBERS and self.space.surface.is_smooth

    @property
    def capacity(self) -> int:
        """How many boxes may be open at the same time."""
        p = self.polynomial
        return max(64, MEMORY // ((terms(p.in_features, p.order) if self.is_written else 1) + 2 * p.in_features))

    @property
    def batch(self) -> int:
        """How many boxes are halved together."""
        p = self.polynomial
        size = terms(p.in_features, p.order) if self.is_written else 4 * p.in_features * max((1, *p.hidden))
        return max(8, min(512, 2**20 // size))

    def roots(self, region: Region) -> tuple[Nodes, Tensor]:
        """The box of each problem, and a point in it."""
        lower, upper, _ = self.space.snapped(*region.cover)
        return self.bounded(torch.arange(len(region)), lower, upper)

    def bounded(self, problem: Tensor, lower: Tensor, upper: Tensor) -> tuple[Nodes, Tensor]:
        """Boxes of some problems, and a point in each."""
        if not self.is_written:
            return self.examined(problem, lower, upper)
        region = box(lower, upper)
        readout, offset = functionals(self.polynomial, self.weights[problem].unsqueeze(1))
        found = [
            write_out(self.polynomial, region[at], readout.at(at), offset.at(at))
            for at in chunks(self.polynomial, len(region))
        ]
        coefficients, error = (torch.cat(each).squeeze(1) for each in zip(*found, strict=True))
        return self.read(problem, lower, upper, coefficients, error)

    def split(self, nodes: Nodes) -> tuple[Nodes, Tensor, Tensor]:
        """Both parts of every box, as far as they hold rows; a point in each; and which of 2 c parts are there."""
        at, problem = nodes.variable.unsqueeze(-1), nodes.problem.repeat(2)
        cut = self.space.cut(nodes.lower, nodes.upper, nodes.variable).unsqueeze(-1)
        lower = torch.cat([nodes.lower, nodes.lower.scatter(1, at, cut)])
        upper = torch.cat([nodes.upper.scatter(1, at, cut), nodes.upper])
        lower, upper, exists = self.space.snapped(lower, upper)
        if not (self.is_written and self.space.is_free):
            return *self.bounded(problem[exists], lower[exists], upper[exists]), exists
        p = self.polynomial
        coefficients, error = halves(nodes.coefficients, nodes.error, nodes.variable, p.in_features, p.order)
        return *self.read(problem, lower, upper, coefficients.flatten(0, 1), error.repeat(2)), exists

    def read(
        self, problem: Tensor, lower: Tensor, upper: Tensor, coefficients: Tensor, error: Tensor
    ) -> tuple[Nodes, Tensor]:
        """Bound boxes over which the polynomial is written out."""
        p = self.polynomial
        bound, points, score = written_upper(coefficients, error, p.in_features, p.order, "inf")
        bound = torch.nan_to_num(bound, nan=torch.inf)
        # Where nothing is lost any more every input is as good as another: the longest side, then.
        variable = torch.where(upper > lower, score + 1e-300, -1.0).argmax(-1)
        middle, half = (lower + upper) / 2, (upper - lower) / 2
        nodes = Nodes(problem, lower, upper, coefficients, error, bound, variable)
        return nodes, self.space.rows(middle + half * points, lower, upper)

    def examined(self, problem: Tensor, lower: Tensor, upper: Tensor) -> tuple[Nodes, Tensor]:
        """Bound boxes layer by layer."""
        region = self.space.lifted(lower, upper)
        weights = self.weights[problem].unsqueeze(1)
        bound, points = upper_bounds(self.polynomial, region, weights)
        loss = (weights @ jacobian(self.polynomial, region.center)).squeeze(1).abs() * region.radius
        loss = self.space.share(loss, lower.shape[1])
        variable = torch.where(upper > lower, loss + 1e-300, -1.0).argmax(-1)
        empty = lower.new_empty(len(lower), 0)
        nodes = Nodes(problem, lower, upper, empty, lower.new_zeros(len(lower)), bound[:, 0], variable)
        return nodes, self.space.rows(points[:, 0, : lower.shape[1]], lower, upper)
