"""The ladder against the machine's definition: a sum over every tuple of distinct inputs."""

import pytest
import torch

from polyladder import coefficients, from_factorization_machine
from tests.ladders import BATCH_SHAPES
from tests.oracles.rivals import factorization_machine

D, RANK, RANK3, ROWS = 5, 3, 2, 4


def draw(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def machines(*lead: int, order: int) -> tuple[torch.Tensor, ...]:
    parts = draw(*lead, seed=0), draw(*lead, D, seed=1), draw(*lead, RANK, D, seed=2), draw(*lead, RANK3, D, seed=3)
    return parts[: order + 1]


def check_against_definition(found: torch.Tensor, parts: tuple[torch.Tensor, ...], x: torch.Tensor) -> None:
    """``found`` (machines, rows) against the exact sums, within 1e-9 of their terms."""
    w0, w, *factors = (t.reshape(-1, *t.shape[parts[0].dim() :]) for t in parts)
    assert found.shape == (len(w0), len(x))
    for i in range(len(w0)):
        for r, row in enumerate(x.tolist()):
            expected, scale = factorization_machine(w0[i].item(), w[i], [f[i] for f in factors], row)
            assert found[i, r].item() == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", [2, 3])
def test_one_output(order: int, batch_shape: tuple[int, ...]) -> None:
    parts, x = machines(*batch_shape, order=order), draw(ROWS, D, seed=4)
    p = from_factorization_machine(*parts)
    assert tuple(p.batch_shape) == batch_shape
    assert (p.order, p.out_features) == (order, 1)
    check_against_definition(p(x).reshape(-1, ROWS), parts, x)


@pytest.mark.parametrize("batch_shape", BATCH_SHAPES)
@pytest.mark.parametrize("order", [2, 3])
def test_several_outputs(order: int, batch_shape: tuple[int, ...]) -> None:
    parts, x = machines(*batch_shape, 3, order=order), draw(ROWS, D, seed=4)
    p = from_factorization_machine(*parts, several_outputs=True)
    assert tuple(p.batch_shape) == batch_shape
    assert (p.order, p.out_features) == (order, 3)
    assert p.hidden == {2: (3 * RANK + D + 3,), 3: (3 * RANK + D + 3 + 3 * RANK3, 3 + 3 * RANK3 + D)}[order]
    check_against_definition(p(x).mT.reshape(-1, ROWS), parts, x)


@pytest.mark.parametrize("order", [2, 3])
def test_only_distinct_inputs_multiply(order: int) -> None:
    found = coefficients(from_factorization_machine(*machines(order=order)))
    repeated = (found.exponents > 1).any(-1)
    assert repeated.sum() == len(found.exponents) - {2: 1 + 5 + 10, 3: 1 + 5 + 10 + 10}[order]
    assert found.values[repeated].abs().max() < 1e-13
    assert found.values[~repeated].abs().min() > 1e-6


def test_one_intercept_for_all() -> None:
    _, w, factors = machines(3, order=2)
    x = draw(ROWS, D, seed=4)
    p, q = from_factorization_machine(0.1, w, factors), from_factorization_machine(0.0, w, factors)
    torch.testing.assert_close(p(x), q(x) + 0.1, rtol=1e-12, atol=1e-12)


def test_dtype_follows_the_factors() -> None:
    w0, w, factors, factors3 = machines(order=3)
    p = from_factorization_machine(w0, w, factors.float(), factors3)
    assert p.dtype == torch.float32


def test_differentiable_in_the_factors() -> None:
    w0, w, factors, factors3 = machines(order=3)
    x = draw(ROWS, D, seed=4)
    assert torch.autograd.gradcheck(
        lambda s, t: from_factorization_machine(w0, w, s, t)(x), (factors.requires_grad_(), factors3.requires_grad_())
    )


def test_refuses_parts_that_do_not_fit() -> None:
    w0, w, factors, factors3 = machines(3, order=3)
    with pytest.raises(TypeError, match=r"factors must be a floating-point torch.Tensor; got torch.int64"):
        from_factorization_machine(w0, w, factors.long())
    with pytest.raises(TypeError, match=r"w must be a floating-point torch.Tensor; got list"):
        from_factorization_machine(w0, [1.0], factors)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"factors must have shape \(\*batch_shape, rank, d\); got shape \(5,\)"):
        from_factorization_machine(0.0, w[0], factors[0, 0])
    with pytest.raises(ValueError, match=r"factors must have shape \(\*batch_shape, m, rank, d\); got shape \(3, 5\)"):
        from_factorization_machine(0.0, w[0], factors[0], several_outputs=True)
    with pytest.raises(ValueError, match=r"w must have shape \(3, 5\) as factors have; got shape \(5,\)"):
        from_factorization_machine(w0, w[0], factors)
    with pytest.raises(ValueError, match=r"w0 must be one number or have shape \(3,\); got shape \(2,\)"):
        from_factorization_machine(w0[:2], w, factors)
    with pytest.raises(ValueError, match=r"factors3 must have the shape of factors, \(3, 3, 5\), but for the rank"):
        from_factorization_machine(w0, w, factors, factors3[..., :4])
