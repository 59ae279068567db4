"""The terms of a fitted polynomial, as many as can be read."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from polyladder.analysis.coefficients import coefficients
from polyladder.explain.fitted import FittedModel

LIMIT = 100_000
"""A polynomial with more terms than this is not multiplied out."""


@dataclass(frozen=True)
class Term:
    """A coefficient times powers of named inputs."""

    coefficient: float
    powers: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Formula:
    """The largest terms of one output, by degree and then by size: the way a polynomial is read.

    Attributes:
        output: what it is.
        terms: empty where there are too many to multiply out.
        total: how many terms the polynomial has.
        own_units: whether the inputs are the table's columns; else they are the transformed features.
        rest: the sum of the sizes of all other coefficients: a bound on what they add while no input exceeds 1.
        error: root mean square, over rows, of what the other terms add; None without rows.
    """

    output: str
    terms: tuple[Term, ...]
    total: int
    own_units: bool
    rest: float
    error: float | None


def term_count(model: FittedModel) -> int:
    """How many terms the polynomial has, those that are zero included."""
    return math.comb(model.ladders.in_features + model.ladders.order, model.ladders.order)


def formulas(model: FittedModel, count: int, z: Tensor | None = None) -> list[Formula]:
    """The largest terms of each output. If that is all of them, they are in the table's own units where those fold in.

    Args:
        model: as `read_model` found it. Of a posterior the mean of its draws is written.
        count: how many terms.
        z: transformed rows to measure the rest over. Shape (n, d).
    """
    total = term_count(model)
    if total > LIMIT:
        return [Formula(name, (), total, False, math.inf, None) for name in model.output_names]
    polynomial = model.estimator.polynomial_
    own_units = count >= total and model.features.affine() is not None
    names = model.features.names_in_ if own_units else model.features.feature_names_out_
    written = coefficients(model.estimator.polynomial_in_original_units() if own_units else polynomial, LIMIT)
    found = []
    for k, output in enumerate(model.output_names):
        values = written.values[:, k]
        order = values.abs().argsort(descending=True, stable=True)
        shown, rest = order[:count], order[count:]
        error = None
        if z is not None:
            kept = written.exponents[shown].to(z)
            part = z.unsqueeze(1).pow(kept).prod(-1) @ values[shown] if not own_units else polynomial(z)[:, k]
            error = (polynomial(z)[:, k] - part).square().mean().sqrt().item()
        terms = [
            Term(values[i].item(), tuple((names[j], e) for j, e in enumerate(written.exponents[i].tolist()) if e))
            for i in shown.tolist()
            if values[i] != 0
        ]
        terms.sort(key=lambda term: (sum(e for _, e in term.powers), -abs(term.coefficient)))
        found.append(Formula(output, tuple(terms), total, own_units, values[rest].abs().sum().item(), error))
    return found
