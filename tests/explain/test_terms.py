"""The strongest terms of polynomials of any size."""

import numpy as np
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.analysis.coefficients import coefficients
from polyladder.explain import terms as terms_file
from polyladder.explain.fitted import read_model
from polyladder.explain.terms import formulas, low_degree_terms, restricted, strongest_inputs


def fitted(d: int = 5, order: int = 4, n: int = 120):
    X = np.random.default_rng(0).normal(size=(n, d))
    y = X[:, 0] * X[:, 1] * X[:, 2] + 2 * X[:, 3]
    return LPNNRegressor(order=order, width=3, n_estimators=1, max_iter=8, random_state=0).fit(X, y), X


def test_the_search_finds_the_coefficients_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = fitted()
    read = read_model(model, X)
    (whole,) = formulas(read, 10)
    monkeypatch.setattr(terms_file, "LIMIT", 100)
    (found,) = formulas(read, 10, model.inputs(X))
    known = {term.powers: term.coefficient for term in formulas_of(read)}
    assert found.searched == "all terms of the 4 strongest inputs, and all of degree 1 and 2"
    assert found.total == whole.total == 126
    for term in found.terms:
        assert term.coefficient == pytest.approx(known[term.powers], abs=1e-9)
    # They are the largest of all that were looked at.
    strong = {read.features.feature_names_out_[i] for i in strongest_inputs(model.polynomial_, 4).tolist()}
    looked = [p for p in known if sum(e for _, e in p) <= 2 or {name for name, _ in p} <= strong]
    largest = sorted(looked, key=lambda powers: -abs(known[powers]))[:10]
    assert {term.powers for term in found.terms} == set(largest)


def formulas_of(read):
    written = coefficients(read.estimator.polynomial_)
    names = read.features.feature_names_out_
    for exponents, value in zip(written.exponents.tolist(), written.values[:, 0].tolist(), strict=True):
        yield terms_file.Term(value, tuple((names[j], e) for j, e in enumerate(exponents) if e))


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
