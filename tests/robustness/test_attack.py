import itertools

import pytest
import torch

from polyladder import LadderPolynomial, Rules, attack
from polyladder.robustness.region import Norm
from tests.ladders import random_ladder, rows


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["inf", 2])
@pytest.mark.parametrize("goal", ["up", "down", "away"])
def test_numbers_are_driven_to_the_worst_point_of_a_grid(norm: Norm, goal: str) -> None:
    p, x = random_ladder(2, (4, 4), 1), rows(6, 2)
    y = p(x)[:, 0] + 0.1
    found = attack(p, x, y, 0.5, norm=norm, goal=goal)  # type: ignore[arg-type]
    step = torch.cartesian_prod(*[torch.linspace(-0.5, 0.5, 101, dtype=torch.float64)] * 2)
    step = step if norm == "inf" else step[step.norm(dim=-1) <= 0.5]
    error = p((x.unsqueeze(1) + step).flatten(0, 1)).view(6, -1) - y.unsqueeze(-1)
    worst = {"up": error, "down": -error, "away": error.abs()}[goal].amax(1)
    assert (found.value >= worst - 1e-3).all()
    assert found.bound is not None
    assert (found.bound >= worst).all()
    assert (found.gap >= 0).all()
    reached = p(found.x)[:, 0] - y
    torch.testing.assert_close({"up": reached, "down": -reached, "away": reached.abs()}[goal], found.value)
    assert (attack(p, x, y, 0.5, norm=norm, goal=goal, within=1e9).success == False).all()  # type: ignore[arg-type]  # noqa: E712
    assert found.success.all()


@pytest.mark.parametrize("m", [1, 3, 6])
def test_classes_are_driven_across_the_border(m: int) -> None:
    p, x = random_ladder(3, (5, 5), m), rows(20, 3)
    y = p(x).argmax(-1) if m > 1 else (p(x)[:, 0] > 0).long()
    found = attack(p, x, y, 0.6)
    after = p(found.x).argmax(-1) if m > 1 else (p(found.x)[:, 0] > 0).long()
    assert ((after != y) == found.success).all()
    assert 0 < found.success.sum() < 20 or m == 6
    assert found.bound is not None
    safe = found.bound < 0
    assert not (safe & found.success).any()
    corners = torch.tensor(list(itertools.product([-0.6, 0.6], repeat=3)), dtype=torch.float64)
    f = p((x.unsqueeze(1) + corners).flatten(0, 1)).view(20, 8, m)
    other = f.scatter(-1, y.view(20, 1, 1).expand(-1, 8, 1), -torch.inf).amax(-1) if m > 1 else 0 * f[..., 0]
    margin = (
        other - f.gather(-1, y.view(20, 1, 1).expand(-1, 8, 1))[..., 0]
        if m > 1
        else (1 - 2 * y).view(-1, 1) * f[..., 0]
    )
    assert (found.value >= margin.amax(1) - 0.05).all()


@pytest.mark.slow
def test_time_closes_the_gap() -> None:
    p, x = random_ladder(3, (5, 5, 5), 1), rows(3, 3)
    loose = attack(p, x, p(x)[:, 0], 0.8)
    tight = attack(p, x, p(x)[:, 0], 0.8, max_seconds=2.0)
    assert (tight.gap <= loose.gap + 1e-9).all()
    assert (tight.gap <= 0.01 * tight.value + 1e-6).all()


@pytest.mark.slow
def test_tables_have_rules() -> None:
    p, x = random_ladder(5, (6, 6), 1, seed=3), rows(12, 5)
    x[:, 0], x[:, 1:3] = x[:, 0].round(), torch.tensor([0.0, 1.0], dtype=torch.float64)
    limits = torch.full((1,), 2.5, dtype=torch.float64)
    matrix = torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0]], dtype=torch.float64)
    rules = Rules(frozen=[3], integer=[0], one_hot=[[1, 2]], matrix=matrix, limits=limits)
    found = attack(p, x, p(x)[:, 0], 1.5, rules=rules)
    assert torch.equal(found.x[:, 3], x[:, 3])
    assert torch.equal(found.x[:, 0], found.x[:, 0].round())
    assert (found.x[:, 1:3].sort(-1).values == torch.tensor([0.0, 1.0])).all()
    assert (found.x[:, 4] <= 2.5 + 1e-8).all()
    assert ((found.x - x)[:, [0, 3, 4]].abs() <= 1.5).all()
    assert (found.gap >= 0).all()
    free = attack(p, x, p(x)[:, 0], 1.5, rules=Rules(one_hot=[[1, 2]]))
    assert (found.value <= free.value + 1e-6 + 0.05 * free.value).all()


@pytest.mark.parametrize("norm", ["inf", 2])
def test_the_worst_row_in_single_precision_is_allowed(norm: Norm) -> None:
    p, x = random_ladder(3, (4,), 1, dtype=torch.float32), rows(20, 3, dtype=torch.float32)
    total = torch.ones(1, 3, dtype=torch.float64)
    rules = Rules(matrix=total, limits=x.double().sum(-1).max().view(1))
    found = attack(p, x, p(x)[:, 0], 0.1, norm=norm, rules=rules, restarts=1)
    assert found.x.dtype == torch.float32
    step = (found.x.double() - x.double()).norm(dim=-1, p=float(norm))
    assert (step <= 0.1).all()
    assert (found.x.double().sum(-1) <= rules.limits * (1 + 1e-8)).all()  # type: ignore[operator]
    value = (p.to(torch.float64)(found.x.double()) - p(x).double()).abs()[:, 0]
    torch.testing.assert_close(value, found.value, rtol=1e-9, atol=1e-12)
    assert (value > 0).all()


def test_a_row_that_breaks_the_rules_is_named() -> None:
    p, x = random_ladder(2, (3,), 1), rows(3, 2)
    rules = Rules(matrix=torch.ones(1, 2, dtype=torch.float64), limits=torch.tensor([-100.0], dtype=torch.float64))
    with pytest.raises(ValueError, match="x must satisfy the rules; row 1 does not"):
        attack(p, x, p(x)[:, 0], 0.1, rules=rules)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"goal": "sideways"}, "goal must be 'margin', 'up', 'down', 'away' or None; got 'sideways'"),
        ({"restarts": 0}, "restarts must be a positive integer; got 0"),
        ({"y": torch.zeros(2)}, r"y must hold one finite number per row, shape \(3,\); got shape \(2,\)"),
        ({"model": random_ladder(2, (3,), 2)}, "model must have one output to be attacked as a number; got 2"),
    ],
)
def test_what_is_refused(change: dict, said: str) -> None:
    given = {"model": random_ladder(2, (3,), 1), "x": rows(3, 2), "y": torch.zeros(3), "radius": 0.1, **change}
    with pytest.raises(ValueError, match=said):
        attack(**given)


def test_without_a_certificate_there_is_no_gap() -> None:
    p, x = random_ladder(2, (3,), 1, dtype=torch.float32), rows(3, 2)
    found = attack(p, x, p(x)[:, 0], 0.1, certificate=False)
    assert found.x.dtype == torch.float32
    with pytest.raises(ValueError, match="certificate=True"):
        _ = found.gap
    assert isinstance(p, LadderPolynomial)
