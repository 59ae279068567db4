import struct

import pytest
import torch

from polyladder.analysis.real_roots import float_middle, quadratic_roots, roots_within

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
    found = roots_within(coefficients, *column(-1.0, 1.0))
    assert found.t[found.crosses].tolist() == pytest.approx([root], rel=1e-12)


@pytest.mark.parametrize(
    ("coefficients", "roots"),
    [
        ((6.0, -5.0, 1.0), [2, 3]),
        ((-6.0, 1.0, 1.0), [-3, 2]),
        ((1e-8, -1.0, 1.0), [1.0000000100000002e-8, 1 - 1.0000000100000002e-8]),
        ((6e200, -5e200, 1e200), [2, 3]),
        ((6e-200, -5e-200, 1e-200), [2, 3]),
        ((0.0, 2.0, 1.0), [-2, 0]),
        ((0.0, 0.0, 1.0), [0, 0]),
        ((-4.0, 0.0, 1.0), [-2, 2]),
        ((4.0, -4.0, 1.0), [2, 2]),
    ],
)
def test_quadratic_formula_without_cancellation(coefficients: tuple[float, ...], roots: list[float]) -> None:
    t, real = quadratic_roots(*column(*coefficients))
    assert real.all()
    assert t.squeeze(-1).tolist() == pytest.approx(roots, rel=1e-15)


def test_complex_pair_gives_the_vertex() -> None:
    t, real = quadratic_roots(*column(5.0, -2.0, 1.0))
    assert not real.any()
    assert t.squeeze(-1).tolist() == [1, 1]
