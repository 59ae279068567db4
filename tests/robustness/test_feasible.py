import pytest
import torch

from polyladder.robustness.feasible import Feasible, Rules, chord, ends
from polyladder.robustness.region import Region
from tests.ladders import rows


def around(n: int = 4, d: int = 3, radius: float = 0.5, norm: object = "inf", **rules: object) -> Feasible:
    x = rows(n, d)
    return Feasible(Region(x, torch.full_like(x, radius), norm), Rules(**rules))  # type: ignore[arg-type]


def test_a_line_ends_where_the_region_does() -> None:
    for norm in ("inf", 2):
        part = around(norm=norm)
        direction = rows(4, 3, seed=7)
        low, high = part.reach(part.region.center, direction)
        assert ((low < 0) & (high > 0)).all()
        step = direction.abs().amax(-1) if norm == "inf" else direction.norm(dim=-1)
        torch.testing.assert_close(high * step, torch.full((4,), 0.5, dtype=torch.float64))
        torch.testing.assert_close(low, -high)


def test_frozen_inputs_and_directions_that_go_nowhere() -> None:
    part = around(frozen=[1])
    assert (part.upper[:, 1] == part.lower[:, 1]).all()
    assert part.continuous.tolist() == [1.0, 0.0, 1.0]
    low, high = part.reach(part.region.center, torch.zeros(4, 3, dtype=torch.float64))
    assert (low == 0).all()
    assert (high == 0).all()


def test_linear_constraints_cut_lines_and_points() -> None:
    part = around(matrix=torch.ones(1, 3, dtype=torch.float64), limits=torch.tensor([100.0], dtype=torch.float64))
    x = part.region.center
    tight = Rules(matrix=torch.ones(1, 3, dtype=torch.float64), limits=x.sum(-1).max().view(1) + 0.1)
    part = Feasible(part.region, tight)
    _, high = part.reach(x, torch.ones_like(x))
    assert (high <= 0.5).all()
    top = x.sum(-1).argmax()
    assert high[top] == pytest.approx(0.1 / 3)
    assert not part.allows(x + 0.5)[top]
    assert part.allows(x).all()


def test_rounding_moves_inward_and_leaves_what_is_frozen_or_discrete() -> None:
    part = around(frozen=[0], levels={1: torch.tensor([0.0, 1.0], dtype=torch.float64)})
    x = part.upper.clone()
    found = part.rounded(x, torch.float32)
    assert torch.equal(found, found.float().double())
    assert (found[:, 2] <= part.upper[:, 2]).all()
    torch.testing.assert_close(found, x, rtol=1e-6, atol=0)
    assert part.rounded(x, torch.float64) is x
    thin = Feasible(Region(x, torch.zeros_like(x), "inf"))
    torch.testing.assert_close(thin.rounded(x, torch.float32), x, rtol=1e-6, atol=0)


def test_categories_may_change_whatever_the_radius_is() -> None:
    part = around(one_hot=[[0, 2]])
    assert part.upper[:, [0, 2]].tolist() == [[1.0, 1.0]] * 4
    assert part.lower[:, [0, 2]].tolist() == [[0.0, 0.0]] * 4
    assert part.rules.discrete == [0, 2]


@pytest.mark.parametrize(
    ("rules", "norm", "said"),
    [
        ({"frozen": [3]}, "inf", "must name inputs from 0 to 2; got 3"),
        ({"integer": [True]}, "inf", "must name inputs from 0 to 2; got True"),
        ({"one_hot": [[0, 1]]}, 2, "one_hot must come with norm='inf'"),
        ({"matrix": torch.ones(1, 3)}, "inf", "constraints must have both a matrix and limits"),
        ({"matrix": torch.ones(1, 2), "limits": torch.ones(1)}, "inf", r"constraints must have shapes \(c, 3\)"),
    ],
)
def test_rules_are_checked(rules: dict, norm: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rules(**rules).check(3, norm)  # type: ignore[arg-type]


def test_ends_and_chords() -> None:
    low, high = ends(torch.tensor([[2.0, 0.0]]), torch.tensor([[-1.0, -9.0]]), torch.tensor([[3.0, 9.0]]))
    assert (low.item(), high.item()) == (-0.5, 1.5)
    first, last = chord(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), torch.tensor([1.0]))
    assert (first.item(), last.item()) == pytest.approx((-0.2, 0.2))
