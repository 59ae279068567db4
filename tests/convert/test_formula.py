"""The formula against sympy's own expansion, and its stated error against the error that is there."""

import itertools
import math
import re
import sys
from fractions import Fraction

import pytest
import sympy
import torch

from polyladder import formula, to_sympy
from tests.ladders import random_ladder, rows
from tests.oracles.expansion import expand, monomials
from tests.oracles.ladder import evaluate


def by_exponents(expression: sympy.Expr, names: list[str]) -> dict[tuple[int, ...], float]:
    poly = sympy.Poly(expression, *map(sympy.Symbol, names))
    return {exponents: float(value) for exponents, value in poly.terms() if value != 0}


@pytest.mark.parametrize("order", range(1, 8))
def test_is_the_expansion(order: int) -> None:
    p = random_ladder(2, [2] * (order - 1), 2, seed=order)
    found = to_sympy(p)
    assert isinstance(found, list)
    for expression, f in zip(found, expand(p), strict=True):
        expected = monomials(f)
        terms = by_exponents(expression, ["x0", "x1"])
        assert terms.keys() == expected.keys()
        for exponents, value in expected.items():
            assert terms[exponents] == pytest.approx(value, rel=1e-9, abs=1e-13)


def test_one_output_is_one_expression() -> None:
    p = random_ladder(2, (3, 2), 1)
    expression = to_sympy(p, ["bill length (mm)", "mass"])
    assert isinstance(expression, sympy.Expr)
    symbols = sympy.Symbol("bill length (mm)"), sympy.Symbol("mass")
    assert expression.free_symbols == set(symbols)
    numeric = sympy.lambdify(symbols, expression)
    x = rows(5, 2)
    expected = [numeric(*row) for row in x.tolist()]
    torch.testing.assert_close(p(x)[:, 0], torch.tensor(expected, dtype=torch.float64), rtol=1e-9, atol=1e-12)


def test_nothing_lost_by_default() -> None:
    whole = formula(random_ladder(2, (3, 2), 2))
    assert all(0 < error < 1e-12 for error in whole.errors)
    assert whole.n_terms == (10, 10)


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_rounding(digits: int) -> None:
    p = random_ladder(3, (4, 3), 2)
    exact, short = formula(p), formula(p, digits=digits)
    names = ["x0", "x1", "x2"]
    for before, after, error in zip(exact.expressions, short.expressions, short.errors, strict=True):
        old, new = by_exponents(before, names), by_exponents(after, names)
        assert all(new[e] == float(f"{v:.{digits}g}") for e, v in old.items())
        assert error == pytest.approx(math.fsum(abs(new[e] - v) for e, v in old.items()))
        assert error > 0


