import pytest
import torch
from scipy.optimize import differential_evolution

from polyladder import from_polynomial_kernel, maximize, minimize
from polyladder.robustness.optimize import check_box
from tests.ladders import random_ladder


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_an_evolution_finds_nothing_beyond_the_bound(seed: int) -> None:
    p = random_ladder(4, (6, 6, 6), 1, seed=seed)
    low, high = minimize(p, -1.0, 1.0), maximize(p, -1.0, 1.0)
    assert low.bound <= low.value <= high.value <= high.bound
    for found, sign in ((low, 1), (high, -1)):
        rival = differential_evolution(
            lambda x, s=sign: s * float(p(torch.tensor(x).unsqueeze(0))), [(-1, 1)] * 4, seed=0, maxiter=60
        )
        assert sign * found.bound <= rival.fun
        assert sign * found.value <= rival.fun + 0.01 * abs(rival.fun) + 1e-3
        assert found.gap <= 0.0101 * max(abs(found.value), 1.0)
        assert float(p(found.x.unsqueeze(0))) == pytest.approx(found.value)
        assert (found.x.abs() <= 1).all()


@pytest.mark.slow
def test_a_known_minimum_inside() -> None:
    """(x - 0.3)^4 + (y + 0.2)^4: a flat valley around one point."""
    p = from_polynomial_kernel(
        torch.tensor([1.0, 1.0]).double(), torch.tensor([-0.3, 0.2]).double(), torch.eye(2).double(), 4
    )
    found = minimize(p, torch.tensor([-1.0, -2.0]), torch.tensor([2.0, 1.0]), tolerance=1e-3)
    assert found.value == pytest.approx(0.0, abs=1e-3)
    assert -1e-3 <= found.bound <= found.value
    assert found.x.tolist() == pytest.approx([0.3, -0.2], abs=0.2)


@pytest.mark.parametrize("seed", range(4))
def test_a_point_in_single_precision_lies_in_the_box_and_has_the_value(seed: int) -> None:
    p = random_ladder(3, (4,), 1, dtype=torch.float32, seed=seed)
    # The numbers of float32 next to these ends lie outside.
    lower, upper = (
        torch.tensor(end).double() + by for end, by in (([-0.3, 0.1, -0.2], 1e-10), ([0.1, 0.3, 0.7], -1e-10))
    )
    for found in (maximize(p, lower, upper, tolerance=0.1), minimize(p, lower, upper, tolerance=0.1)):
        assert found.x.dtype == torch.float32
        assert ((found.x.double() >= lower) & (found.x.double() <= upper)).all()
        assert p.to(torch.float64)(found.x.double().unsqueeze(0)).item() == pytest.approx(found.value, rel=1e-12)


@pytest.mark.slow
def test_time_runs_out_with_a_bound_that_holds() -> None:
    p = random_ladder(6, (8, 8, 8, 8), 2)
    quick, slow = maximize(p, -2.0, 2.0, output=1, max_seconds=0.0), maximize(p, -2.0, 2.0, output=1)
    assert quick.bound >= slow.value
    assert slow.bound <= quick.bound
    assert slow.boxes >= quick.boxes


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lower": 2.0}, "lower must not exceed upper; input 0 has 2 and 1"),
        ({"lower": torch.zeros(2)}, r"lower must be one number or have shape \(3,\); got shape \(2,\)"),
        ({"upper": torch.inf}, "upper must be finite"),
        ({"output": 2}, "output must be from 0 to 1; got 2"),
        ({"tolerance": -1.0}, "tolerance must be a number that is not negative; got -1.0"),
        ({"max_seconds": -1.0}, "max_seconds must be a number of seconds that is not negative, or None; got -1.0"),
    ],
)
def test_what_is_refused(change: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        minimize(**{"model": random_ladder(3), "lower": -1.0, "upper": 1.0, **change})


def test_a_box_of_numbers() -> None:
    assert check_box(2, 0.0, torch.tensor([1.0, 2.0])).upper.tolist() == [[1.0, 2.0]]
