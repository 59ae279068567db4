"""Derivatives by central differences in rational arithmetic: no rounding, so the step can be as small as one likes."""

from fractions import Fraction

import torch

from polyladder import LadderPolynomial
from tests.oracles.ladder import evaluate

STEP = Fraction(1, 10**15)
"""The error of a central difference is of the order of its square."""


def difference_jacobian(p: LadderPolynomial, x: torch.Tensor) -> torch.Tensor:
    """One ladder at one row. Shape (m, d)."""
    row = [Fraction(v) for v in x.tolist()]
    columns = []
    for i in range(p.in_features):
        up, down = (evaluate(p, moved(row, i, s * STEP)) for s in (1, -1))
        columns.append([float((a - b) / (2 * STEP)) for a, b in zip(up, down, strict=True)])
    return torch.tensor(columns, dtype=torch.float64).mT


def difference_hessian_vector(p: LadderPolynomial, x: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """One ladder at one row: mixed differences along each input and along the vector. Shape (m, d)."""
    row, v = ([Fraction(u) for u in t.tolist()] for t in (x, vector))
    columns = []
    for i in range(p.in_features):
        total = [Fraction(0)] * p.out_features
        for s in (1, -1):
            for r in (1, -1):
                along = [a + r * STEP * b for a, b in zip(row, v, strict=True)]
                corner = evaluate(p, moved(along, i, s * STEP))
                total = [a + s * r * b for a, b in zip(total, corner, strict=True)]
        columns.append([float(a / (4 * STEP**2)) for a in total])
    return torch.tensor(columns, dtype=torch.float64).mT


def moved(row: list[Fraction], i: int, by: Fraction) -> list[Fraction]:
    return [*row[:i], row[i] + by, *row[i + 1 :]]
