"""The terms of a fitted polynomial."""

import itertools
import math

import numpy as np
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.explain import terms as terms_module
from polyladder.explain.fitted import read_model
from polyladder.explain.terms import Formula, formulas, term_count
from tests.explain.test_explanation import TINY, rows


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
    names, z = model.features.feature_names_out_, model.estimator.inputs(X)
    (formula,) = formulas(model, 4, z)
    exact = model.estimator.polynomial_(z)[:, 0].numpy()
    short = np.array([value(formula, dict(zip(names, row, strict=True))) for row in z.tolist()])
    assert formula.error == pytest.approx(np.sqrt(np.mean((exact - short) ** 2)))
    unit = torch.rand(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 - 1
    left = model.estimator.polynomial_(unit)[:, 0].numpy() - np.array(
        [value(formula, dict(zip(names, row, strict=True))) for row in unit.tolist()]
    )
    assert np.abs(left).max() <= formula.rest * (1 + 1e-12)
    assert formulas(model, 4)[0].error is None


def test_too_many_terms_are_never_all_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms_module, "LIMIT", 9)
    X, y = rows()
    (formula,) = formulas(read_model(LPNNRegressor(**TINY).fit(X, y)), 10)
    assert (formula.output, formula.total, formula.own_units) == ("prediction", 10, False)
    assert len(formula.terms) < 10
