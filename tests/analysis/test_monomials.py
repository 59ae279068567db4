import itertools

import pytest
import torch

from polyladder.analysis.monomials import (
    count,
    exponents,
    homogeneous_parts,
    joined,
    monomials,
    multiplicities,
    places,
    terms,
    times_linear,
)
from tests.ladders import random_ladder, rows


@pytest.mark.parametrize(("d", "degree"), [(1, 3), (3, 0), (3, 1), (4, 3), (2, 6)])
def test_every_monomial_has_its_place(d: int, degree: int) -> None:
    listed = monomials(d, degree)
    expected = itertools.combinations_with_replacement(range(d), degree)
    assert sorted(map(tuple, listed.tolist())) == sorted(expected)
    assert places(listed).tolist() == list(range(count(d, degree)))
    assert (exponents(d, degree).sum(-1) == degree).all()
    powers = rows(1, d)[0] ** exponents(d, degree).double()
    torch.testing.assert_close(powers.prod(-1), rows(1, d)[0][listed].prod(-1))
    # With more variables the same monomials come first.
    assert torch.equal(monomials(d + 2, degree)[: len(listed)], listed)
    assert terms(d, degree) == sum(count(d, j) for j in range(degree + 1))


def test_homogeneous_parts_sum_to_the_polynomial_and_scale_by_their_degree() -> None:
    p, x = random_ladder(3, (4, 5, 2), 2, batch_shape=(2,)), rows(6, 3)
    parts = homogeneous_parts(p, p.order)[-1]
    values = [part.mT @ x[:, monomials(3, j)].prod(-1).T for j, part in enumerate(parts)]
    for t in (-1.3, 0.0, 0.4, 2.0):
        torch.testing.assert_close(sum(t**j * value for j, value in enumerate(values)).mT, p(t * x))
    short = homogeneous_parts(p, 2)[-1]
    assert len(short) == 3
    for full, cut in zip(parts, short, strict=False):
        torch.testing.assert_close(full, cut)


def test_multiplicities_count_orderings() -> None:
    assert multiplicities(2, 3).tolist() == [1, 3, 3, 1]
    assert multiplicities(4, 5).sum().item() == 4**5


@pytest.mark.parametrize(("d", "left", "right"), [(1, 2, 3), (3, 0, 2), (3, 1, 1), (3, 2, 2), (4, 3, 1)])
def test_products_of_monomials_are_found_in_the_list(d, left, right) -> None:
    listed = [tuple(m) for m in monomials(d, left + right).tolist()]
    assert listed == sorted(listed, key=lambda m: m[::-1])
    assert len(listed) == count(d, left + right)
    where = joined(d, left, right)
    for i, one in enumerate(monomials(d, left).tolist()):
        for j, other in enumerate(monomials(d, right).tolist()):
            assert listed[where[i, j]] == tuple(sorted([*one, *other]))


def test_multiplicities_are_counts_of_permutations() -> None:
    for monomial, found in zip(monomials(3, 4).tolist(), multiplicities(3, 4).tolist(), strict=True):
        assert found == len(set(itertools.permutations(monomial)))


@pytest.mark.parametrize("degree", [0, 1, 3])
def test_forms_times_linear_forms_multiply_their_values(degree) -> None:
    part, V, x = rows(count(3, degree), 4), rows(4, 3, seed=2), rows(6, 3, seed=3)

    def value(part, degree):
        return part.mT @ x[:, monomials(3, degree)].prod(-1).T

    torch.testing.assert_close(value(times_linear(part, V, degree), degree + 1), value(part, degree) * (V @ x.T))
