import itertools
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder.polynomial.ball import exact
from polyladder.robustness.quadratic import concave, largest_eigenvalue, nearest, quadratic_upper
from polyladder.robustness.region import Norm
from tests.ladders import rows


def draw(n: int, d: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    b, C = rows(n, d, seed), rows(n * d, d, seed + 1).view(n, d, d)
    return b, (C + C.mT) / 2


def values(b: torch.Tensor, C: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    return (t * b.unsqueeze(1)).sum(-1) + torch.einsum("nci,nij,ncj->nc", t, C, t)


@pytest.mark.parametrize("norm", ["inf", 2])
@given(st.integers(0, 2**31), st.integers(1, 5))
def test_no_point_exceeds_the_bound(norm: Norm, seed: int, d: int) -> None:
    b, C = draw(6, d, seed)
    bound, points = quadratic_upper(exact(b), exact(C), norm)
    t = nearest(3 * rows(6 * 200, d, seed + 2), norm).view(6, 200, d)
    assert (values(b, C, t).amax(1) <= bound).all()
    assert (values(b, C, points.unsqueeze(1))[:, 0] <= bound).all()
    assert torch.allclose(nearest(points, norm), points)


def test_where_the_linear_part_rules_the_bound_is_the_best_corner() -> None:
    b, C = draw(20, 4, 3)
    C = 0.1 * C
    b = b.sign() * (1 + b.abs())
    bound, _ = quadratic_upper(exact(b), exact(C), "inf")
    corners = torch.tensor(list(itertools.product([-1.0, 1.0], repeat=4)), dtype=torch.float64)
    best = values(b, C, corners.expand(20, -1, -1)).amax(1)
    assert torch.allclose(bound, best, rtol=1e-6)


@pytest.mark.parametrize("norm", ["inf", 2])
def test_a_concave_quadratic_is_bounded_by_its_maximum(norm: Norm) -> None:
    b, C = draw(10, 3, 8)
    C = -(C @ C) - 2 * torch.eye(3, dtype=torch.float64) * C.abs().sum((-1, -2)).view(-1, 1, 1)
    bound, points = quadratic_upper(exact(b), exact(C), norm)
    top = torch.linalg.solve(-2 * C, b)
    assert (nearest(top, norm) == top).all()
    assert torch.allclose(points, top, atol=1e-4)
    assert torch.allclose(bound, values(b, C, top.unsqueeze(1))[:, 0], rtol=1e-3)


@pytest.mark.parametrize("norm", ["inf", 2])
def test_what_is_taken_for_concave_is(norm: Norm) -> None:
    _, C = draw(30, 5, 11)
    P, constant = concave(C, norm)
    assert (torch.linalg.eigvalsh(P)[:, -1] <= 1e-12).all()
    assert (constant >= 0).all()


def test_matrices_that_overflowed_prove_nothing() -> None:
    C = torch.eye(2, dtype=torch.float64).expand(2, -1, -1).clone()
    C[0, 0, 1] = torch.inf
    found = largest_eigenvalue(C)
    assert found[0] == torch.inf
    assert found[1] == pytest.approx(1.0)


def is_positive_semidefinite(matrix: list[list[Fraction]]) -> bool:
    """By elimination, without rounding: every pivot is positive, or zero with zeros beside it."""
    left = [row[:] for row in matrix]
    while left:
        pivot, *beside = left[0]
        if pivot < 0 or (pivot == 0 and any(beside)):
            return False
        left = [
            [entry - row[0] * above / pivot if pivot else entry for entry, above in zip(row[1:], beside, strict=True)]
            for row in left[1:]
        ]
    return True


def test_no_eigenvalue_exceeds_the_largest_that_is_claimed() -> None:
    for seed in range(30):
        _, C = draw(1, 6, seed)
        top = Fraction(largest_eigenvalue(C).item())
        shifted = [[top * (i == j) - Fraction(x) for j, x in enumerate(row)] for i, row in enumerate(C[0].tolist())]
        assert is_positive_semidefinite(shifted), seed
