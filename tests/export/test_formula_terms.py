import numpy as np
import pytest
import torch

from polyladder.analysis.coefficients import coefficients
from polyladder.export.formula_terms import filled, merged, reduced, span
from polyladder.fitted.model import fitted_model
from polyladder.polynomial.substitute import substitute
from tests.export.estimators import case


def test_indicators_multiply_simply():
    """Inputs: 0 to 2 numbers, 3 whether the second is missing, 4 to 7 categories."""
    model = fitted_model(case("gaps and categories")[0])
    ranges = [span(f) for f in model.steps]
    assert reduced(model, ((4, 3),), ranges) == (1.0, ((4, 1),))
    assert reduced(model, ((4, 1), (5, 1)), ranges) is None
    assert reduced(model, ((0, 2), (3, 2)), ranges) == (1.0, ((0, 2), (3, 1)))
    value = filled(model.steps[1], *ranges[1])
    assert -1 <= value <= 1
    factor, left = reduced(model, ((1, 2), (3, 1)), ranges)
    assert left == ((3, 1),)
    assert factor == pytest.approx(value**2)
    assert filled(model.steps[3], *ranges[3]) is None


def test_fewer_monomials_are_the_same_polynomial_at_every_row():
    fitted, rows, _ = case("gaps and categories")
    model = fitted_model(fitted)
    ranges = [span(f) for f in model.steps]
    middle, half = (torch.tensor(side, dtype=torch.float64) for side in zip(*ranges, strict=True))
    written = coefficients(substitute(model.ladders, torch.diag(half), middle))
    monomials = [tuple((i, e) for i, e in enumerate(row) if e) for row in written.exponents.tolist()]
    powers, values = merged(model, monomials, written.values.mean(0), ranges)
    assert len(powers) < 0.6 * len(monomials)
    z = fitted.inputs(rows)
    t = ((z - middle) / half).numpy()
    terms = zip(powers, values[:, 0].tolist(), strict=True)
    found = sum(c * np.prod([t[:, i] ** e for i, e in p], 0) for p, c in terms)
    exact = model.ladders(z).mean(0)[:, 0].numpy()
    assert np.abs(found - exact).max() < 1e-9 * np.abs(exact).max()
