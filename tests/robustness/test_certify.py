import mpmath
import pytest
import torch

from polyladder import LadderPolynomial, certified_radius, certify
from polyladder.robustness.certify import unsafe_sums
from polyladder.robustness.region import Norm, Region
from tests.ladders import random_ladder, rows
from tests.oracles.long_arithmetic import PRECISION, long_value
from tests.robustness.cases import points_of


@pytest.mark.parametrize("norm", ["inf", 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_range_holds_and_what_was_found_lies_in_it(norm: Norm, dtype: torch.dtype) -> None:
    p, x = random_ladder(4, (6, 6, 6), dtype=dtype), rows(8, 4, dtype=dtype)
    found = certify(p, x, 0.2, norm=norm)
    assert found.lower.shape == found.upper.shape == (8, 2)
    assert found.lower.dtype == torch.float64
    assert (found.gap >= 0).all()
    region = Region(x.double(), torch.full((8, 4), 0.2, dtype=torch.float64), norm)
    values = p.to(torch.float64)(points_of(region, 500).flatten(0, 1)).view(8, 500, 2)
    assert (values <= found.upper.unsqueeze(1)).all()
    assert (values >= found.lower.unsqueeze(1)).all()


def test_the_ends_hold_in_long_arithmetic_even_where_they_are_reached() -> None:
    """(x + y)^2 is largest at a corner, where the certified end must not be a rounding too low."""
    one = torch.ones(1, 2, dtype=torch.float64)
    zero = torch.zeros(1, dtype=torch.float64)
    p = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=torch.ones(1, 1).double(), offset=zero)
    centers = rows(40, 2).abs() + 1
    found = certify(p, centers, 0.1)
    for x, high in zip(centers, found.upper[:, 0].tolist(), strict=True):
        with mpmath.workprec(PRECISION):
            corner = sum(mpmath.mpf(v) + mpmath.mpf(0.1) for v in x.tolist()) ** 2
            assert corner <= mpmath.mpf(high) <= corner * (1 + mpmath.mpf(1e-13))
    assert long_value(p, torch.ones(2))[0] == 4


@pytest.mark.parametrize("norm", ["inf", 2])
def test_splitting_closes_the_gap(norm: Norm) -> None:
    p, x = random_ladder(3, (5, 5, 5), 1), rows(2, 3)
    first, split = certify(p, x, 1.0, norm=norm), certify(p, x, 1.0, norm=norm, max_seconds=3.0, tolerance=0.01)
    assert (split.upper <= first.upper + 1e-9).all()
    assert (split.lower >= first.lower - 1e-9).all()
    region = Region(x, torch.ones_like(x), norm)
    values = p(points_of(region, 4000).flatten(0, 1)).view(2, 4000)
    assert (values.amax(1) <= split.upper[:, 0]).all()
    assert (values.amin(1) >= split.lower[:, 0]).all()
    width = split.highest - split.lowest
    if norm == "inf":
        assert (split.gap <= 0.03 * width).all()
        assert (first.gap > 0.03 * width).any()


def test_a_radius_for_each_input_and_row() -> None:
    p, x = random_ladder(3), rows(2, 3)
    none = certify(p, x, torch.tensor([0.3, 0.0, 0.0]))
    only = certify(p, x, torch.tensor([[0.3, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    torch.testing.assert_close(none.upper[0], only.upper[0])
    torch.testing.assert_close(only.upper[1], p(x)[1])
    assert (none.upper <= certify(p, x, 0.3).upper).all()


def test_a_batch_of_ladders_is_certified_one_by_one() -> None:
    p, x = random_ladder(3, batch_shape=(2, 3)), rows(4, 3)
    together = certify(p, x, 0.1)
    assert together.upper.shape == (2, 3, 4, 2)
    torch.testing.assert_close(together.upper[1, 2], certify(p[1, 2], x, 0.1).upper)


def test_no_rows_are_no_error() -> None:
    assert certify(random_ladder(3), torch.zeros(0, 3), 0.1).upper.shape == (0, 2)


def test_what_is_no_ladder_is_refused() -> None:
    with pytest.raises(TypeError, match="with one behind it; got int"):
        certify(3, rows(1, 3), 0.1)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["inf", 2])
def test_within_the_certified_radius_the_class_stays(norm: Norm) -> None:
    p, x = random_ladder(3, (5, 5), 3), rows(10, 3)
    y = p(x).argmax(-1)
    radius = certified_radius(p, x, y, norm=norm)
    assert (radius > 0).all()
    for row in range(10):
        region = Region(x[row : row + 1], radius[row].expand(1, 3), norm)
        assert (p(points_of(region, 300)[0]).argmax(-1) == y[row]).all()
    assert (certified_radius(p, x, (y + 1) % 3, norm=norm) == 0).all()


def test_within_the_certified_radius_a_number_stays() -> None:
    p, x = random_ladder(3, (5, 5), 1), rows(6, 3)
    radius = certified_radius(p, x, p(x), within=0.5)
    found = certify(p, x, radius.unsqueeze(-1).expand(-1, 3).contiguous())
    assert (found.upper <= p(x) + 0.5).all()
    assert (found.lower >= p(x) - 0.5).all()
    assert ((radius > 0) & (radius < 1)).all()


def test_one_output_is_the_log_odds_of_the_second_class() -> None:
    p, x = random_ladder(3, (5, 5), 1), rows(6, 3)
    weights, limit = unsafe_sums(p, (p(x)[:, 0] > 0).long(), 6, None)
    assert ((weights[:, 0, 0] * p(x)[:, 0]) < limit[:, 0]).all()
    assert (certified_radius(p, x, (p(x)[:, 0] > 0).long()) > 0).all()


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (torch.zeros(2), "y must hold one whole number per row"),
        (torch.tensor([0, 3]), "y must be in 0, ..., 1; got 0 to 3"),
        (torch.tensor([0]), r"shape \(2,\); got shape \(1,\)"),
    ],
)
def test_classes_are_checked(y: torch.Tensor, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        certified_radius(random_ladder(3), rows(2, 3), y)
