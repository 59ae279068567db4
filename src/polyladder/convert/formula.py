"""A ladder as a formula that can be read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from polyladder.analysis.coefficients import coefficients
from polyladder.convert.printed import rounded_up
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.names import input_names
from polyladder.tables.number_style import counted

ROUNDED = 2.0**-53
"""The largest relative error of one operation."""

SHOWN = 50.0
"""Printing a sympy number with 15 digits changes it by as much as this many roundings."""


@dataclass(frozen=True)
class LadderFormula:
    """The outputs of a ladder as sympy expressions, with what was lost by shortening them.

    Args:
        expressions: one sympy expression for each output.
        errors: for each output, a number that the difference between the ladder and its expression does not exceed
            anywhere on [-1, 1]^d: no monomial exceeds 1 there, so it is the sum of the absolute changes of the
            coefficients, and what the arithmetic itself may have rounded.
        n_terms: for each output, how many monomials are left.
    """

    expressions: tuple[Any, ...]
    errors: tuple[float, ...]
    n_terms: tuple[int, ...]

    def __str__(self) -> str:
        several = len(self.expressions) > 1
        return "\n".join(
            f"y{j if several else ''} = {expression}\n"
            f"    {counted(terms, 'term')}, within {rounded_up(error, 2)} on [-1, 1]^d"
            for j, (expression, error, terms) in enumerate(
                zip(self.expressions, self.errors, self.n_terms, strict=True), start=1
            )
        )


def ladder_formula(
    polynomial: LadderPolynomial,
    names: Sequence[str] | None = None,
    digits: int | None = None,
    prune: float | None = None,
    max_terms: int = 1_000_000,
) -> LadderFormula:
    """The sympy expressions of a ladder, expanded into monomials, with a bound on the error of pruning and rounding.

    Pruning goes from the smallest coefficient upward and stops before their absolute sum exceeds ``prune``; the terms
    that are left are then rounded. Coefficients are multiplied out in float64, whatever the dtype of the weights.

    Args:
        polynomial: a single one (``batch_shape`` ()).
        names: of the d inputs, all different; x0, x1, ... if not given.
        digits: round each coefficient to this many significant digits. By default they keep all.
        prune: drop small terms, as many as together cannot change an output by more than this on [-1, 1]^d.
        max_terms: refuse a polynomial with more monomials than this before pruning.

    Cost: that of `coefficients`, then about a millisecond of sympy for each term that is left.
    """
    sympy = sympy_library()
    if polynomial.batch_shape:
        raise ValueError(
            f"polynomial must be a single one; got batch_shape {tuple(polynomial.batch_shape)}. Take one with p[i]."
        )
    if digits is not None and (isinstance(digits, bool) or not isinstance(digits, int) or digits < 1):
        raise ValueError(f"digits must be a positive integer or None; got {digits!r}.")
    if prune is not None and not 0 <= prune < math.inf:
        raise ValueError(f"prune must be a finite number of at least 0, or None; got {prune!r}.")
    symbols = [sympy.Symbol(name) for name in input_names(names, polynomial.in_features)]
    plain = polynomial.map(lambda t: t.detach().to("cpu", torch.float64))
    written_out = coefficients(plain, max_terms)
    unsure = rounding_error(plain, torch.ones(plain.in_features, dtype=torch.float64), SHOWN)
    expressions, errors, n_terms = [], [], []
    for exact, rounding in zip(written_out.values.unbind(-1), unsure.tolist(), strict=True):
        shown = rounded(pruned(exact, prune or 0.0).tolist(), digits)
        kept = [(e, v) for e, v in zip(written_out.exponents.tolist(), shown, strict=True) if v != 0]
        terms = [
            sympy.Float(value) * sympy.Mul(*(s**e for s, e in zip(symbols, exponents, strict=True) if e))
            for exponents, value in kept
        ]
        expressions.append(sympy.Add(*terms))
        errors.append(math.fsum(abs(v - e) for v, e in zip(shown, exact.tolist(), strict=True)) + rounding)
        n_terms.append(len(kept))
    return LadderFormula(tuple(expressions), tuple(errors), tuple(n_terms))


def sympy_library() -> Any:
    """Sympy, or an error that says how to get it."""
    try:
        import sympy
    except ImportError as error:
        raise ImportError("to_sympy needs sympy. Install it with: pip install 'polyladder[formula]'.") from error
    return sympy


def rounding_error(polynomial: LadderPolynomial, reach: torch.Tensor, more: float = 0.0) -> torch.Tensor:
    """A bound on what rounding changes in a ladder, multiplied out or evaluated in float64, for inputs within a reach.

    Every path to the result is a product of weights and inputs, and every rounding changes it by a share of its size.
    The sum of all sizes is the ladder of absolute weights at the largest inputs.

    Args:
        polynomial: any number of ladders, of which the mean is meant. Batch shape () or (draws,).
        reach: the largest size of each input. Shape (d,).
        more: further roundings on every path.

    Returns:
        Shape (m,).
    """
    d, widths = polynomial.in_features, (polynomial.in_features, *polynomial.hidden)
    # A product with n terms, the sum over d gates and both intercepts, on every rung; twice, as weights may have been
    # multiplied by others before, and twice again, as whoever compares evaluates the ladder as well.
    roundings = 4 * (sum(width + d + 4 for width in widths) + more)
    sizes = polynomial.map(torch.abs)(reach[None]).squeeze(-2)
    return (sizes if sizes.dim() == 1 else sizes.mean(0)) * (roundings * ROUNDED)


def pruned(values: torch.Tensor, budget: float) -> torch.Tensor:
    """The values (terms,), the smallest set to zero as long as their absolute sum stays within the budget."""
    size, order = values.abs().sort()
    dropped = order[size.cumsum(0) <= budget]
    return values.index_fill(0, dropped, 0.0)


def rounded(values: list[float], digits: int | None) -> list[float]:
    """The values to this many significant digits."""
    return values if digits is None else [float(f"{v:.{digits - 1}e}") for v in values]