@pytest.mark.parametrize(("prune", "digits"), [(0.05, None), (0.3, None), (0.3, 2), (0.0, 2)])
def test_stated_error_holds_on_the_box(prune: float, digits: int | None) -> None:
    p = random_ladder(3, (5, 5, 5), 2, seed=3)
    short = formula(p, digits=digits, prune=prune)
    corners = torch.tensor(list(itertools.product([-1.0, -0.5, 0.0, 0.5, 1.0], repeat=3)), dtype=torch.float64)
    inside = 2 * torch.rand(500, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 1
    x = torch.cat([corners, inside])
    symbols = sympy.symbols("x0:3")
    for j, expression in enumerate(short.expressions):
        shown = sympy.lambdify(symbols, expression, "numpy")(*x.T.numpy())
        worst = (p(x)[:, j] - torch.as_tensor(shown)).abs().max().item()
        assert worst <= short.errors[j] * (1 + 1e-9) + 1e-12
        # The bound is one, but not an idle one.
        assert worst >= 0.2 * short.errors[j]


def test_pruning_drops_the_smallest_within_the_budget() -> None:
    p = random_ladder(3, (5, 5, 5), 1, seed=3)
    exact = by_exponents(to_sympy(p), ["x0", "x1", "x2"])
    short = formula(p, prune=0.3)
    kept = by_exponents(short.expressions[0], ["x0", "x1", "x2"])
    dropped = {e: abs(v) for e, v in exact.items() if e not in kept}
    assert len(kept) == short.n_terms[0]
    assert dropped
    assert all(kept[e] == exact[e] for e in kept)
    assert sum(dropped.values()) == pytest.approx(short.errors[0])
    assert short.errors[0] <= 0.3
    # One more would have broken the budget.
    smallest_kept = min(map(abs, kept.values()))
    assert max(dropped.values()) <= smallest_kept
    assert short.errors[0] + smallest_kept > 0.3


def test_everything_pruned_is_zero() -> None:
    p = random_ladder(2, (2,), 1)
    assert to_sympy(p, prune=1e6) == 0
    assert formula(p, prune=1e6).n_terms == (0,)


def test_exact_zeros_do_not_appear() -> None:
    p = random_ladder(2, (2,), 1)
    p.W[0][:, 1] = 0
    p.V[0][:, 1] = 0
    assert to_sympy(p).free_symbols == {sympy.Symbol("x0")}


def test_float32_is_multiplied_out_in_float64() -> None:
    p = random_ladder(2, (3, 3), 1, dtype=torch.float32)
    assert to_sympy(p) == to_sympy(p.to(torch.float64))


def test_reads_well() -> None:
    p = random_ladder(2, (2,), 2).map(torch.ones_like)
    # (x0 + x1 + 1) (x0 + x1 + 1) twice, plus 1.
    first, bound, second, _ = str(formula(p, digits=2)).splitlines()
    assert first == "y1 = 2.0*x0**2 + 4.0*x0*x1 + 4.0*x0 + 2.0*x1**2 + 4.0*x1 + 3.0"
    assert second == "y2 = 2.0*x0**2 + 4.0*x0*x1 + 4.0*x0 + 2.0*x1**2 + 4.0*x1 + 3.0"
    assert re.fullmatch(r"    6 terms, within \d\.\de-13 on \[-1, 1\]\^d", bound)


@pytest.mark.parametrize("seed", range(5))
def test_the_printed_text_is_within_the_printed_error(seed: int) -> None:
    """Both read as fractions, and the ladder computed in fractions, at the corners of the box."""
    p = random_ladder(2, (3, 2), 1, seed=seed)
    p = type(p)(W=p.W, b=p.b, V=p.V, c=p.c, readout=p.readout, offset=p.offset + 1e7 * seed)
    for digits, prune in ((None, None), (5, 0.01)):
        line, stated = str(formula(p, digits=digits, prune=prune)).splitlines()
        error = Fraction(stated.split("within ")[1].split(" ")[0])
        text = re.sub(r"\d+\.\d+(e[-+]\d+)?", lambda m: f"Fraction('{m[0]}')", line.removeprefix("y = "))
        for x in itertools.product((-1, 1), repeat=2):
            shown = eval(text, {"Fraction": Fraction, "x0": Fraction(x[0]), "x1": Fraction(x[1])})
            assert abs(shown - evaluate(p, list(x))[0]) <= error


def test_refuses_bad_arguments() -> None:
    p = random_ladder(2, (2,), 1)
    with pytest.raises(ValueError, match=r"single one; got batch_shape \(3,\)\. Take one with p\[i\]"):
        to_sympy(random_ladder(batch_shape=(3,)))
    with pytest.raises(ValueError, match=r"names must be 2 different names, .*; got \['a'\]"):
        to_sympy(p, ["a"])
    with pytest.raises(ValueError, match="names must be 2 different names"):
        to_sympy(p, ["a", "a"])
    with pytest.raises(TypeError, match="names must be a sequence of non-empty strings"):
        to_sympy(p, "ab")
    with pytest.raises(TypeError, match="names must be a sequence of non-empty strings"):
        to_sympy(p, ["a", 1])  # type: ignore[list-item]
    for digits in (0, 1.5, True):
        with pytest.raises(ValueError, match="digits must be a positive integer or None; got"):
            to_sympy(p, digits=digits)  # type: ignore[arg-type]
    for prune in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="prune must be a finite number of at least 0, or None; got"):
            to_sympy(p, prune=prune)
    with pytest.raises(ValueError, match="max_terms must be at least 6"):
        to_sympy(p, max_terms=5)


def test_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[formula\]'"):
        to_sympy(random_ladder(2, (2,), 1))
