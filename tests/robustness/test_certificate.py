import pytest
import torch

from polyladder.robustness.certificate import Certificate, check_number, check_region, check_seconds, single
from tests.ladders import random_ladder, rows


def test_radii_of_every_form() -> None:
    p, x = random_ladder(3), rows(4, 3)
    for radius in (0.5, torch.tensor([0.1, 0.2, 0.3]), rows(4, 3).abs()):
        assert check_region(p, x, radius, "inf").radius.shape == (4, 3)
    assert check_region(p, x, torch.arange(4.0), 2).radius[2].tolist() == [2.0] * 3
    assert len(check_region(p, x[0], 0.5, "inf")) == 1


@pytest.mark.parametrize(
    ("center", "radius", "norm", "said"),
    [
        (rows(2, 4), 0.1, "inf", r"center must have shape \(3,\) or \(n, 3\); got shape \(2, 4\)"),
        (rows(2, 3) * torch.nan, 0.1, "inf", "center must be finite"),
        ([1.0, 2.0, 3.0], 0.1, "inf", "center must be a torch.Tensor; got list"),
        (rows(2, 3), -0.1, "inf", "radius must be finite and not negative; got -0.1"),
        (rows(2, 3), torch.nan, "inf", "radius must be finite and not negative"),
        (rows(2, 3), "far", "inf", "radius must be a number or a tensor; got 'far'"),
        (rows(2, 3), rows(2, 2).abs(), "inf", "radius must be one number or have shape"),
        (rows(2, 3), rows(2, 3).abs(), 2, "radius must be one number or have shape"),
        (rows(2, 3), 0.1, 1, "norm must be 'inf' or 2; got 1"),
    ],
)
def test_what_is_refused(center: object, radius: object, norm: object, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        check_region(random_ladder(3), center, radius, norm)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [-1, torch.nan, "soon", True, torch.inf])
def test_seconds_and_tolerances_are_numbers(bad: object) -> None:
    with pytest.raises(ValueError, match="max_seconds must be a number of seconds"):
        check_seconds(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tolerance must be a number that is not negative"):
        check_number("tolerance", bad)
    check_seconds(None)


def test_a_batch_is_no_single_ladder() -> None:
    with pytest.raises(ValueError, match=r"must be a single one; got batch_shape \(3,\)"):
        single(random_ladder(batch_shape=(3,)))
    assert single(random_ladder(dtype=torch.float32)).dtype == torch.float64


def test_the_gap_is_what_is_proven_beyond_what_was_found() -> None:
    one = torch.ones(1, 1)
    assert Certificate(-3 * one, 4 * one, -one, 2 * one).gap.item() == 4
