import torch

from polyladder.robustness.ascent import Climb, gained
from polyladder.robustness.feasible import Feasible, Rules
from polyladder.robustness.region import Region
from polyladder.robustness.surface import Surface
from tests.ladders import random_ladder, rows


def climb_of(rules: Rules | None = None, norm: object = "inf", seed: int = 0) -> Climb:
    p, x = random_ladder(3, (5, 5), 1, seed=seed), rows(10, 3)
    if rules and rules.integer:
        x[:, rules.integer] = x[:, rules.integer].round()
    region = Region(x, torch.full_like(x, 0.8), norm)  # type: ignore[arg-type]
    return Climb(Surface.of(p), Feasible(region, rules or Rules()), torch.ones(10, 1, dtype=torch.float64), x)


def test_a_step_goes_to_the_best_point_of_its_line() -> None:
    climb, direction = climb_of(), rows(10, 3, seed=5)
    x, everyone = climb.x.clone(), torch.arange(10)
    low, high = climb.feasible.reach(x, direction)
    climb.step(everyone, direction)
    t = low.unsqueeze(-1) + torch.linspace(0, 1, 400, dtype=torch.float64) * (high - low).unsqueeze(-1)
    line = climb.surface.polynomial((x.unsqueeze(1) + t.unsqueeze(-1) * direction.unsqueeze(1)).flatten(0, 1)).view(
        10, 400
    )
    assert (climb.value >= line.amax(1) - 1e-12).all()
    torch.testing.assert_close(climb.value, climb.surface.polynomial(climb.x)[:, 0])


def test_the_climb_ends_where_no_input_helps() -> None:
    for norm in ("inf", 2):
        climb = climb_of(norm=norm)
        climb.run(60)
        assert climb.feasible.allows(climb.x).all()
        value = climb.value.clone()
        climb.ascend(torch.arange(10))
        climb.single_inputs(torch.arange(10))
        assert (climb.value <= value + 1e-6 * (1 + value.abs())).all()
        assert climb.evaluations > 10


def test_whole_numbers_stay_whole() -> None:
    climb = climb_of(Rules(integer=[0]))
    before = climb.value.clone()
    climb.run(10)
    assert (climb.x[:, 0] == climb.x[:, 0].round()).all()
    assert (climb.value >= before).all()


def test_gains_are_measured_against_the_value() -> None:
    after, before = torch.tensor([1.0, 1e6]), torch.tensor([0.5, 1e6])
    assert gained(after, before, 1e-9).tolist() == [True, False]


def test_of_many_levels_those_beside_the_highest_point_are_tried() -> None:
    levels = torch.linspace(-3, 3, 400, dtype=torch.float64)
    climb = climb_of(Rules(levels={1: levels}))
    everyone, x = torch.arange(10), climb.x.clone()
    low, high = climb.feasible.lower[:, 1], climb.feasible.upper[:, 1]
    climb.try_levels(everyone, 1, levels)
    assert torch.equal(climb.x[:, [0, 2]], x[:, [0, 2]])
    for row in range(10):
        near = levels[(levels >= low[row]) & (levels <= high[row])]
        tried = x[row].repeat(len(near), 1)
        tried[:, 1] = near
        best = climb.surface.polynomial(tried).max()
        assert climb.value[row] >= best - 1e-3 * (1 + best.abs())
        assert climb.x[row, 1] in levels or torch.equal(climb.x[row], x[row])


def test_a_climb_without_time_stays_where_it_is() -> None:
    climb = climb_of()
    before, climb.until = climb.x.clone(), 0.0
    climb.run(10)
    assert torch.equal(climb.x, before)
