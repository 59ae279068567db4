"""The monomials against sympy's exact expansion."""

import math

import pytest
import torch

from polyladder import coefficients
from tests.ladders import BATCH_SHAPES, random_ladder, rows
from tests.oracles.expansion import expand, monomials, over_batch, singles


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", range(1, 8))
def test_every_monomial(order: int, batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(2, [2] * (order - 1), 2, batch_shape, seed=order)
    found = coefficients(p)
    terms = math.comb(2 + order, order)
    assert found.values.shape == (*batch_shape, terms, 2)
    assert found.exponents.shape == (terms, 2)
    values = found.values.reshape(-1, terms, 2)
    for member, single in enumerate(singles(p)):
        for output, f in enumerate(expand(single)):
            expected = monomials(f)
            scale = max(map(abs, expected.values()))
            for exponents, value in zip(found.exponents.tolist(), values[member, :, output].tolist(), strict=True):
                assert value == pytest.approx(expected.pop(tuple(exponents), 0.0), rel=1e-9, abs=1e-12 * scale)
            assert not expected


def test_more_inputs() -> None:
    p = random_ladder(5, (3, 4), 1)
    expected = monomials(expand(p)[0])
    found = coefficients(p)
    assert len(expected) == len(found.exponents) == math.comb(8, 3)
    for exponents, value in zip(found.exponents.tolist(), found.values[:, 0].tolist(), strict=True):
        assert value == pytest.approx(expected[tuple(exponents)], rel=1e-9, abs=1e-13)


def test_order_of_the_rows() -> None:
    exponents = coefficients(random_ladder(4, (2, 2))).exponents
    degrees = exponents.sum(-1)
    assert degrees.tolist() == sorted(degrees.tolist())
    assert len({tuple(row) for row in exponents.tolist()}) == math.comb(4 + 3, 3)
    for degree in range(4):
        assert int((degrees <= degree).sum()) == math.comb(4 + degree, degree)
    # The rows of a lower order are the first of a higher one, so that two ladders can be compared.
    lower = coefficients(random_ladder(4, (2,))).exponents
    assert torch.equal(exponents[: len(lower)], lower)
    assert coefficients(random_ladder(2, (2,))).exponents.tolist() == [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("hidden", [(), (3,), (4, 3, 2), (2,) * 6])
def test_evaluation(hidden: tuple[int, ...], batch_shape: tuple[int, ...]) -> None:
    p = random_ladder(3, hidden, 2, batch_shape)
    found, x = coefficients(p), rows(7, 3)
    torch.testing.assert_close(found(x), p(x), rtol=1e-9, atol=1e-9)
    own = rows(7 * torch.Size(batch_shape).numel(), 3, seed=2).reshape(*batch_shape, 7, 3)
    torch.testing.assert_close(found(own), p(own), rtol=1e-9, atol=1e-9)


def test_evaluation_reads_exponents_as_powers() -> None:
    found, x = coefficients(random_ladder(3, (4, 3))), rows(5, 3)
    powers = (x.unsqueeze(1) ** found.exponents.to(x.dtype)).prod(-1)
    torch.testing.assert_close(found(x), powers @ found.values, rtol=1e-9, atol=1e-12)


def test_vanishing_terms_keep_their_row() -> None:
    p = random_ladder(2, (3,), 1)
    p.V[0][:, 1] = 0
    p.W[0][:, 1] = 0
    found = coefficients(p)
    assert len(found.values) == 6
    uses_second = found.exponents[:, 1] > 0
    assert not found.values[uses_second].any()
    assert found.values[~uses_second].all()


def test_batch_is_each_alone() -> None:
    p = random_ladder(3, (2, 3), 2, (2, 3))
    expected = over_batch(p, lambda q: coefficients(q).values)
    torch.testing.assert_close(coefficients(p).values, expected, rtol=1e-9, atol=1e-12)


def test_differentiable_in_the_weights() -> None:
    p = random_ladder(2, (3, 2), 1)

    def values(gate: torch.Tensor) -> torch.Tensor:
        q = p.map(lambda t: gate if t is p.V[0] else t)
        return coefficients(q).values

    assert torch.autograd.gradcheck(values, p.V[0].clone().requires_grad_())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dtype_follows_the_weights(dtype: torch.dtype) -> None:
    assert coefficients(random_ladder(dtype=dtype)).values.dtype == dtype


def test_budget_says_how_many_terms() -> None:
    p = random_ladder(20, (2,) * 6)
    with pytest.raises(ValueError, match=r"must be at least 888,030, .* of order 7 in 20 inputs; got 1,000\."):
        coefficients(p, max_terms=1_000)
    small = random_ladder(2, (2,))
    assert len(coefficients(small, max_terms=6).values) == 6
    with pytest.raises(ValueError, match="at least 6"):
        coefficients(small, max_terms=5)


@pytest.mark.parametrize("max_terms", [0, -1, 1.5, True, None])
def test_refuses_a_budget_that_is_none(max_terms: object) -> None:
    with pytest.raises(ValueError, match="max_terms must be a positive integer; got"):
        coefficients(random_ladder(), max_terms=max_terms)  # type: ignore[arg-type]


def test_refuses_other_rows() -> None:
    with pytest.raises(ValueError, match=r"x must have shape \(n, 3\) or \(2, n, 3\); got shape \(4, 2\)"):
        coefficients(random_ladder(batch_shape=(2,)))(rows(4, 2))


def test_repr() -> None:
    assert repr(coefficients(random_ladder(3, (2, 2), 2, (4,)))) == (
        "Coefficients(batch_shape=(4,), 20 terms of degree <= 3, 3 -> 2)"
    )
