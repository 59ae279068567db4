import torch

from polyladder.polynomial.ball import exact
from polyladder.robustness.bounds import functionals, interval_upper
from polyladder.robustness.planes import affine_upper, plane_upper
from polyladder.robustness.states import states_on
from tests.ladders import random_ladder, rows
from tests.robustness.cases import both_signs, points_of, region_of


def test_planes_hold_and_beat_intervals() -> None:
    p, region = random_ladder(6, (8, 8, 8), 1), region_of(10, 6, 0.1, "inf")
    readout, offset = functionals(p, both_signs(10, 1))
    states = states_on(p, region)
    found, _ = plane_upper(p, region, states, readout, offset)
    values = p(points_of(region, 500).flatten(0, 1)).view(10, 500)
    assert (values.amax(1) <= found[:, 0]).all()
    assert (values.amin(1) >= -found[:, 1]).all()
    intervals, _ = interval_upper(states.top, readout, offset)
    assert (found.sum(1) < intervals.sum(1)).all()


def test_the_highest_point_of_an_affine_function() -> None:
    region = region_of(4, 3, 0.5, "inf")
    slope = rows(4, 3).unsqueeze(1)
    bound, t = affine_upper(region, exact(slope), exact(torch.zeros(4, 1, dtype=torch.float64)))
    reached = (slope[:, 0] * region.at(t[:, 0])).sum(-1)
    torch.testing.assert_close(bound[:, 0], reached)
    assert (bound[:, 0] >= reached).all()
