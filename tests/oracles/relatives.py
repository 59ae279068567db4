"""Factorization machines and polynomial kernels by their definitions, in exact rational arithmetic."""

from fractions import Fraction
from itertools import combinations
from math import prod

import torch


def factorization_machine(
    w0: float, w: torch.Tensor, factors_by_degree: list[torch.Tensor], x: list[float]
) -> tuple[float, float]:
    """One row: a sum over every tuple of distinct inputs and every factor.

    ``factors_by_degree`` holds those of degree 2, then 3, each (rank, d). Returned are the value and the sum of the
    absolute terms, the scale against which rounding is to be judged.
    """
    inputs = [Fraction(v) for v in x]
    terms = [Fraction(w0)] + [Fraction(a) * b for a, b in zip(w.tolist(), inputs, strict=True)]
    for degree, factors in enumerate(factors_by_degree, start=2):
        for s in factors.tolist():
            for chosen in combinations(range(len(inputs)), degree):
                terms.append(prod((Fraction(s[i]) * inputs[i] for i in chosen), start=Fraction(1)))
    return float(sum(terms)), float(sum(map(abs, terms)))


def polynomial_kernel(
    weights: list[float], intercepts: list[float], directions: torch.Tensor, degree: int, x: list[float]
) -> float:
    """One row: the weighted sum of powers."""
    total = Fraction(0)
    for weight, intercept, direction in zip(weights, intercepts, directions.tolist(), strict=True):
        inner = sum((Fraction(p) * Fraction(v) for p, v in zip(direction, x, strict=True)), Fraction(intercept))
        total += Fraction(weight) * inner**degree
    return float(total)
