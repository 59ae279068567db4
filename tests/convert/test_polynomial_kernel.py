"""The ladder against the sum of powers in exact arithmetic."""

import pytest
import torch

from polyladder import from_polynomial_kernel
from tests.ladders import BATCH_SHAPES
from tests.oracles.rivals import polynomial_kernel

K, D, ROWS = 3, 4, 3


def draw(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("degree", range(1, 8))
def test_is_the_sum_of_powers(degree: int, batch_shape: tuple[int, ...]) -> None:
    weights, intercepts = draw(*batch_shape, 2, K, seed=0), draw(*batch_shape, K, seed=1)
    directions, x = draw(*batch_shape, K, D, seed=2), draw(ROWS, D, seed=3)
    p = from_polynomial_kernel(weights, intercepts, directions, degree)
    assert tuple(p.batch_shape) == batch_shape
    assert (p.order, p.hidden, p.out_features) == (degree, (K,) * (degree - 1), 2)
    found = p(x).reshape(-1, ROWS, 2)
    flat = weights.reshape(-1, 2, K), intercepts.reshape(-1, K), directions.reshape(-1, K, D)
    for i, (pi, shift, direction) in enumerate(zip(*flat, strict=True)):
        for r, row in enumerate(x.tolist()):
            powers = [abs(v) for v in (shift + direction @ x[r]).pow(degree).tolist()]
            for j in range(2):
                expected = polynomial_kernel(pi[j].tolist(), shift.tolist(), direction, degree, row)
                scale = sum(a * abs(b) for a, b in zip(powers, pi[j].tolist(), strict=True))
                assert found[i, r, j].item() == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
def test_one_output_and_one_intercept(batch_shape: tuple[int, ...]) -> None:
    weights, directions = draw(*batch_shape, K, seed=0), draw(*batch_shape, K, D, seed=2)
    x = draw(ROWS, D, seed=3)
    p = from_polynomial_kernel(weights, 0.7, directions, 5)
    inner = torch.einsum("...kd,nd->...nk", directions, x) + 0.7
    torch.testing.assert_close(p(x)[..., 0], (inner**5 * weights.unsqueeze(-2)).sum(-1), rtol=1e-9, atol=1e-9)


def test_intercept_for_each_model() -> None:
    weights, directions, x = draw(2, K, seed=0), draw(2, K, D, seed=2), draw(ROWS, D, seed=3)
    p = from_polynomial_kernel(weights, torch.tensor([[0.5], [-1.0]]), directions, 3)
    for i, intercept in enumerate([0.5, -1.0]):
        torch.testing.assert_close(p[i](x), from_polynomial_kernel(weights[i], intercept, directions[i], 3)(x))


def test_dtype_follows_the_directions() -> None:
    assert from_polynomial_kernel(draw(K, seed=0), 1.0, draw(K, D, seed=1).float(), 3).dtype == torch.float32


def test_refuses_parts_that_do_not_fit() -> None:
    weights, directions = draw(2, K, seed=0), draw(2, K, D, seed=1)
    for degree in (0, 2.0, True):
        with pytest.raises(ValueError, match="degree must be a positive integer; got"):
            from_polynomial_kernel(weights, 1.0, directions, degree)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"weights must be a floating-point torch.Tensor; got torch.int64"):
        from_polynomial_kernel(weights.long(), 1.0, directions, 2)
    with pytest.raises(ValueError, match=r"directions must have shape \(\*batch_shape, K, d\); got shape \(4,\)"):
        from_polynomial_kernel(weights[0], 1.0, directions[0, 0], 2)
    with pytest.raises(ValueError, match=r"weights must have shape \(2, 3\) or \(2, m, 3\) as directions have"):
        from_polynomial_kernel(draw(2, K + 1, seed=0), 1.0, directions, 2)
    with pytest.raises(ValueError, match=r"weights must have shape \(3\) or \(m, 3\).*; got shape \(1, 1, 3\)"):
        from_polynomial_kernel(draw(1, 1, K, seed=0), 1.0, directions[0], 2)
    with pytest.raises(ValueError, match=r"must be one number or broadcast to shape \(2, 3\); got shape \(2,\)"):
        from_polynomial_kernel(weights, draw(2, seed=3), directions, 2)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_refuses_to_sum_nothing(degree: int) -> None:
    for weights, directions in (
        (draw(0, seed=0), draw(0, D, seed=1)),
        (draw(2, 0, seed=0), draw(0, D, seed=1)),
        (draw(K, seed=0), draw(K, 0, seed=1)),
        (draw(0, K, seed=0), draw(0, K, D, seed=1)),
    ):
        with pytest.raises(ValueError, match=r"directions must have shape .* without zeros; got shape .* the weight 0"):
            from_polynomial_kernel(weights, 1.0, directions, degree)


@pytest.mark.parametrize("intercept", ["one", None, [[1.0], [1.0, 2.0]]])
def test_refuses_an_intercept_that_is_no_number(intercept: object) -> None:
    with pytest.raises(TypeError, match="intercept must be a number or a tensor; got"):
        from_polynomial_kernel(draw(K, seed=0), intercept, draw(K, D, seed=1), 2)  # type: ignore[arg-type]


def test_nan_stays_with_its_model() -> None:
    for part in range(3):
        parts = [draw(2, K, seed=0), draw(2, K, seed=1), draw(2, K, D, seed=2)]
        parts[part][0, 1] = float("nan")
        p = from_polynomial_kernel(*parts, degree=3)
        assert p(draw(ROWS, D, seed=3)).isnan().flatten(1).all(1).tolist() == [True, False]
