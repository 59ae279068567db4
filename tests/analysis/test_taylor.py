import math

import numpy as np
import pytest
import torch

from polyladder.analysis.monomials import count, homogeneous_parts, monomials, multiplicities
from polyladder.analysis.taylor import (
    chain_norm,
    exact_degree,
    gated_norm,
    part_norm,
    power,
    remainder_norms,
    spectral_norm,
    taylor_bounds,
    unfolded_size,
    unfolding,
)
from tests.ladders import random_ladder, rows
from tests.oracles.ascent import gradient_norm, largest_by_ascent, output_norm


@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_unfolding_has_the_norm_of_the_dense_symmetric_tensor(left) -> None:
    p = random_ladder(3, (4, 4, 4), 2)
    derivative = lambda row: p(row[None])[0]  # noqa: E731
    for _ in range(3):
        derivative = torch.func.jacfwd(derivative)
    dense = derivative(torch.zeros(3, dtype=torch.float64)) / math.factorial(3)
    part = homogeneous_parts(p, 4)[-1][3]
    expected = np.linalg.norm(dense.reshape(2 * 3**left, -1), 2)
    assert spectral_norm(unfolding(part, 3, left, 3 - left)).item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
def test_every_split_between_exact_parts_and_remainder_is_a_bound(degree) -> None:
    p = random_ladder(3, (4, 5, 4, 3), 2, batch_shape=(2,), seed=degree)
    output, gradient = taylor_bounds(p, 1.2, degree)
    origin = torch.zeros(3, dtype=torch.float64)
    for i in range(2):
        assert largest_by_ascent(output_norm, p[i], origin, 1.2) <= output[i]
        assert largest_by_ascent(gradient_norm, p[i], origin, 1.2) <= gradient[i]


def test_remainder_bounds_the_parts_it_stands_for() -> None:
    p = random_ladder(3, (4, 5, 4), 2, batch_shape=(2,))
    x = torch.nn.functional.normalize(rows(500, 3), dim=-1)
    parts = homogeneous_parts(p, p.order)[-1]
    for degree in (1, 2, 3):
        above = remainder_norms(p, homogeneous_parts(p, degree), degree)
        assert sorted(above) == list(range(degree + 1, 5))
        for j, bound in above.items():
            value = (parts[j].mT @ x[:, monomials(3, j)].prod(-1).T).norm(dim=-2).amax(-1)
            assert (value <= part_norm(parts[j], 3, j)).all()
            assert (part_norm(parts[j], 3, j) <= bound).all()
    assert remainder_norms(p, homogeneous_parts(p, 4), 4) == {}


def test_gated_norm_is_a_bound_below_the_product_of_norms() -> None:
    Q, V = rows(4, 6, 1), rows(6, 3, 2)
    x, u = (torch.nn.functional.normalize(rows(2000, k, k), dim=-1) for k in (3, 6))
    bound = gated_norm(Q, V)
    assert (((x @ V.T) * u) @ Q.T).norm(dim=-1).max() <= bound
    assert bound <= torch.linalg.matrix_norm(Q, 2) * V.norm(dim=-1).max() * (1 + 1e-12)


def test_exact_degree_keeps_to_its_entries() -> None:
    p = random_ladder(6, (10, 10, 10), 1)
    assert exact_degree(p) == 4
    # Degree 2 of ten units over six inputs takes 10 * 6 * 6 numbers, degree 3 takes 10 * 6 * 21.
    assert [exact_degree(p, entries) for entries in (1, 359, 360, 1259, 1260)] == [1, 1, 2, 2, 3]


@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_unfoldings_compute_the_form_from_unit_vectors_of_monomials(left) -> None:
    part, x = rows(count(3, 3), 2), rows(5, 3, seed=4)

    def z(degree):
        return x[:, monomials(3, degree)].prod(-1) * multiplicities(3, degree).sqrt()

    torch.testing.assert_close(z(left).norm(dim=-1), x.norm(dim=-1) ** left)
    M = unfolding(part, 3, left, 3 - left).reshape(2, count(3, left), -1)
    found = torch.einsum("na,kab,nb->nk", z(left), M, z(3 - left))
    torch.testing.assert_close(found, x[:, monomials(3, 3)].prod(-1) @ part)


def test_the_chain_bounds_the_sum_and_is_below_the_balanced_norms() -> None:
    p = random_ladder(3, (4, 5, 4), 2)
    parts, scale = homogeneous_parts(p, p.order)[-1], [0.7**j for j in range(p.order + 1)]
    bound = chain_norm(parts, 3, scale)
    norms = [
        s * spectral_norm(unfolding(t, 3, j // 2, j - j // 2))
        for j, (s, t) in enumerate(zip(scale, parts, strict=True))
    ]
    x = 0.7 * torch.nn.functional.normalize(rows(2000, 3), dim=-1)
    assert p(x).norm(dim=-1).max() <= bound <= sum(norms) * (1 + 1e-12)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (1, 1), (2, 4, 3)])
def test_the_spectral_norm_is_numpys(shape) -> None:
    matrix = torch.from_numpy(np.random.default_rng(0).normal(size=shape))
    expected = np.linalg.norm(matrix.numpy(), 2, axis=(-2, -1))
    for size in (1.0, 1e-200, 1e200):
        np.testing.assert_allclose(spectral_norm(size * matrix), size * expected, rtol=1e-9)


def test_the_spectral_norm_of_nothing_and_of_what_overflowed() -> None:
    assert spectral_norm(torch.zeros(2, 3, dtype=torch.float64)) < 1e-140
    both = torch.stack([torch.eye(2), torch.tensor([[math.inf, 0.0], [0.0, 1.0]])]).double()
    assert spectral_norm(both).tolist() == pytest.approx([1.0, math.inf])


def test_powers_and_sizes() -> None:
    assert power(10.0, 2) == 100.0
    assert power(1e200, 2) == math.inf
    assert power(0.0, 0) == 1.0
    for degree in range(6):
        halves = range(degree + 1)
        assert unfolded_size(4, degree) == max(count(4, k) * count(4, degree - k) for k in halves)
