import mpmath
import pytest
import torch

from polyladder.analysis.scales import balanced, exponents, margin, ordinary, pieces, root_sizes, values
from polyladder.polynomial.rescale import shifted

F64 = torch.float64


def column(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers, dtype=F64).unsqueeze(-1)


def test_balanced_is_exact() -> None:
    s, top = balanced(column(3.0, -5.0, 0.0, 7.0), column(3.0)[0])
    # 3, -5 * 2^3, 0, 7 * 2^9, divided by one power of two.
    assert (s * torch.exp2(top)).squeeze(-1).tolist() == [3, -40, 0, 7 * 512]
    assert 0.5 <= s.abs().max().item() < 1
    huge, _ = balanced(column(1.0, 0.0, 1.0), column(600.0)[0])
    assert huge.isfinite().all()
    zero, _ = balanced(column(0.0, 0.0), column(4.0)[0])
    assert torch.equal(zero, column(0.0, 0.0))


@pytest.mark.parametrize(
    "roots", [(1e-200, 1.0, 1e200), (-3.0, 2.0, 1e90), (1e-150, 2e-150, 5.0), (-1e-60, 1e-30, 1e30, 1e60)]
)
def test_every_root_lies_near_its_slope_of_the_newton_polygon(roots: tuple[float, ...]) -> None:
    exact = [mpmath.mpf(1)]
    for root in roots:
        exact = [low - root * high for low, high in zip([mpmath.mpf(0), *exact], [*exact, mpmath.mpf(0)], strict=True)]
    sizes = root_sizes(column(*map(float, exact))).squeeze(-1)
    assert not sizes.isnan().all()
    for root in roots:
        nearest = (sizes[~sizes.isnan()] - float(mpmath.log(abs(root), 2))).abs().min()
        assert nearest <= margin(len(roots))


def test_pieces_cover_every_root_but_zero() -> None:
    # (t - 1e-100) (t - 1e100): one piece cannot hold both in numbers that do not underflow.
    found = pieces(column(1.0, -1e100, 1.0), *column(-1e150, 1e150))
    for root in (1e-100, 1e100):
        s = shifted(torch.full_like(found.exponent, root), -found.exponent)
        assert ((found.lo <= s) & (s <= found.hi)).any()


def test_ordinary_polynomials_need_no_other_unit() -> None:
    assert ordinary(column(1.0, -3.0, 2.0)).all()
    assert ordinary(column(0.0, 0.0)).all()
    assert not ordinary(column(1.0, 0.0, 1e-300)).any()
    assert not ordinary(column(1.0, 0.0, 1.0), torch.tensor([1e300], dtype=F64)).any()


@pytest.mark.parametrize("t", [0.0, 1e-300, -1e-5, 1.0, 3e7, 1e150])
def test_values_agree_with_400_bits(t: float) -> None:
    numbers = (1e-120, -1e-60, 2.0, -1e-150)
    with mpmath.workprec(400):
        exact = float(sum(mpmath.mpf(c) * mpmath.mpf(t) ** j for j, c in enumerate(numbers)))
    assert values(column(*numbers), torch.tensor([t], dtype=F64)).item() == pytest.approx(exact, rel=1e-13, abs=0)


def test_a_value_whose_rounding_error_overflows_is_unknown() -> None:
    # 1e200 t^2 - 1e200 t^2 (1 + eps) at 1e150: the terms are beyond float64, and so may be their difference.
    c = column(0.0, 0.0, 1e200, -1e50)
    assert values(c, torch.tensor([1e150], dtype=F64)).isnan().all()


def test_exponents_keep_powers_of_two_finite() -> None:
    t = torch.tensor([0.0, 5e-324, 1.0, 1.7e308], dtype=F64)
    powers = torch.cat([torch.exp2(exponents(t)), torch.exp2(-exponents(t))])
    assert (powers.isfinite() & (powers > 0)).all()
    assert (t < torch.exp2(exponents(t)) * 8).all()
