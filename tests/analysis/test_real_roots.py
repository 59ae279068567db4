import struct

import mpmath
import pytest
import torch

from polyladder.analysis.real_roots import (
    float_middle,
    newton_steps,
    real_roots,
    root_bound,
    roots_within,
    values_at,
)

F64 = torch.float64


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=F64).unsqueeze(-1)


def rank(t: float) -> int:
    """How many floating-point numbers lie between zero and t, negative below zero."""
    bits = struct.unpack("<Q", struct.pack("<d", abs(t)))[0]
    return -bits if t < 0 else bits


@pytest.mark.parametrize(
    ("a", "b"), [(0.0, 1.0), (1.0, 2.0), (-1.0, 1e-30), (-3.0, -1e-300), (-1e300, 1e300), (2.0, 2.0)]
)
def test_float_middle_halves_the_numbers_between(a: float, b: float) -> None:
    middle = float_middle(torch.tensor([a], dtype=F64), torch.tensor([b], dtype=F64)).item()
    assert a <= middle <= b
    assert rank(middle) == pytest.approx((rank(a) + rank(b)) / 2, abs=2)


@pytest.mark.parametrize(
    ("degree", "constant", "root"),
    [
        # Newton alone would creep from 0.5 to 1e-10 by a factor of 8/9 a step, needing 190 of them.
        (9, -1e-90, 1e-10),
        # Halving distances alone would take 166 steps.
        (5, -1e-250, 1e-50),
        (3, -1e-300, 1e-100),
    ],
)
def test_root_of_another_scale_than_the_interval(degree: int, constant: float, root: float) -> None:
    coefficients = column(constant, *[0.0] * (degree - 1), 1.0)
    t, crosses = roots_within(coefficients, *column(-1.0, 1.0))
    assert t[crosses].tolist() == pytest.approx([root], rel=1e-12)


@pytest.mark.parametrize(
    ("coefficients", "roots"),
    [
        ((6.0, -5.0, 1.0), [2, 3]),
        ((-6.0, 1.0, 1.0), [-3, 2]),
        ((1e-8, -1.0, 1.0), [1.0000000100000002e-8, 1 - 1.0000000100000002e-8]),
        ((6e200, -5e200, 1e200), [2, 3]),
        ((6e-200, -5e-200, 1e-200), [2, 3]),
        ((0.0, 2.0, 1.0), [-2, 0]),
        ((0.0, 0.0, 1.0), [0]),
        ((-4.0, 0.0, 1.0), [-2, 2]),
        ((4.0, -4.0, 1.0), [2]),
        ((5.0, -2.0, 1.0), []),
        # Both roots are of other scales than 1, and of the coefficients.
        ((-1e-29, 0.0, 1e23), [-1e-26, 1e-26]),
        ((2e-60, -6e-16, -3e-2), [-2e-14, 1e-44 / 3]),
        ((-5e-3, 5e31, -5e-43), [1e-34, 1e74]),
    ],
)
def test_roots_of_quadratics(coefficients: tuple[float, ...], roots: list[float]) -> None:
    t = real_roots(column(*coefficients), torch.zeros(1, dtype=F64)).squeeze(-1)
    assert t[~t.isnan()].tolist() == pytest.approx(roots, rel=1e-15)


@pytest.mark.parametrize(
    "coefficients", [(6.0, -5.0, 1.0), (1.0, 0.0, 0.0), (1e-300, -1e300, 1e-300), (0.0, 3.0, 1e-9)]
)
def test_no_root_is_beyond_the_bound(coefficients: tuple[float, ...]) -> None:
    bound = root_bound(column(*coefficients)).item()
    t = real_roots(column(*coefficients), torch.zeros(1, dtype=F64))
    assert (t[~t.isnan()].abs() <= bound).all()
    assert 0 < bound <= torch.finfo(F64).max


@pytest.mark.parametrize("t", [0.0, 1e-300, -1e-5, 1.0, 3e7, 1e150])
def test_values_agree_with_400_bits(t: float) -> None:
    numbers = (1e-120, -1e-60, 2.0, -1e-150)
    with mpmath.workprec(400):
        exact = float(sum(mpmath.mpf(c) * mpmath.mpf(t) ** j for j, c in enumerate(numbers)))
    assert values_at(column(*numbers), column(t)).item() == pytest.approx(exact, rel=1e-13, abs=0)
    value, _ = newton_steps(column(*numbers), torch.tensor([t], dtype=F64))
    assert value.item() == pytest.approx(exact, rel=1e-13, abs=0)


def test_a_value_whose_rounding_error_overflows_is_unknown() -> None:
    # 1e200 t^2 - 1e50 t^3 at 1e150: the terms are beyond float64, and so may be their difference.
    assert values_at(column(0.0, 0.0, 1e200, -1e50), column(1e150)).isnan().all()


def test_what_overflows_or_underflows_keeps_its_sign() -> None:
    limits = torch.finfo(F64)
    value, step = newton_steps(column(-1e-300, 0.0, 0.0, -1e300), torch.tensor([1e200, 1e-250], dtype=F64))
    assert value.tolist() == [-limits.max, pytest.approx(-1e-300)]
    assert step[0].item() == pytest.approx(1e200 / 3)
    value, _ = newton_steps(column(0.0, 0.0, -1e-300), torch.tensor([1e-200], dtype=F64))
    assert value.item() == -limits.smallest_normal
