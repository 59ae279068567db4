import torch

from polyladder.analysis.line import LinePolynomial, line_polynomial
from polyladder.fitted.ramps import learn_ramps
from polyladder.robustness.surface import Surface, gradient, highest, jacobians
from tests.ladders import random_ladder, rows


def pieces(m: int = 2, d: int = 3) -> Surface:
    """A ladder over three inputs and ramps of the first two."""
    ramps = learn_ramps(rows(60, 2, seed=4).numpy(), 4)
    assert ramps is not None
    return Surface.of(random_ladder(d + len(ramps.column), (5, 5), m), ramps)


def value(surface: Surface, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (surface.polynomial(surface.lift(x)) * weights).sum(-1)


def test_ramps_are_those_of_the_table() -> None:
    x = 2 * rows(50, 3, seed=2)
    ramps = learn_ramps(rows(60, 2, seed=4).numpy(), 4)
    assert ramps is not None
    lifted = pieces().lift(x)
    assert torch.equal(lifted[:, :3], x)
    torch.testing.assert_close(lifted[:, 3:], torch.from_numpy(ramps(x[:, :2].numpy())))


def test_slopes_are_those_of_differences() -> None:
    surface, x, weights = pieces(), rows(20, 3, seed=6), rows(20, 2, seed=7)
    found, every, step = gradient(surface, x, weights), jacobians(surface, x), 1e-6
    torch.testing.assert_close(torch.einsum("nm,nmd->nd", weights, every), found)
    for i in range(3):
        e = torch.zeros(3, dtype=torch.float64)
        e[i] = step
        slope = (value(surface, x + e, weights) - value(surface, x - e, weights)) / (2 * step)
        torch.testing.assert_close(found[:, i], slope, rtol=1e-5, atol=1e-5)


def test_the_highest_place_of_all_pieces_of_a_segment() -> None:
    surface, x, weights = pieces(), rows(30, 3, seed=8), rows(30, 2, seed=9)
    direction = rows(30, 3, seed=10)
    direction[:10, 1:] = 0.0
    low, high = -rows(30, 1, seed=11)[:, 0].abs(), 2 * rows(30, 1, seed=12)[:, 0].abs()
    good, t = surface.along(x, direction, low, high, weights)
    assert good.all()
    assert ((t >= low) & (t <= high)).all()
    grid = low.unsqueeze(-1) + torch.linspace(0, 1, 2000, dtype=torch.float64) * (high - low).unsqueeze(-1)
    places = x.unsqueeze(1) + grid.unsqueeze(-1) * direction.unsqueeze(1)
    seen = value(surface, places.flatten(0, 1), weights.repeat_interleave(2000, 0)).view(30, 2000)
    best = value(surface, x + t.unsqueeze(-1) * direction, weights)
    assert (best >= seen.amax(1) - 1e-9).all()


def test_a_ladder_without_ramps_has_one_piece() -> None:
    p, x, direction = random_ladder(3, (4,), 1), rows(5, 3), rows(5, 3, seed=3)
    ends, one = torch.ones(5, dtype=torch.float64), torch.ones(5, 1, dtype=torch.float64)
    smooth = Surface.of(p)
    good, t = smooth.along(x, direction, -ends, ends, one)
    best = line_polynomial(p, x, direction).maximize(-ends.unsqueeze(-1), ends.unsqueeze(-1))[1]
    torch.testing.assert_close(p(x + t.unsqueeze(-1) * direction), best)
    assert good.all()
    assert smooth.is_smooth
    assert torch.equal(smooth.lift(x), x)
    huge = p.map(lambda w: w * 1e200)
    assert not Surface.of(huge).along(x, direction, -ends, ends, one)[0].any()


def test_the_highest_point_of_a_line() -> None:
    along = rows(200, 5) * torch.tensor([1.0, 3.0, 1.0, 0.5, 0.2], dtype=torch.float64)
    low, high = -rows(200, 1, seed=3)[:, 0].abs(), rows(200, 1, seed=4)[:, 0].abs()
    t = highest(along, low, high)
    assert t is not None
    best = LinePolynomial(along).maximize(low, high)[1]
    torch.testing.assert_close(LinePolynomial(along)(t), best)
    huge = torch.full((1, 5), 1e300, dtype=torch.float64)
    assert highest(huge, torch.tensor([-1e3]).double(), torch.tensor([1e3]).double()) is None
