import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor

from polyladder import LadderPolynomial, lipschitz_bound, output_bound
from polyladder.analysis import lipschitz
from tests.ladders import random_ladder, rows
from tests.oracles.ascent import ball_grid, gradient_norm, largest_by_ascent, output_norm

METHODS = ("paper", "recursive", "local")
BOUNDS = [(output_bound, output_norm), (lipschitz_bound, gradient_norm)]


def quadratic_form(A: Tensor) -> LadderPolynomial:
    """x' A x as a ladder with one layer."""
    d, zero = len(A), A.new_zeros(len(A))
    return LadderPolynomial(
        W=(A,), b=(zero,), V=(torch.eye(d).to(A),), c=(zero,), readout=A.new_ones(1, d), offset=A.new_zeros(1)
    )


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "norm"), BOUNDS)
@pytest.mark.parametrize(
    ("d", "hidden", "m"), [(2, (3,), 1), (3, (4, 5), 2), (5, (6, 6, 6), 1), (2, (3, 2, 4, 3, 3, 2), 3)]
)
def test_ascent_finds_no_violation(bound, norm, d, hidden, m) -> None:
    for seed, radius in ((0, 1.0), (1, 0.2), (2, 3.0)):
        p, center = random_ladder(d, hidden, m, seed=seed), rows(1, d, seed)[0]
        found = largest_by_ascent(norm, p, center, radius)
        for method in METHODS:
            assert found <= bound(p, radius, center, method)


@pytest.mark.slow
@pytest.mark.parametrize(("bound", "norm"), BOUNDS)
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("hidden", [(2,), (3, 2), (2, 3, 2)])
def test_dense_grid_is_below_and_local_close_to_it(bound, norm, d, hidden) -> None:
    for seed in range(3):
        p, center = random_ladder(d, hidden, 2, seed=seed), rows(1, d, seed)[0]
        found = float(norm(p, ball_grid(center, 1.0)).max())
        local = float(bound(p, 1.0, center, "local"))
        assert found <= local <= 4 * found
        assert local <= bound(p, 1.0, center, "recursive") <= bound(p, 1.0, center, "paper")


@pytest.mark.slow
def test_ascent_finds_no_violation_in_a_batch() -> None:
    p, centers = random_ladder(3, (4, 4), 2, batch_shape=(2, 3)), rows(2, 3)
    bounds = torch.stack([lipschitz_bound(p, 0.7, centers, method) for method in METHODS])
    for i, j, k in np.ndindex(2, 3, 2):
        found = largest_by_ascent(gradient_norm, p[i, j], centers[k], 0.7, starts=4, steps=15)
        assert (found <= bounds[:, i, j, k]).all()


def test_paper_is_the_product_of_norms() -> None:
    p = random_ladder(3, (4, 5), 2)
    product, center = 1.0, torch.tensor([3.0, 0.0, 4.0], dtype=torch.float64)
    for W, b, V, c in p.layers():
        for weight, intercept in ((W, b), (V, c)):
            k, i = weight.shape
            hat = np.zeros((k + 1, i + 1))
            hat[:k, :i], hat[:k, i], hat[k, i] = weight, intercept, 1
            product *= np.linalg.norm(hat, 2)
    product *= np.linalg.norm(np.column_stack([p.readout, p.offset]), 2)
    for given, reach in ((None, 2.0), (center, 7.0)):
        r = math.sqrt(reach**2 + 1)
        assert output_bound(p, 2.0, given).item() == pytest.approx(product * r**3, rel=1e-9)
        assert lipschitz_bound(p, 2.0, given).item() == pytest.approx(3 * product * r**2, rel=1e-9)


