import torch

from polyladder.polynomial.ball import exact
from polyladder.robustness.region import Region, box, euclidean
from tests.ladders import rows


def test_reach_is_the_largest_size_of_a_linear_form() -> None:
    center, forms = rows(3, 4), rows(5, 4, seed=2)
    radius = rows(3, 4, seed=3).abs()
    boxes = Region(center, radius, "inf")
    found = boxes.reach(exact(forms.expand(3, -1, -1)))
    corners = radius.unsqueeze(1) * forms.sign()
    assert torch.allclose(found, (corners * forms).sum(-1))
    assert (found >= (corners * forms).sum(-1)).all()
    balls = Region(center, torch.full_like(center, 0.3), 2)
    assert torch.allclose(balls.reach(exact(forms.expand(3, -1, -1))), 0.3 * forms.norm(dim=-1).expand(3, -1))


def test_a_box_reaches_both_of_its_ends() -> None:
    low = rows(1000, 3) * 1e3
    high = low + rows(1000, 3, seed=5).abs() * 10.0 ** rows(1000, 3, seed=6)
    region = box(low, high)
    assert (region.center - region.radius <= low).all()
    assert (region.center + region.radius >= high).all()
    assert torch.equal(region.lower, low)
    assert torch.equal(region.upper, high)
    assert (box(low, low).radius == 0).all()


def test_points_stay_inside() -> None:
    center = rows(50, 3)
    t = rows(50, 3, seed=9) * 3
    inside = Region(center, torch.full_like(center, 0.2), "inf").at(t)
    assert ((inside - center).abs() <= 0.2).all()
    low, high = Region(center, torch.full_like(center, 0.2), "inf").cover
    assert ((center - low >= 0.2) & (high - center >= 0.2)).all()
    assert ((Region(center, torch.full_like(center, 0.2), 2).at(t) - center).norm(dim=-1) <= 0.2 + 1e-15).all()


def test_norms_survive_extreme_sizes() -> None:
    assert torch.isfinite(euclidean(torch.full((2, 3), 1e200, dtype=torch.float64))).all()
    assert (euclidean(torch.full((2, 3), 1e-200, dtype=torch.float64)) >= 1e-200).all()
