import pytest
import torch

from polyladder.analysis.jacobian import hessian_vector_product, jacobian
from polyladder.robustness import degrees
from polyladder.robustness.bounds import functionals
from polyladder.robustness.degrees import backward, degree_upper, second_at
from polyladder.robustness.states import states_on
from tests.ladders import random_ladder
from tests.robustness.cases import both_signs, points_of, region_of


def test_value_and_gradient_at_the_center_are_the_ladders() -> None:
    p, region = random_ladder(3, (4, 5)), region_of(4, 3, 0.1, "inf")
    readout, offset = functionals(p, both_signs(4, 2))
    value, gradient, _ = backward(p, region, states_on(p, region), readout, offset)
    assert torch.allclose(value.mid[:, :2], p(region.center))
    assert torch.allclose(gradient.mid[:, :2], jacobian(p, region.center))
    assert torch.allclose(gradient.mid[:, 2:], -jacobian(p, region.center))


def test_a_quadratic_is_bounded_by_its_own_hessian() -> None:
    """Of order 2 nothing is left above the quadratic part: where the slope rules, the bound is a value."""
    p, region = random_ladder(3, (6,), 1), region_of(20, 3, 0.02, "inf")
    readout, offset = functionals(p, both_signs(20, 1))
    bound, points = degree_upper(p, region, states_on(p, region), readout, offset)
    reached = p(region.at(points[:, 0]))[:, 0]
    slope = jacobian(p, region.center)[:, 0]
    turn = torch.stack(
        [hessian_vector_product(p, region.center, e)[:, 0] for e in torch.eye(3, dtype=torch.float64)], 1
    )
    clear = (slope.abs() > 0.02 * turn.abs().sum(-1)).all(-1)
    assert clear.sum() > 5
    assert torch.allclose(bound[clear, 0], reached[clear], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("norm", ["inf", 2])
def test_without_second_derivatives_it_is_looser_but_holds(norm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    p, region = random_ladder(4, (5, 5), 1), region_of(5, 4, 0.3, norm)  # type: ignore[arg-type]
    readout, offset = functionals(p, both_signs(5, 1))
    states = states_on(p, region)
    tight, _ = degree_upper(p, region, states, readout, offset)
    monkeypatch.setattr(degrees, "LARGEST", 1)
    loose, _ = degree_upper(p, region, states, readout, offset)
    assert (loose >= tight - 1e-12).all()
    values = p(points_of(region, 300).flatten(0, 1)).view(5, 300)
    assert (values.amax(1) <= tight[:, 0]).all()


def test_with_a_limit_only_what_can_be_decided_is_bounded_closely() -> None:
    p, region = random_ladder(4, (5, 5), 1), region_of(40, 4, 0.1, "inf")
    readout, offset = functionals(p, both_signs(40, 1))
    states = states_on(p, region)
    tight, _ = degree_upper(p, region, states, readout, offset)
    limit = torch.full_like(tight, float(tight.median()))
    found, _ = degree_upper(p, region, states, readout, offset, limit)
    # Every decision is the same; at least one bound is as close as it can be, and at least one was left as it was.
    assert torch.equal(found <= limit, tight <= limit)
    assert (found >= tight).all()
    assert 0 < int((found == tight).sum()) < found.numel()


def test_the_quadratic_part_at_a_point_is_that_of_the_hessian() -> None:
    p, region = random_ladder(3, (4, 5), 1), region_of(4, 3, 0.7, "inf")
    readout, offset = functionals(p, both_signs(4, 1))
    states = states_on(p, region)
    _, _, weights = backward(p, region, states, readout, offset)
    t = points_of(region_of(4, 3, 1.0, "inf"), 2)
    found = second_at(p, region, states, weights, t)
    for j, sign in enumerate((1, -1)):
        step = region.radius * t[:, j]
        turn = hessian_vector_product(p, region.center, step)[:, 0]
        torch.testing.assert_close(found[:, j], sign * (turn * step).sum(-1) / 2)
