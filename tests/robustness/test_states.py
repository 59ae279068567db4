import pytest
import torch

from polyladder.analysis.jacobian import jacobian
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.robustness import states as states_module
from polyladder.robustness.region import Norm
from polyladder.robustness.states import states_on
from tests.ladders import random_ladder
from tests.robustness.cases import points_of, region_of


def inner_of(p: LadderPolynomial, layer: int) -> LadderPolynomial:
    """What enters a gate, as a ladder of its own."""
    return LadderPolynomial(
        W=p.W[:layer], b=p.b[:layer], V=p.V[:layer], c=p.c[:layer], readout=p.W[layer], offset=p.b[layer]
    )


@pytest.fixture(params=[256, 1], ids=["narrow", "wide"], autouse=True)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test is also that of wide ladders, whose sizes are taken at each layer."""
    monkeypatch.setattr(states_module, "WIDE", request.param)


@pytest.mark.parametrize("norm", ["inf", 2])
def test_values_and_slopes_are_exact_and_their_changes_hold(norm: Norm) -> None:
    p, region = random_ladder(3, (4, 5, 6)), region_of(4, 3, 0.3, norm)
    states = states_on(p, region)
    points = points_of(region, 200)
    for layer in range(3):
        u = inner_of(p, layer)
        assert torch.allclose(states.inner[layer].mid, u(region.center))
        assert torch.allclose(states.slopes[layer].mid, jacobian(u, region.center))
        moved = (u(points.flatten(0, 1)).view(4, 200, -1) - states.inner[layer].mid.unsqueeze(1)).abs()
        assert (moved <= torch.stack(states.parts[layer]).sum(0).unsqueeze(1)).all()
        assert len(states.parts[layer]) == layer + 1


def test_each_degree_is_bounded_by_itself() -> None:
    """The parts of a degree, taken by finite differences along rays, stay below their bounds."""
    p, region = random_ladder(3, (4, 5, 6)), region_of(2, 3, 0.5, "inf")
    states, points = states_on(p, region), points_of(region, 50)
    u = inner_of(p, 2)
    t = torch.linspace(-1, 1, 4, dtype=torch.float64)
    rays = region.center[:, None, None] + t[:, None] * (points - region.center.unsqueeze(1)).unsqueeze(2)
    values = u(rays.flatten(0, 2)).view(2, 50, 4, -1)
    coefficients = torch.linalg.solve(t.unsqueeze(-1) ** torch.arange(4), values)
    for degree, bound in enumerate(states.parts[2], 1):
        assert (coefficients[:, :, degree].abs() <= bound.unsqueeze(1) * (1 + 1e-9)).all()