def test_without_intercepts_paper_is_the_printed_formula() -> None:
    p = random_ladder(3, (4, 5), 2, batch_shape=(2,), gate_bias=False)
    bare = LadderPolynomial(p.W, tuple(0 * b for b in p.b), p.V, p.c, p.readout, 0 * p.offset)
    product = np.linalg.norm(p.readout, 2, (-2, -1))
    for weight in (*p.W, *p.V):
        product = product * np.linalg.norm(weight, 2, (-2, -1))
    np.testing.assert_allclose(output_bound(bare, 2.0), product * 2.0**3, rtol=1e-9)
    np.testing.assert_allclose(lipschitz_bound(bare, 2.0), 3 * product * 2.0**2, rtol=1e-9)
    # An offset moves outputs and no slopes; another intercept, in one ladder of the batch, is absorbed there alone.
    moved = LadderPolynomial(p.W, bare.b, p.V, p.c, p.readout, p.offset)
    np.testing.assert_allclose(lipschitz_bound(moved, 2.0), 3 * product * 2.0**2, rtol=1e-9)
    assert (output_bound(moved, 2.0) > output_bound(bare, 2.0)).all()
    p.b[0][1] = 0.0
    p.b[1][1] = 0.0
    mixed = lipschitz_bound(p, 2.0)
    assert mixed[1].item() == pytest.approx(3 * product[1] * 2.0**2, rel=1e-9)
    assert mixed[0] > 1.01 * 3 * product[0] * 2.0**2


def test_local_is_exact_for_affine_functions_and_quadratic_forms() -> None:
    p = random_ladder(4, (), 3)
    assert lipschitz_bound(p, 2.0, method="local").item() == pytest.approx(np.linalg.norm(p.readout, 2), rel=1e-9)
    A = rows(4, 4)
    norm = np.abs(np.linalg.eigvalsh((A + A.T) / 2)).max()
    assert lipschitz_bound(quadratic_form(A), 1.5, method="local").item() == pytest.approx(3 * norm, rel=1e-9)
    assert output_bound(quadratic_form(A), 1.5, method="local").item() == pytest.approx(2.25 * norm, rel=1e-9)


@pytest.mark.slow
def test_local_at_radius_zero_is_the_value_itself() -> None:
    p, centers = random_ladder(4, (5, 6, 3), 2), rows(6, 4)
    for bound, norm in BOUNDS:
        torch.testing.assert_close(bound(p, 0, centers, "local"), norm(p, centers), rtol=1e-9, atol=0)


def test_chunks_change_nothing(monkeypatch) -> None:
    p, centers = random_ladder(3, (4, 5), 2, batch_shape=(2,)), rows(7, 3)
    whole = lipschitz_bound(p, 0.5, centers, "local")
    monkeypatch.setattr(lipschitz, "ENTRIES", 1)
    torch.testing.assert_close(lipschitz_bound(p, 0.5, centers, "local"), whole, rtol=1e-12, atol=0)


def test_centers_for_each_model() -> None:
    p, centers = random_ladder(3, (4, 5), 2, batch_shape=(2,)), rows(8, 3).reshape(2, 4, 3)
    for method in METHODS:
        bounds = lipschitz_bound(p, 0.5, centers, method)
        assert bounds.shape == (2, 4)
        torch.testing.assert_close(bounds[1, 2], lipschitz_bound(p[1], 0.5, centers[1, 2], method))


@pytest.mark.parametrize("method", METHODS)
def test_no_rows_of_centers_give_no_bounds(method) -> None:
    assert lipschitz_bound(random_ladder(batch_shape=(2,)), 0.5, torch.zeros(0, 3), method).shape == (2, 0)


def test_no_center_is_the_origin() -> None:
    p = random_ladder(3, (4, 5), 2)
    for method in METHODS:
        expected = lipschitz_bound(p, 0.5, torch.zeros(3, dtype=torch.float64), method)
        assert lipschitz_bound(p, 0.5, method=method) == expected


