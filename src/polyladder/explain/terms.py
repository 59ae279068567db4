"""The terms of a fitted polynomial, as many as can be read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from polyladder.analysis.coefficients import coefficients
from polyladder.analysis.jacobian import hessian_vector_product, jacobian
from polyladder.fitted.model import FittedModel
from polyladder.fitted.steps import Affine, Clip, Fill
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import substitute

LIMIT = 100_000
"""A polynomial with more terms than this is not multiplied out; its strongest terms are searched for."""

SEARCH = 10_000_000
"""Terms times units that are multiplied out where the strongest terms are searched for: a second or two."""


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
        terms: those terms.
        total: how many terms the polynomial has.
        own_units: whether the inputs are the table's columns; else they are the transformed features.
        rest: the sum of the sizes of all other coefficients: a bound on what they add while no input exceeds 1;
            infinite where not all terms were looked at.
        error: root mean square, over rows, of what the other terms add; None without rows.
        searched: where the terms were looked for, in words; empty if all of them were multiplied out.
    """

    output: str
    terms: tuple[Term, ...]
    total: int
    own_units: bool
    rest: float
    error: float | None
    searched: str = ""


def term_count(model: FittedModel) -> int:
    """How many terms the polynomial has, those that are zero included."""
    return math.comb(model.ladders.in_features + model.ladders.order, model.ladders.order)


def formulas(model: FittedModel, count: int, z: Tensor | None = None) -> list[Formula]:
    """The largest terms of each output. If that is all of them, they are in the table's own units where those fold in.

    Args:
        model: the model. Of a posterior the mean of its draws is written.
        count: how many terms.
        z: transformed rows to measure the rest over. Shape (n, d).
    """
    total, polynomial = term_count(model), model.polynomial
    folded = in_own_units(model) if count >= total else None
    names = model.input_names if folded is None else tuple(column.name for column in model.columns)
    searched = ""
    if total > LIMIT:
        exponents, coefficient, searched = searched_terms(polynomial)
    else:
        written = coefficients(polynomial if folded is None else folded, LIMIT)
        exponents, coefficient = written.exponents, written.values
    found = []
    for k, output in enumerate(model.output_names):
        values = coefficient[:, k]
        order = values.abs().argsort(descending=True, stable=True)
        shown, rest = order[:count], order[count:]
        error = None if z is None else 0.0
        if z is not None and folded is None:
            part = z.unsqueeze(1).pow(exponents[shown].to(z)).prod(-1) @ values[shown]
            error = (polynomial(z)[:, k] - part).square().mean().sqrt().item()
        terms = [
            Term(values[i].item(), tuple((names[j], e) for j, e in enumerate(exponents[i].tolist()) if e))
            for i in shown.tolist()
            if values[i] != 0
        ]
        terms.sort(key=lambda term: (sum(e for _, e in term.powers), -abs(term.coefficient)))
        bound = math.inf if searched else values[rest].abs().sum().item()
        found.append(Formula(output, tuple(terms), total, folded is not None, bound, error, searched))
    return found


def in_own_units(model: FittedModel) -> LadderPolynomial | None:
    """The polynomial over the table's own columns, scales folded in; None where a step is not affine.

    It equals the model inside the training range: holding values to a range is not polynomial and is left out.
    """
    matrix = torch.zeros(len(model.steps), len(model.columns), dtype=torch.float64)
    shift = torch.zeros(len(model.steps), dtype=torch.float64)
    for k, feature in enumerate(model.steps):
        bent = [step for step in feature.steps if not isinstance(step, Fill | Clip)]
        if len(bent) > 1 or not all(isinstance(step, Affine) for step in bent):
            return None
        scale = bent[0] if bent else Affine(0.0, 1.0)
        assert isinstance(scale, Affine)
        matrix[k, feature.column], shift[k] = 1.0 / scale.scale, -scale.shift / scale.scale
    return substitute(model.polynomial, matrix, shift)


def searched_terms(polynomial: LadderPolynomial) -> tuple[Tensor, Tensor, str]:
    """Terms of a polynomial with too many to multiply out: exponents, coefficients, and which terms those are.

    With all other inputs at zero, the terms of some inputs are left, with their exact coefficients: those of the
    strongest inputs are multiplied out. Constant, slopes and second derivatives at zero are all terms up to degree 2.
    Shapes (terms, d) and (terms, m).
    """
    d, order = polynomial.in_features, polynomial.order
    most = min(LIMIT, SEARCH // max(polynomial.hidden, default=1))
    size = next(s for s in range(d, 0, -1) if math.comb(s + order, order) <= most or s == 1)
    chosen = strongest_inputs(polynomial, size)
    part = coefficients(restricted(polynomial, chosen), LIMIT)
    exponents: Tensor = torch.zeros(len(part.exponents), d, dtype=torch.long)
    exponents[:, chosen] = part.exponents.long()
    low = low_degree_terms(polynomial)
    inside = torch.zeros(d, dtype=torch.long)
    inside[chosen] = 1
    outside = (low[0] * (1 - inside)).sum(1) > 0
    words = f"all terms of the {size} strongest inputs, and all of degree 1 and 2"
    return torch.cat([exponents, low[0][outside]]), torch.cat([part.values, low[1][outside]]), words


def strongest_inputs(polynomial: LadderPolynomial, count: int) -> Tensor:
    """Inputs by the mean square of their derivatives at standard normal points, summed over outputs, in their order."""
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(64, polynomial.in_features, generator=generator, dtype=torch.float64)
    slopes = jacobian(polynomial, points).square().mean(0).sum(0)
    return slopes.argsort(descending=True, stable=True)[:count].sort().values


def restricted(polynomial: LadderPolynomial, inputs: Tensor) -> LadderPolynomial:
    """The polynomial in some inputs, all others zero."""
    eye = torch.eye(polynomial.in_features, dtype=torch.float64)[:, inputs]
    return substitute(polynomial, eye, torch.zeros(polynomial.in_features, dtype=torch.float64))


def low_degree_terms(polynomial: LadderPolynomial) -> tuple[Tensor, Tensor]:
    """All terms of degree 1 and 2, from derivatives at zero. Shapes (terms, d), (terms, m)."""
    d = polynomial.in_features
    zero, eye = torch.zeros(1, d, dtype=torch.float64), torch.eye(d, dtype=torch.float64)
    slopes = jacobian(polynomial, zero)[0].T
    second = torch.stack([hessian_vector_product(polynomial, zero, direction)[0] for direction in eye])
    i, j = torch.triu_indices(d, d)
    halved = torch.where(i == j, 0.5, 1.0).unsqueeze(1)
    exponents = torch.cat([eye, eye[i] + eye[j]]).long()
    return exponents, torch.cat([slopes, second[i, :, j] * halved])
