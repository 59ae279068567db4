"""`formula` and `to_sympy` of ladders and of fitted estimators: shortened, with a proven error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from polyladder.analysis.coefficients import coefficients
from polyladder.convert.exported.ranges import input_box
from polyladder.convert.formula import LadderFormula, ladder_formula, pruned, rounded, rounding_error
from polyladder.convert.printed import decimal_place, rounded_within, shortest
from polyladder.export.fitted_formula import FittedFormula
from polyladder.export.formula_inputs import formula_inputs, mapping
from polyladder.export.formula_terms import Powers, merged
from polyladder.fitted.answers import Classes, Draws, Numbers, Probit
from polyladder.fitted.model import AnyModel, FittedModel, fitted_model
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.substitute import substitute

MAX_TERMS = 1_000_000
"""Monomials before pruning, at most."""

MOVED = 0.01
"""How far the ends of a ramp may be rounded, as a share of its half width, however large the budget is."""


def to_sympy(
    model: AnyModel,
    names: Sequence[str] | None = None,
    digits: int | None = None,
    prune: float | None = None,
    max_terms: int = MAX_TERMS,
    tolerance: float = 0.0,
) -> Any:
    """The sympy expression of a ladder, or of a fitted estimator in the units of its table.

    Args:
        model: a `LadderPolynomial`, or a fitted estimator with a ladder behind it.
        names: of a ladder's inputs; x0, x1, ... if not given. An estimator has its own.
        digits: round each coefficient to this many significant digits. By default they keep all, and of an estimator
            with a tolerance as many as that needs.
        prune: for a ladder: drop terms that together cannot change an output by more than this on [-1, 1]^d.
        max_terms: refuse a polynomial with more monomials than this before pruning.
        tolerance: for an estimator: drop terms; see `formula`.

    Returns:
        One expression for one output, a list of them for several.

    Example:
        >>> import torch
        >>> from polyladder import LadderPolynomial
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero + 2,), readout=one, offset=zero - 1)
        >>> to_sympy(square, ["speed"])
        1.0*speed**2 + 2.0*speed - 1.0
    """
    found = formula(model, names, digits, prune, max_terms, tolerance)
    written = list(found.expressions) if isinstance(found, LadderFormula) else found.expressions()
    return written[0] if len(written) == 1 else written


def formula(
    model: AnyModel,
    names: Sequence[str] | None = None,
    digits: int | None = None,
    prune: float | None = None,
    max_terms: int = MAX_TERMS,
    tolerance: float = 0.0,
) -> LadderFormula | FittedFormula:
    """As `to_sympy`, with a bound on the error of pruning and rounding.

    Of a ladder the error is that on [-1, 1]^d. Of an estimator it is a formula in columns that are mapped
    to [-1, 1] (indicators stay 0 or 1): no monomial exceeds 1 there, so the terms that are left out cannot add more
    than the sum of their coefficients. ``tolerance`` says how much that and the rounding of all numbers may be: for
    numbers as a share of the range of the training targets, for classes as a change of probability. The stated error
    is that of the text: of its coefficients, its inputs and the range that predictions are held to, as printed. Of a
    posterior the mean of its draws is written.
    """
    if isinstance(model, LadderPolynomial):
        if tolerance:
            raise ValueError("tolerance must be left out for a ladder, whose outputs have no range; use prune.")
        return ladder_formula(model, names, digits, prune, max_terms)
    if names is not None or prune is not None:
        raise ValueError("names and prune must be left out for an estimator, which has its own; use tolerance.")
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must be at least 0 and below 1; got {tolerance!r}. Write 1 % as 0.01.")
    if digits is not None and (isinstance(digits, bool) or not isinstance(digits, int) or digits < 1):
        raise ValueError(f"digits must be a positive integer or None; got {digits!r}.")
    description = fitted_model(model)
    return fitted_formula(description, budget_of(description, tolerance), digits, max_terms)


def budget_of(description: FittedModel, tolerance: float) -> float:
    """What the terms that are left out of an output may add."""
    if isinstance(description.answer, Numbers | Draws):
        if description.answer.span is None:
            raise ValueError("tolerance must be left out for a ladder by itself, which knows no range of a target.")
        return tolerance * min(high - low for low, high in zip(*description.answer.span, strict=True))
    # A logistic function has slopes of at most 1/4; a softmax whose scores all move has 1/2, a normal one 0.4 each.
    alone = description.ladders.out_features == 1 and isinstance(description.answer, Classes)
    return tolerance * (4.0 if alone else 2.0)


def fitted_formula(model: FittedModel, budget: float, digits: int | None, max_terms: int) -> FittedFormula:
    """The mean ladder over mapped inputs, its smallest terms left out and its numbers as short as the budget allows."""
    input_box(model)  # which refuses columns that are not held to a range
    ranges = [mapping(feature) for feature in model.steps]
    half = torch.tensor([h for _, h in ranges], dtype=torch.float64)
    middle = torch.tensor([m for m, _ in ranges], dtype=torch.float64)
    written = coefficients(substitute(model.ladders, torch.diag(half), middle), max_terms)
    monomials = [tuple((i, e) for i, e in enumerate(row) if e) for row in written.exponents.tolist()]
    powers, values = merged(model, monomials, written.values.mean(0), ranges)
    summed = len(model.ladders) + len(monomials) - len(powers)
    unsure = rounding_error(model.ladders, half.abs() + middle.abs(), summed)
    # An eighth of the budget is for the ends of ramps: a power of an input moves by so many times as much.
    heaviest = float(values.abs().sum(0).max()) * model.ladders.order
    inputs, drifts = formula_inputs(model, min(MOVED, budget / 8 / heaviest) if heaviest > 0 else 0.0)
    terms, errors = [], []
    for exact, rounding in zip(values.unbind(-1), unsure.tolist(), strict=True):
        moved = math.fsum(abs(v) * drift_of(p, drifts) for v, p in zip(exact.tolist(), powers, strict=True))
        shown = shortened(exact, budget - moved - rounding, digits)
        kept = [(v, p) for v, p in zip(shown, powers, strict=True) if v != 0]
        kept.sort(key=lambda term: (sum(e for _, e in term[1]), -abs(term[0])))
        terms.append(tuple(kept))
        lost = math.fsum(abs(v - e) for v, e in zip(shown, exact.tolist(), strict=True))
        errors.append((lost + moved) * (1 + 1e-9) + rounding)
    return FittedFormula(output_names(model), inputs, tuple(terms), tuple(errors), len(powers), note_of(model, errors))


def drift_of(powers: Powers, drifts: Sequence[Fraction]) -> float:
    """By how much a monomial moves at most where its inputs, between -1 and 1, move by so much."""
    return math.expm1(math.fsum(e * math.log1p(float(drifts[i])) for i, e in powers))


def shortened(exact: Tensor, budget: float, digits: int | None) -> list[float]:
    """Coefficients of which all changes together keep to a budget: the smallest are zero, the others have few digits.

    With given digits the others have these, whatever they cost.
    """
    if digits is not None:
        # What rounding may take of the budget is set aside, so that both together keep it.
        aside = math.fsum(abs(v - e) for v, e in zip(rounded(exact.tolist(), digits), exact.tolist(), strict=True))
        return rounded(pruned(exact, max(0.0, budget - aside)).tolist(), digits)
    if budget <= 0:
        return exact.tolist()
    kept = pruned(exact, 0.75 * budget).tolist()
    # Rounding to a decimal place moves each by half a unit at most: a quarter of the budget for all.
    place = decimal_place(0.5 * budget / max(1, sum(v != 0 for v in kept)))
    return [round(v, -place) for v in kept]


def output_names(model: FittedModel) -> tuple[str, ...]:
    """What each output of the ladders is."""
    m, answer = model.ladders.out_features, model.answer
    if isinstance(answer, Classes | Probit):
        kind = "probit" if isinstance(answer, Probit) else "log-odds"
        return (f"{kind} of {answer.labels[1]}",) if m == 1 else tuple(f"score of {label}" for label in answer.labels)
    return (model.target,) if m == 1 else tuple(f"{model.target} {j + 1}" for j in range(m))


def note_of(model: FittedModel, errors: Sequence[float]) -> str:
    """What stands between the formula and a prediction; rounded, it moves none by more than the formula's own error."""
    if isinstance(model.answer, Draws | Probit):
        return "The mean over the posterior's draws; predictions are their median, or the mean of their probabilities."
    if not isinstance(model.answer, Numbers) or model.answer.guard is None:
        return ""
    lines = []
    for name, low, high, error in zip(output_names(model), *model.answer.guard, errors, strict=True):
        whose = "Predictions" if len(errors) == 1 else f"Predictions of {name}"
        ends = (shortest(rounded_within(end, error)) for end in (low, high))
        lines.append(f"{whose} are held to {' ... '.join(ends)}.")
    return "\n".join(lines)
