import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder.training.solves.quadratic_bound import Logistic, QuadraticBound, Softmax, SquaredError

OUTPUTS = st.lists(st.floats(-30, 30), min_size=3, max_size=3)
NEAR_ZERO = st.sampled_from([0.0, 1e-300, 1e-5, -9.9e-5, 1.01e-4, -1e-3])


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64).reshape(1, -1, 1)


def losses(sign: float, share: float) -> list[QuadraticBound]:
    soft = column(share, 1 - share, 0.0)
    return [SquaredError(column(1.0, -2.0, 0.5)), Softmax(column(0.0, 1.0, 0.0)), Softmax(soft), Logistic(column(sign))]


def bound(loss: QuadraticBound, at: torch.Tensor, f: torch.Tensor) -> torch.Tensor:
    """The quadratic that touches the loss at one output, evaluated at another."""
    response, curvature = loss.quadratic(at)
    quadratic = [(curvature * (v - response).square().sum(1)) for v in (f, at)]
    return loss.value(at) + quadratic[0] - quadratic[1]


@given(OUTPUTS, OUTPUTS, st.sampled_from([-1.0, 1.0]), st.floats(0, 1), st.one_of(st.floats(-30, 30), NEAR_ZERO))
def test_quadratics_bound_the_loss_and_touch_it(
    at: list[float], to: list[float], sign: float, share: float, near: float
) -> None:
    for loss in losses(sign, share):
        m = 1 if isinstance(loss, Logistic) else 3
        here = column(*([near] if m == 1 else at)).requires_grad_()
        there = column(*to[:m])
        slack = 1e-9 * (1 + loss.value(here).abs() + there.square().sum() + here.square().sum()).item()
        assert (bound(loss, here, there) >= loss.value(there) - slack).all()
        # Touching: the same value, by construction of `bound`, and the same slope.
        response, curvature = loss.quadratic(here.detach())
        (slope,) = torch.autograd.grad(loss.value(here).sum(), here)
        torch.testing.assert_close(2 * curvature * (here.detach() - response), slope, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("f", [-40.0, -1.5, 0.0, 3.0, 700.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_values(f: float, sign: float) -> None:
    expected = math.log1p(math.exp(-sign * f)) if -sign * f < 700 else -sign * f
    assert Logistic(column(sign)).value(column(f)).item() == pytest.approx(expected, rel=1e-12)
    two = Softmax(column(1.0, 0.0) if sign > 0 else column(0.0, 1.0)).value(column(f, 0.0))
    assert two.item() == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert SquaredError(column(sign, 1.0)).value(column(f, 3.0)).item() == pytest.approx((f - sign) ** 2 + 4)


def test_the_logistic_bound_is_tighter_than_the_uniform_one_away_from_zero() -> None:
    loss = Logistic(column(1.0))
    assert loss.quadratic(column(0.0))[1].item() == 0.125
    assert loss.quadratic(column(8.0))[1].item() < 0.04
