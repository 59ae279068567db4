import pytest
import torch

from polyladder.analysis.coefficients import exponents_up_to
from polyladder.analysis.monomials import monomials, terms
from polyladder.robustness.bounds import functionals
from polyladder.robustness.region import Norm, Region
from polyladder.robustness.written import (
    chebyshev,
    cost,
    halves,
    halving,
    in_chebyshev,
    square,
    write_out,
    written_upper,
)
from tests.ladders import random_ladder, rows
from tests.robustness.cases import region_of


def value(coefficients: torch.Tensor, t: torch.Tensor, d: int, order: int) -> torch.Tensor:
    """The polynomial, monomial by monomial. Shapes (n, N) and (n, d) to (n,)."""
    exponents = exponents_up_to(d, order).double()
    return (coefficients * (t.unsqueeze(1) ** exponents).prod(-1)).sum(-1)


@pytest.mark.parametrize("hidden", [(), (3,), (4, 5), (3, 4, 5)])
def test_written_out_it_is_the_ladder(hidden: tuple[int, ...]) -> None:
    p, region = random_ladder(3, hidden), region_of(4, 3, 0.7, "inf")
    weights = torch.eye(2, dtype=torch.float64).expand(4, -1, -1)
    coefficients, error = write_out(p, region, *functionals(p, weights))
    assert coefficients.shape == (4, 2, terms(3, p.order))
    t = 2 * torch.rand(4, 3, dtype=torch.float64) - 1
    for output in range(2):
        found = value(coefficients[:, output], t, 3, p.order)
        torch.testing.assert_close(found, p(region.center + region.radius * t)[:, output])
    assert (error > 0).all()
    assert (error < 1e-9).all()


@pytest.mark.parametrize("norm", ["inf", 2])
def test_bounds_hold_and_points_are_inside(norm: Norm) -> None:
    coefficients = rows(30, terms(3, 4))
    bound, points, score = written_upper(coefficients, torch.zeros(30, dtype=torch.float64), 3, 4, norm)
    t = rows(500, 3, seed=4)
    t = t.clamp(-1, 1) if norm == "inf" else t / t.norm(dim=-1, keepdim=True)
    for row in range(30):
        assert (value(coefficients[row], t, 3, 4) <= bound[row]).all()
    inside = points.abs().amax(-1) if norm == "inf" else points.norm(dim=-1)
    assert (inside <= 1 + 1e-12).all()
    assert (score >= 0).all()


def test_halves_are_the_same_polynomial_on_half_the_box() -> None:
    d, order = 3, 4
    coefficients, variable = rows(6, terms(d, order)), torch.tensor([0, 1, 2, 0, 1, 2])
    both, error = halves(coefficients, torch.zeros(6, dtype=torch.float64), variable, d, order)
    t = 2 * torch.rand(6, d, dtype=torch.float64) - 1
    for side, sign in enumerate((-1, 1)):
        moved = t.clone()
        at = torch.arange(6)
        moved[at, variable] = (t[at, variable] + sign) / 2
        torch.testing.assert_close(value(both[side], t, d, order), value(coefficients, moved, d, order))
    assert ((error > 0) & (error < 1e-12)).all()


def test_halving_never_makes_coefficients_larger() -> None:
    sizes = halving(3, 4, 1, -1).to_dense().abs().sum(0)
    torch.testing.assert_close(sizes, torch.ones_like(sizes))


def test_in_products_of_chebyshev_polynomials_it_is_the_same() -> None:
    d, order = 3, 5
    coefficients, t = rows(6, terms(d, order)), 2 * torch.rand(6, d, dtype=torch.float64) - 1
    found, error = in_chebyshev(coefficients, torch.zeros(6, dtype=torch.float64), d, order)
    exponents = exponents_up_to(d, order).double()
    products = torch.cos(exponents * torch.arccos(t).unsqueeze(1)).prod(-1)
    torch.testing.assert_close((found * products).sum(-1), value(coefficients, t, d, order))
    assert ((error > 0) & (error < 1e-10)).all()
    sums = chebyshev(d, order).to_dense()
    assert (sums >= 0).all()
    torch.testing.assert_close(sums.sum(0), torch.ones(len(sums), dtype=torch.float64))


def test_a_quadratic_form_as_a_matrix() -> None:
    part, t = rows(4, 6), rows(4, 3, seed=3)
    C = square(part, 3)
    i, j = monomials(3, 2).unbind(-1)
    torch.testing.assert_close(torch.einsum("ni,nij,nj->n", t, C, t), (part * t[:, i] * t[:, j]).sum(-1))


def test_the_cost_counts_the_largest_product() -> None:
    assert cost(random_ladder(3, (4, 5))) == 5 * 6 * 3
    assert cost(random_ladder(3, ())) == 3
    assert isinstance(region_of(1, 2, 0.1, "inf"), Region)
