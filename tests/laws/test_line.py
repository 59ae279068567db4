"""Law: the line's coefficients at t are the network at x0 + t g, and truncation changes none that it keeps."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder import LadderPolynomial, line_polynomial
from tests.ladders import ladders, rows


@given(ladders(max_layers=6, dtypes=(torch.float64, torch.float32)), st.integers(1, 4))
def test_line_is_the_network(p: LadderPolynomial, n: int) -> None:
    point, direction = rows(n, p.in_features, seed=1), rows(n, p.in_features, seed=2)
    line = line_polynomial(p, point, direction)
    assert line.coefficients.shape == (*p.batch_shape, n, p.out_features, p.order + 1)
    # Cancellation may leave a value small beside its terms, so those set the scale of rounding.
    terms = type(line)(line.coefficients.abs())
    for t in (-1.7, -0.3, 0.0, 0.8, 2.5):
        error = (line(t) - p(point + t * direction)).abs()
        assert (error <= 300 * torch.finfo(p.dtype).eps * (1 + terms(abs(t)))).all()


@given(ladders(max_layers=6), st.integers(0, 8))
def test_max_degree_agrees_with_all(p: LadderPolynomial, max_degree: int) -> None:
    point, direction = rows(2, p.in_features)
    full = line_polynomial(p, point, direction).coefficients
    low = line_polynomial(p, point, direction, max_degree=max_degree).coefficients
    assert low.shape[-1] == min(max_degree, p.order) + 1
    torch.testing.assert_close(low, full[..., : max_degree + 1], rtol=1e-12, atol=1e-13)


@given(ladders(max_layers=3))
def test_points_of_one_polynomial_each(p: LadderPolynomial) -> None:
    shape = (*p.batch_shape, 4, p.in_features)
    point, direction = torch.randn(2, *shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    line = line_polynomial(p, point, direction)
    torch.testing.assert_close(line(0.7), p(point + 0.7 * direction), rtol=1e-11, atol=1e-11)
    # A direction shared by the models and the rows is repeated.
    shared = line_polynomial(p, point, direction.flatten(0, -2)[0])
    torch.testing.assert_close(shared(0.7), p(point + 0.7 * direction.flatten(0, -2)[0]), rtol=1e-11, atol=1e-11)