def test_rounding_of_coefficients_that_cancel_is_covered() -> None:
    # One input, f = S x^2 with S = sum_i R_i W_i V_i near 1 and terms near 1e9: computed, S is off by about 1e-7.
    zeros, offset = torch.zeros(6, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    for seed in range(10):
        W, V, R = rows(3, 6, seed)
        W[-1] = V[-1] = 1.0
        R *= 1e9
        terms = [
            Fraction(w) * Fraction(v) * Fraction(r) for w, v, r in zip(*map(Tensor.tolist, (W, V, R)), strict=True)
        ]
        R[-1] = float(1 - sum(terms[:-1]))
        exact = abs(sum(terms[:-1]) + Fraction(R[-1].item()))
        p = LadderPolynomial((W[:, None],), (zeros,), (V[:, None],), (zeros,), R[None], offset)
        bound = lipschitz_bound(p, 1.0, method="local").item()
        assert 2 * exact <= Fraction(bound)
        assert bound <= 2 + 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_tiny_centers_offsets_and_weights_are_not_squared_away(method) -> None:
    one, zero = torch.ones(3, 3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    steep = LadderPolynomial((), (), (), (), 1e170 * one, zero)
    assert output_bound(steep, 0.0, 1e-170 * one[0], method) >= 3 * 3**0.5 - 1e-12
    flat = LadderPolynomial((), (), (), (), 1e-200 * one, 1e-170 * one[0])
    assert output_bound(flat, 1.0, method=method) >= 1.7e-170
    least = LadderPolynomial((), (), (), (), 3e-323 * one, zero)
    assert lipschitz_bound(least, 0.0, method=method) >= 9e-323


@pytest.mark.parametrize("method", METHODS)
def test_a_tiny_ball_is_not_rounded_away(method) -> None:
    # f = x (1 + x): beside the 1 that is appended to it, x vanishes in float64.
    one, zero = torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    p = LadderPolynomial((one, one), (zero, zero), (one, 0 * one), (one[0], one[0]), one, zero)
    assert output_bound(p, 1e-12, method=method) >= 1e-12
    assert lipschitz_bound(p, 1e-12, method=method) >= 1


def test_overflow_is_infinite_and_zero_is_zero() -> None:
    p = random_ladder(3, (4, 5, 4), 2)
    for method in METHODS:
        assert lipschitz_bound(p.map(lambda t: t * 1e200), 1.0, method=method) == math.inf
        assert lipschitz_bound(p.map(torch.zeros_like), 1.0, method=method) == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_derivative_with_respect_to_a_weight(method) -> None:
    p, center = random_ladder(3, (4, 5), 2), rows(1, 3)[0]

    def of_gate(V: Tensor) -> Tensor:
        return lipschitz_bound(LadderPolynomial(p.W, p.b, (V, p.V[1]), p.c, p.readout, p.offset), 0.5, center, method)

    assert torch.autograd.gradcheck(of_gate, (p.V[0].clone().requires_grad_(),))


@pytest.mark.parametrize("method", METHODS)
def test_derivative_is_finite_where_weights_and_radius_vanish(method) -> None:
    p = random_ladder(2, (3, 3), 1).map(lambda t: torch.zeros_like(t).requires_grad_())
    lipschitz_bound(p, 0.0, method=method).backward()
    assert all(t.grad is None or t.grad.isfinite().all() for t in p.tensors().values())


@pytest.mark.parametrize("bound", [output_bound, lipschitz_bound])
def test_bad_input_is_named(bound) -> None:
    p = random_ladder(3, (4,), 2, batch_shape=(2,))
    for radius in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="radius must be finite and not negative; got"):
            bound(p, radius)
    for radius in ("one", None, torch.ones(2)):
        with pytest.raises(TypeError, match="radius must be one number; got"):
            bound(p, radius)
    with pytest.raises(ValueError, match="method must be one of 'paper', 'recursive', 'local'; got 'exact'"):
        bound(p, 1.0, method="exact")
    for shape in ((4,), (5, 4), (3, 5, 3), ()):
        with pytest.raises(ValueError, match=r"center must have shape \(3,\), \(n, 3\) or \(2, n, 3\); got shape"):
            bound(p, 1.0, torch.zeros(shape))
    with pytest.raises(ValueError, match="center must be finite"):
        bound(p, 1.0, torch.full((3,), math.nan))
    with pytest.raises(TypeError, match=r"center must be a torch\.Tensor or None; got list"):
        bound(p, 1.0, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="polynomial must have finite weights"):
        bound(p.map(lambda t: t * math.nan), 1.0)
