import itertools

import torch

from polyladder.robustness.feasible import Rules
from polyladder.robustness.space import Gap, Space
from polyladder.robustness.surface import Surface
from tests.ladders import random_ladder, rows
from tests.robustness.test_surface import pieces

F64 = torch.float64
LEVELS = torch.tensor([-1.0, -0.2, 0.1, 0.9, 2.0], dtype=F64)
# One number that may be missing (0, flag 5), one of five levels (1), one of three categories (2 to 4).
RULES = Rules(one_hot=[[2, 3, 4]], levels={1: LEVELS})
SPACE = Space(Surface.of(random_ladder(6, (4,), 1)), RULES, (Gap(5, 0, 0.25),))


def all_rows() -> torch.Tensor:
    """Every row with a few numbers, missing ones included."""
    found = []
    for number, level, kind in itertools.product([-0.5, 0.1, 0.25, 0.7, None], LEVELS.tolist(), range(3)):
        group = [float(i == kind) for i in range(3)]
        found.append([0.25 if number is None else number, level, *group, float(number is None)])
    return torch.tensor(found, dtype=F64)


def within(x: torch.Tensor, lower: torch.Tensor, upper: torch.Tensor) -> torch.Tensor:
    return ((x >= lower) & (x <= upper)).all(-1)


def test_boxes_drawn_in_lose_no_row_and_halves_share_them_out() -> None:
    every = all_rows()
    lower, upper = torch.tensor([[-1.0, -1.5, 0, 0, 0, 0], [1.0, 1.5, 1, 1, 1, 1]], dtype=F64).unsqueeze(1)
    held = every[within(every, lower, upper)]
    boxes = [SPACE.snapped(lower, upper)[:2]]
    for _ in range(7):
        halves = []
        for low, high in boxes:
            wide = (high - low)[0].argmax().view(1)
            if float((high - low).max()) == 0:
                halves.append((low, high))
                continue
            cut = SPACE.cut(low, high, wide)
            for side in (0, 1):
                ends = [low.clone(), high.clone()]
                ends[1 - side][0, wide] = cut
                *parts, exists = SPACE.snapped(*ends)
                if exists.all():
                    halves.append(tuple(parts))
        boxes = halves
        covered = torch.stack([within(held, low, high) for low, high in boxes])
        assert covered.any(0).all()
    for low, high in boxes:
        x = SPACE.rows(torch.full((1, 6), 0.4, dtype=F64), low, high)
        assert within(x, low, high).all()
        assert x[0, 1] in LEVELS
        assert sorted(x[0, 2:5].tolist()) == [0.0, 0.0, 1.0]
        assert x[0, 5] in (0.0, 1.0)
        assert x[0, 5] == 0.0 or x[0, 0] == 0.25


def test_boxes_without_rows_are_told() -> None:
    inside = torch.tensor([[0.0, 0.2, 0, 0, 0, 0]], dtype=F64)
    between_levels = inside.clone()
    between_levels[0, 1] = 0.8
    assert not SPACE.snapped(inside, between_levels + torch.tensor([1.0, 0, 1, 1, 1, 1], dtype=F64))[2].any()
    no_category = torch.tensor([[1.0, 2.0, 0, 0, 0, 1]], dtype=F64)
    assert not SPACE.snapped(inside - 2, no_category)[2].any()


def test_ramps_move_as_their_inputs_do() -> None:
    surface = pieces(m=1)
    space = Space(surface, Rules())
    assert not space.surface.is_smooth
    lower = rows(6, 3)
    upper = lower + 0.3
    region = space.lifted(lower, upper)
    x = lower.unsqueeze(1) + 0.3 * torch.rand(6, 40, 3, dtype=F64)
    read = surface.lift(x.flatten(0, 1)).view(6, 40, -1)
    assert (read >= region.lower.unsqueeze(1)).all()
    assert (read <= region.upper.unsqueeze(1)).all()
    torch.testing.assert_close(region.radius[:, :3], (upper - lower) / 2)
    sizes = torch.ones(2, 3 + len(surface.column), dtype=F64)
    counts = torch.tensor([1.0 + float((surface.column == i).sum()) for i in range(3)], dtype=F64)
    assert torch.equal(space.share(sizes, 3), counts.expand(2, -1))


def test_boxes_are_parted_at_knots() -> None:
    surface = pieces(m=1)
    assert not surface.is_smooth
    knot = surface.high[0]
    lower = torch.tensor([[float(knot) - 1.0, -9.0, -9.0]], dtype=F64)
    upper = torch.tensor([[float(knot) + 1.001, 9.0, 9.0]], dtype=F64)
    space = Space(surface, Rules())
    assert space.cut(lower, upper, torch.tensor([0]))[0] == knot
    assert space.cut(lower, upper, torch.tensor([2]))[0] == 0.0
