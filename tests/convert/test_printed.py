import random
from fractions import Fraction

import pytest

from polyladder.convert.printed import decimal_place, rounded_up, rounded_within, shortest


def some_numbers(count: int) -> list[float]:
    rng = random.Random(0)
    return [rng.choice([1, -1]) * rng.random() * 10.0 ** rng.randint(-300, 300) for _ in range(count)]


def test_a_number_is_read_as_it_was_written():
    for value in [*some_numbers(300), 0.0, 5e-324, 1e16, 120.0]:
        assert float(shortest(value)) == value
    assert shortest(120.0) == "120"


@pytest.mark.parametrize("digits", [2, 3])
def test_a_bound_is_never_printed_smaller(digits):
    for value in map(abs, some_numbers(300)):
        shown = Fraction(rounded_up(value, digits))
        assert value <= shown <= value * (1 + Fraction(1, 10 ** (digits - 1)))
    assert rounded_up(float("inf")) == "inf"


def test_rounding_keeps_the_tolerance_with_few_digits():
    for value in some_numbers(300):
        for share in (0.0, 1e-12, 1e-3):
            found = rounded_within(value, abs(value) * share)
            assert abs(found - value) <= abs(value) * share
        assert found == float(f"{found:.4g}")
    assert rounded_within(24.56789, 1.0) == 24.57


def test_the_power_of_ten_below_a_step():
    for value in map(abs, some_numbers(300)):
        place = decimal_place(value)
        assert Fraction(10) ** place <= Fraction(value) < Fraction(10) ** (place + 1)
