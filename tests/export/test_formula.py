import numpy as np
import pytest
import torch

from polyladder import LPNNRegressor, formula, to_sympy
from polyladder.export.formula_inputs import mapping
from polyladder.fitted.model import fitted_model
from tests.export.estimators import case, fitted
from tests.ladders import random_ladder

NUMBERS = ("numbers", "quantile", "gaps and categories", "two outputs", "posterior", "machine")
NAMES = [*NUMBERS, "two classes", "three classes"]


def values(found, model, rows):
    """The formula at rows, term by term, from the transformed features."""
    z = model.inputs(rows).numpy()
    description = fitted_model(model)
    t = np.stack([(z[:, i] - m) / h for i, (m, h) in enumerate(map(mapping, description.steps))], 1)
    assert np.abs(t).max() <= 1 + 1e-9
    return np.stack(
        [sum(c * np.prod([t[:, i] ** e for i, e in powers], 0) for c, powers in terms) for terms in found.terms], 1
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tolerance", [0.0, 0.01, 0.2])
def test_no_row_exceeds_the_proven_error(name, tolerance):
    model, rows, _ = case(name)
    found = formula(model, tolerance=tolerance, digits=4)
    exact = fitted_model(model).ladders(model.inputs(rows)).mean(0).numpy()
    error = np.abs(values(found, model, rows) - exact).max(0)
    assert (error <= found.errors).all()
    if tolerance == 0.2:
        assert len(found.terms[0]) < found.total


def test_the_tolerance_is_a_share_of_the_range_and_is_kept():
    model = fitted("numbers")[0]
    spread = float(model.target_.high - model.target_.low)
    for digits in (None, 5):
        assert formula(model, tolerance=0.05, digits=digits).errors[0] <= 0.05 * spread
    found = formula(model, tolerance=0.05)
    assert len(found.terms[0]) < len(formula(model).terms[0])


def test_expressions_are_in_the_tables_own_units():
    import sympy

    model, rows, _ = case("numbers")
    expression = to_sympy(model)
    names = list(rows.columns)
    assert {s.name for s in expression.free_symbols} <= set(names)
    function = sympy.lambdify([sympy.Symbol(n) for n in names], expression)
    held = rows.clip(model.features_.low_, model.features_.high_, axis=1)
    exact = model.polynomial_(model.inputs(rows)).numpy()[:, 0]
    assert np.abs(function(*held.to_numpy().T) - exact).max() < 1e-9 * np.abs(exact).max()


def test_a_small_formula_reads_well():
    X = np.random.default_rng(0).uniform(0, 10, (200, 2))
    y = 3 * X[:, 0] - 2 * X[:, 1] + 1
    model = LPNNRegressor(order=2, width=2, n_estimators=1, random_state=0).fit(X, y)
    found = formula(model, tolerance=0.01, digits=3)
    text = str(found)
    assert text.startswith("prediction = ")
    assert "[x0] = (x0 - " in text
    assert "proven to be within" in text
    assert "Predictions are held to" in text
    assert len(found.terms[0]) == 3
    latex = found.latex()
    assert r"\text{[x0]} = \frac{\text{x0} - " in latex
    assert latex.count("\n") == 2


def test_probabilities_move_by_no_more_than_the_tolerance():
    for name in ("two classes", "three classes"):
        model, rows, answers = case(name)
        found = formula(model, tolerance=0.02)
        scores = values(found, model, rows)
        moved = model.model_.answer.probabilities(torch.tensor(scores).unsqueeze(0)).numpy()
        assert np.abs(moved - answers).max() <= 0.02


def test_ladders_keep_their_own_way():
    p = random_ladder(d=2, m=2)
    assert len(to_sympy(p)) == 2
    assert formula(p, prune=0.1).errors[0] <= 0.1
    with pytest.raises(ValueError, match="tolerance must be left out for a ladder"):
        formula(p, tolerance=0.1)


def test_bad_arguments_are_refused():
    model = fitted("numbers")[0]
    with pytest.raises(ValueError, match="tolerance must be at least 0"):
        formula(model, tolerance=1.5)
    with pytest.raises(ValueError, match="names and prune"):
        formula(model, names=["a"])
    with pytest.raises(ValueError, match="digits must be"):
        formula(model, digits=0)
    X = torch.randn(50, 2).numpy()
    with pytest.raises(ValueError, match="must be held to a range"):
        formula(LPNNRegressor(order=2, width=2, clip=False).fit(X, X[:, 0]))
