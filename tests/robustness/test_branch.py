import pytest
import torch

from polyladder.robustness.branch import Stop, branch
from polyladder.robustness.region import Norm, Region
from tests.ladders import random_ladder, rows


def solve(norm: Norm = "inf", seconds: float = 5.0, **options: object) -> tuple:
    p, x = random_ladder(3, (5, 5, 5), 1, seed=2), rows(3, 3)
    region = Region(x, torch.ones_like(x), norm)
    weights = torch.ones(3, 1, dtype=torch.float64)
    absolute = torch.full((3,), 1e-3, dtype=torch.float64)
    return p, region, branch(p, region, weights, x, Stop(seconds, 0.0, absolute, **options))  # type: ignore[arg-type]


def test_the_maximum_is_found_and_proven() -> None:
    p, region, found = solve()
    assert ((found.bound - found.value <= 1.001e-3) & (found.bound >= found.value)).all()
    torch.testing.assert_close(p(found.x)[:, 0], found.value)
    grid = torch.cartesian_prod(*[torch.linspace(-1, 1, 41, dtype=torch.float64)] * 3)
    for row in range(3):
        values = p(region.center[row] + grid)
        assert values.max() <= found.bound[row]
        assert values.max() <= found.value[row] + 1e-3


@pytest.mark.parametrize("seconds", [0.0, 0.02])
def test_the_bound_holds_whenever_the_search_ends(seconds: float) -> None:
    _, _, found = solve(seconds=seconds)
    _, _, best = solve()
    assert (found.bound >= best.value).all()


@pytest.mark.slow
def test_balls_leave_out_the_corners() -> None:
    _, region, ball = solve(norm=2, seconds=1.0)
    _, _, box = solve()
    assert (ball.bound <= box.bound + 1e-9).all()
    assert ((ball.x - region.center).norm(dim=-1) <= 1).all()
    assert (ball.value <= ball.bound).all()


def test_a_threshold_ends_the_search_early() -> None:
    _, _, full = solve()
    above = full.value + 5.0
    _, _, found = solve(threshold=above)
    assert (found.bound <= above).all()
    assert found.boxes < full.boxes
    below = full.value - 5.0
    _, _, found = solve(threshold=below)
    assert (found.value > below).all()


def test_a_box_that_is_a_point_needs_no_search() -> None:
    p, x = random_ladder(2, (3,), 1), rows(2, 2)
    region = Region(x, torch.zeros_like(x), "inf")
    stop = Stop(5.0, 0.0, torch.zeros(2, dtype=torch.float64))
    found = branch(p, region, torch.ones(2, 1, dtype=torch.float64), x, stop)
    assert found.boxes == 2
    torch.testing.assert_close(found.bound, p(x)[:, 0])
