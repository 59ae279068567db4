import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from polyladder.robustness import bounds
from polyladder.robustness.bounds import functionals, interval_upper, upper_bounds, written
from polyladder.robustness.degrees import degree_upper
from polyladder.robustness.region import Norm
from polyladder.robustness.states import states_on
from tests.ladders import random_ladder
from tests.oracles.long_arithmetic import PRECISION, long_value
from tests.robustness.cases import both_signs, points_of, region_of, wild_ladder


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0, 2**22])
@pytest.mark.parametrize("norm", ["inf", 2])
@given(st.integers(0, 2**31), st.lists(st.integers(1, 5), max_size=4), st.integers(1, 4), st.floats(-4, 0.5))
def test_no_point_leaves_the_bounds(budget: int, norm: Norm, seed: int, hidden: list[int], d: int, size: float) -> None:
    """Both ways: layer by layer, and with the polynomial written out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "NUMBERS", budget)
        check_points(norm, seed, hidden, d, size)


def check_points(norm: Norm, seed: int, hidden: list[int], d: int, size: float) -> None:
    p = random_ladder(d, hidden, 2, seed=seed)
    region = region_of(3, d, 10.0**size, norm, seed)
    found, points = upper_bounds(p, region, both_signs(3, 2))
    values = p(points_of(region, 60, seed).flatten(0, 1)).view(3, 60, 2)
    both = torch.cat([values, -values], -1)
    assert (both <= found.unsqueeze(1) + 1e-13 * both.abs()).all()
    there = p(points.flatten(0, 1)).view(3, 4, 2)
    assert (there[:, [0, 1], [0, 1]] <= found[:, :2] + 1e-13 * there[:, [0, 1], [0, 1]].abs()).all()


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["inf", 2])
@pytest.mark.parametrize("seed", range(12))
def test_each_method_holds_in_long_arithmetic_for_weights_of_all_sizes(norm: Norm, seed: int) -> None:
    p = wild_ladder(seed)
    for radius in (0.0, 1e-9, 0.1):
        region = region_of(2, 4, radius, norm, seed)
        readout, offset = functionals(p, both_signs(2, 2))
        states = states_on(p, region)
        found = {
            "interval": interval_upper(p, region, readout, offset),
            "degree": degree_upper(p, region, states, readout, offset)[0],
            "written": written(p, region, readout, offset)[0],
        }
        tried = torch.cat([region.center.unsqueeze(1), points_of(region, 3, seed)], 1)
        for row in range(2):
            for x in tried[row]:
                value = long_value(p, x)
                with mpmath.workprec(PRECISION):
                    for name, bound in found.items():
                        ends = [mpmath.mpf(v) for v in bound[row].tolist()]
                        assert all(v <= hi for v, hi in zip(value, ends[:2], strict=True)), name
                        assert all(-v <= hi for v, hi in zip(value, ends[2:], strict=True)), name


def test_a_radius_of_zero_leaves_rounding_alone() -> None:
    p, region = random_ladder(4, (6, 6, 6)), region_of(5, 4, 0.0, "inf")
    found, _ = upper_bounds(p, region, both_signs(5, 2))
    assert (found[:, :2] + found[:, 2:] < 1e-11).all()
    assert (found[:, :2] + found[:, 2:] > 0).all()


def test_affine_functions_are_bounded_exactly() -> None:
    p = random_ladder(5, (), 2)
    for norm in ("inf", 2):
        region = region_of(3, 5, 0.7, norm)  # type: ignore[arg-type]
        found, _ = upper_bounds(p, region, both_signs(3, 2))
        rise = 0.7 * (p.readout.abs().sum(-1) if norm == "inf" else p.readout.norm(dim=-1))
        torch.testing.assert_close(found[:, :2], p(region.center) + rise, rtol=1e-12, atol=1e-12)


def test_an_overflow_is_an_infinite_bound() -> None:
    p = random_ladder(3, (4, 4, 4)).map(lambda t: t * 1e100)
    found, points = upper_bounds(p, region_of(2, 3, 1.0, "inf"), both_signs(2, 2))
    assert (found == torch.inf).all()
    assert points.isfinite().all()


def test_many_regions_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    p, region = random_ladder(4, (6, 6)), region_of(9, 4, 0.2, "inf")
    whole = upper_bounds(p, region, both_signs(9, 2))
    monkeypatch.setattr(bounds, "STATES", 60)
    monkeypatch.setattr("polyladder.robustness.written.AT_ONCE", 500)
    monkeypatch.setattr("polyladder.robustness.degrees.WRITTEN", 300)
    parts = upper_bounds(p, region, both_signs(9, 2))
    torch.testing.assert_close(parts[0], whole[0])
    assert upper_bounds(p, region[:0], both_signs(0, 2))[0].shape == (0, 4)
