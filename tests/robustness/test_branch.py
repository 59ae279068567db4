import pytest
import torch

from polyladder.robustness.branch import BoxPace, Stop, branch
from polyladder.robustness.feasible import Rules
from polyladder.robustness.region import Norm, Region, box
from polyladder.robustness.space import Space
from polyladder.robustness.surface import Surface
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


def test_values_above_a_ceiling_count_as_the_ceiling() -> None:
    _, _, full = solve()
    lid = float(full.value.min()) - 1.0
    _, _, found = solve(ceiling=lid)
    assert (found.bound == lid).all()
    assert (found.value >= lid).all()
    assert found.boxes == 3


def test_as_many_boxes_as_there_is_time_for() -> None:
    pace = BoxPace(10.0, 64)
    assert pace.boxes() == 1
    pace.done(1)
    assert pace.boxes() == 64
    pace.each = 0.05
    assert pace.boxes() == 4
    pace.each = 30.0
    assert pace.boxes() == 0
    assert BoxPace(-0.1, 64).boxes() == 0


def test_boxes_of_a_space_are_parted_until_the_best_row_is_proven() -> None:
    # Inputs: one of nine levels, a switch of two, and a free one; all rows are tried.
    levels = torch.linspace(-1, 1, 9, dtype=torch.float64)
    p = random_ladder(4, (5, 5), 1, seed=3)
    space = Space(Surface.of(p), Rules(one_hot=[[1, 2]], levels={0: levels}))
    region = box(torch.tensor([[-1.0, 0, 0, -1]]).double(), torch.tensor([[1.0, 1, 1, 1]]).double())
    start = torch.tensor([[-1.0, 1.0, 0.0, 0.0]], dtype=torch.float64)
    stop = Stop(30.0, 0.0, torch.tensor([1e-6], dtype=torch.float64))
    found = branch(p, region, torch.ones(1, 1, dtype=torch.float64), start, stop, space)
    grid = torch.cartesian_prod(levels, torch.tensor([0.0, 1.0]).double(), torch.linspace(-1, 1, 201).double())
    every = torch.stack([grid[:, 0], grid[:, 1], 1 - grid[:, 1], grid[:, 2]], 1)
    assert p(every).max() <= found.bound.item() <= found.value.item() + 1.001e-6
    assert found.x[0, 0] in levels
    assert sorted(found.x[0, 1:3].tolist()) == [0.0, 1.0]
