"""The terms of a fitted polynomial."""

import itertools
import math

import numpy as np
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.analysis.coefficients import coefficients
from polyladder.explain import terms as terms_module
from polyladder.explain.terms import Formula, formulas, low_degree_terms, restricted, strongest_inputs, term_count
from tests.explain.test_explanation import TINY, rows
from tests.fitted.reading import read_model


def value(formula: Formula, row: dict[str, float]) -> float:
    return sum(t.coefficient * math.prod(row[name] ** e for name, e in t.powers) for t in formula.terms)


@pytest.mark.parametrize("order", [2, 3])
def test_terms_are_counted_as_monomials_up_to_the_order(order: int) -> None:
    X, y = rows()
    model = read_model(LPNNRegressor(**{**TINY, "order": order}).fit(X, y))
    listed = [m for p in range(order + 1) for m in itertools.combinations_with_replacement(range(3), p)]
    assert term_count(model) == len(listed)


def test_the_largest_terms_come_by_degree_and_then_by_size() -> None:
    X, y = rows()
    (formula,) = formulas(read_model(LPNNRegressor(**TINY).fit(X, y)), 6)
    degrees = [sum(e for _, e in t.powers) for t in formula.terms]
    assert degrees == sorted(degrees)
    for degree in set(degrees):
        sizes = [abs(t.coefficient) for t, d in zip(formula.terms, degrees, strict=True) if d == degree]
        assert sizes == sorted(sizes, reverse=True)
    (whole,) = formulas(read_model(LPNNRegressor(**TINY, features="quantile").fit(X, y)), 10)
    assert (whole.own_units, whole.rest) == (False, 0.0)


def test_what_is_left_out_is_bounded_and_measured() -> None:
    X, y = rows()
    model = read_model(LPNNRegressor(**TINY).fit(X, y))
    names, z = model.input_names, model.inputs(X)
    (formula,) = formulas(model, 4, z)
    exact = model.polynomial(z)[:, 0].numpy()
    short = np.array([value(formula, dict(zip(names, row, strict=True))) for row in z.tolist()])
    assert formula.error == pytest.approx(np.sqrt(np.mean((exact - short) ** 2)))
    unit = torch.rand(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 - 1
    left = model.polynomial(unit)[:, 0].numpy() - np.array(
        [value(formula, dict(zip(names, row, strict=True))) for row in unit.tolist()]
    )
    assert np.abs(left).max() <= formula.rest * (1 + 1e-12)
    assert formulas(model, 4)[0].error is None


def test_too_many_terms_are_never_all_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms_module, "LIMIT", 9)
    X, y = rows()
    (formula,) = formulas(read_model(LPNNRegressor(**TINY).fit(X, y)), 4)
    assert (formula.output, formula.total, formula.own_units) == ("prediction", 10, False)
    assert len(formula.terms) <= 4
    assert formula.rest > 0


def fitted(d: int = 5, order: int = 4, n: int = 120):
    X = np.random.default_rng(0).normal(size=(n, d))
    y = X[:, 0] * X[:, 1] * X[:, 2] + 2 * X[:, 3]
    return LPNNRegressor(order=order, width=3, n_estimators=1, max_iter=8, random_state=0).fit(X, y), X


def test_the_search_finds_the_coefficients_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = fitted()
    read = read_model(model, X)
    (whole,) = formulas(read, 10)
    monkeypatch.setattr(terms_module, "LIMIT", 100)
    (found,) = formulas(read, 10, model.inputs(X))
    known = {term.powers: term.coefficient for term in formulas_of(read)}
    assert found.searched == "all terms of the 4 strongest inputs, and all of degree 1 and 2"
    assert found.total == whole.total == 126
    for term in found.terms:
        assert term.coefficient == pytest.approx(known[term.powers], abs=1e-9)
    # They are the largest of all that were looked at.
    strong = {read.input_names[i] for i in strongest_inputs(model.polynomial_, 4).tolist()}
    looked = [p for p in known if sum(e for _, e in p) <= 2 or {name for name, _ in p} <= strong]
    largest = sorted(looked, key=lambda powers: -abs(known[powers]))[:10]
    assert {term.powers for term in found.terms} == set(largest)


def formulas_of(read):
    written = coefficients(read.polynomial)
    names = read.input_names
    for exponents, value in zip(written.exponents.tolist(), written.values[:, 0].tolist(), strict=True):
        yield terms_module.Term(value, tuple((names[j], e) for j, e in enumerate(exponents) if e))


def test_low_degrees_and_restrictions_against_the_coefficients() -> None:
    p = fitted()[0].polynomial_
    written = coefficients(p)
    table = {tuple(e): v for e, v in zip(written.exponents.tolist(), written.values[:, 0].tolist(), strict=True)}
    exponents, values = low_degree_terms(p)
    assert len(exponents) == 5 + 15
    for e, v in zip(exponents.tolist(), values[:, 0].tolist(), strict=True):
        assert v == pytest.approx(table[tuple(e)], abs=1e-9)
    z = torch.randn(7, 2, dtype=torch.float64)
    full = torch.zeros(7, 5, dtype=torch.float64)
    full[:, [1, 3]] = z
    torch.testing.assert_close(restricted(p, torch.tensor([1, 3]))(z), p(full))


def test_a_polynomial_of_a_hundred_million_terms_has_its_strongest() -> None:
    model, X = fitted(d=40, order=7, n=200)
    (found,) = formulas(read_model(model, X), 8)
    assert found.total > 10**7
    assert len(found.terms) == 8
