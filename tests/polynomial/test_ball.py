import mpmath
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder.polynomial.ball import (
    Ball,
    affine,
    between,
    exact,
    interval_product,
    ladder_intervals,
    linear,
    matmul,
    plus,
    product,
    product_error,
    sum_error,
    sum_up,
    total,
)
from tests.ladders import random_ladder
from tests.oracles.long_arithmetic import PRECISION


def numbers(seed: int, *shape: int) -> torch.Tensor:
    """Numbers of very different sizes, many of which cancel in a sum."""
    g = torch.Generator().manual_seed(seed)
    size = 10.0 ** (torch.rand(*shape, generator=g, dtype=torch.float64) * 12 - 6)
    t = torch.randn(*shape, generator=g, dtype=torch.float64) * size
    half = t.shape[-1] // 2
    t[..., :half] = -t[..., half : 2 * half]
    return t


def holds(ball: Ball, exactly: list[mpmath.mpf]) -> bool:
    with mpmath.workprec(PRECISION):
        pairs = zip(ball.mid.flatten().tolist(), ball.rad.flatten().tolist(), exactly, strict=True)
        return all(abs(mpmath.mpf(mid) - true) <= mpmath.mpf(rad) for mid, rad, true in pairs)


def long(t: torch.Tensor) -> list[mpmath.mpf]:
    return [mpmath.mpf(v) for v in t.flatten().tolist()]


@given(st.integers(0, 2**31), st.integers(1, 40))
def test_sums_and_products_hold_the_exact_numbers(seed: int, k: int) -> None:
    x, y, A = numbers(seed, 3, k), numbers(seed + 1, 3, k), numbers(seed + 2, 2, k)
    with mpmath.workprec(PRECISION):
        assert holds(product(exact(x), exact(y)), [a * b for a, b in zip(long(x), long(y), strict=True)])
        assert holds(plus(exact(x), exact(y)), [a + b for a, b in zip(long(x), long(y), strict=True)])
        dots = [mpmath.fdot(long(row), long(w)) for row in x for w in A]
        assert holds(linear(exact(x), A), dots)
        assert holds(matmul(exact(x), exact(A.mT)), dots)
        assert holds(affine(exact(x), A, A[:, 0]), [v + long(A[:, 0])[i % 2] for i, v in enumerate(dots)])
        assert holds(total(exact(x)), [mpmath.fsum(long(row)) for row in x])
        sums = [mpmath.fsum(long(row)) for row in x.abs()]
        assert all(mpmath.mpf(s) >= true for s, true in zip(sum_up(x.abs()).tolist(), sums, strict=True))


@given(st.integers(0, 2**31))
def test_errors_are_carried_along(seed: int) -> None:
    """A number anywhere in its ball stays in the ball of the result."""
    x, e, A = numbers(seed, 3, 8), numbers(seed + 1, 3, 8).abs(), numbers(seed + 2, 4, 8)
    sign = torch.randint(0, 2, x.shape, generator=torch.Generator().manual_seed(seed)) * 2.0 - 1
    with mpmath.workprec(PRECISION):
        moved = [a + s * r for a, s, r in zip(long(x), long(sign), long(e), strict=True)]
        rows = [moved[i : i + 8] for i in (0, 8, 16)]
        assert holds(linear(Ball(x, e), A), [mpmath.fdot(row, long(w)) for row in rows for w in A])
        assert holds(product(Ball(x, e), Ball(x, e)), [v * v for v in moved])
        assert holds(interval_product(Ball(x, e), Ball(x, e)), [v * v for v in moved])
        ball = Ball(x, e)
        uppers, lowers, sizes = (t.flatten().tolist() for t in (ball.upper, ball.lower, ball.size))
        assert all(lo <= v <= hi and abs(v) <= s for lo, v, hi, s in zip(lowers, moved, uppers, sizes, strict=True))


def test_between_holds_both_ends() -> None:
    low = torch.tensor([1e-20, -1.0, 0.1], dtype=torch.float64)
    ball = between(low, low + 0.3)
    assert (ball.lower <= low).all()
    assert (ball.upper >= low + 0.3).all()


def test_corners_are_never_wider_and_exact_where_factors_keep_their_signs() -> None:
    x, y = between(*numbers(0, 2, 400).sort(0).values), between(*numbers(1, 2, 400).sort(0).values)
    wide, narrow = product(x, y), interval_product(x, y)
    assert (narrow.rad <= wide.rad * (1 + 1e-12)).all()
    unit = between(torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64))
    assert interval_product(unit, unit).lower.item() >= -1e-14
    assert product(unit, unit).lower.item() < -0.4


def test_errors_of_sums_and_products_are_reached_and_not_exceeded() -> None:
    x, y, e, f = (numbers(seed, 50).abs() for seed in range(4))
    torch.testing.assert_close(product_error(x, e, y, f), (x + e) * (y + f) - x * y, rtol=1e-6, atol=1e-9)
    W, D = numbers(5, 3, 50).abs(), numbers(6, 3, 50).abs()
    # Stored weights W + D at x + e against W at x.
    torch.testing.assert_close(sum_error(W + D, D, x, e), (W + D) @ (x + e) - W @ x, rtol=1e-6, atol=1e-9)


def test_no_state_leaves_its_interval() -> None:
    p, x = random_ladder(3, (4, 5), 1), numbers(0, 6, 3).clamp(-2, 2)
    radius = torch.full_like(x, 0.3)
    rungs = ladder_intervals(p, Ball(x, radius))
    g = torch.Generator().manual_seed(0)
    for _ in range(50):
        states = p.hidden_states(x + radius * (2 * torch.rand(x.shape, generator=g, dtype=torch.float64) - 1))
        for rung, h in zip(rungs, states[1:], strict=True):
            assert ((rung.product.lower <= h) & (h <= rung.product.upper)).all()
