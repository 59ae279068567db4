import pytest
import torch

from polyladder.robustness.nodes import Tree, joined
from polyladder.robustness.region import Region
from polyladder.robustness.space import Space
from polyladder.robustness.surface import Surface
from tests.ladders import random_ladder, rows


@pytest.mark.parametrize("budget", [2**22, 0])
def test_halves_cover_the_box_and_hold_its_values(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways: with the polynomial written out, and layer by layer."""
    monkeypatch.setattr("polyladder.robustness.nodes.NUMBERS", budget)
    p, x = random_ladder(3, (4, 4), 1), rows(5, 3)
    region = Region(x, torch.full_like(x, 0.6), "inf")
    tree = Tree(p, torch.ones(5, 1, dtype=torch.float64), Space(Surface.of(p)))
    assert tree.is_written == (budget > 0)
    nodes, points = tree.roots(region)
    for _ in range(4):
        nodes, points, kept = tree.split(nodes)
        assert kept.all()
    assert len(nodes) == 5 * 16
    assert ((nodes.lower - 1e-12 <= points) & (points <= nodes.upper + 1e-12)).all()
    unit = torch.rand(80, 50, 3, dtype=torch.float64)
    inside = nodes.lower.unsqueeze(1) + unit * (nodes.upper - nodes.lower).unsqueeze(1)
    values = p(inside.flatten(0, 1)).view(80, 50)
    assert (values.amax(1) <= nodes.bound).all()
    volume = (nodes.upper - nodes.lower).prod(-1)
    totals = torch.zeros(5, dtype=torch.float64).scatter_add(0, nodes.problem, volume)
    torch.testing.assert_close(totals, torch.full((5,), 1.2**3, dtype=torch.float64))


def test_lists_of_boxes_join_and_part() -> None:
    p, x = random_ladder(3, (4, 4), 1), rows(5, 3)
    tree = Tree(p, torch.ones(5, 1, dtype=torch.float64), Space(Surface.of(p)))
    nodes, _ = tree.roots(Region(x, torch.ones_like(x), "inf"))
    again = joined([nodes[torch.arange(2)], nodes[torch.arange(2, 5)]])
    assert len(again) == 5
    assert torch.equal(again.coefficients, nodes.coefficients)
    assert tree.capacity > tree.batch > 0
