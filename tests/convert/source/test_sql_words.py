import math

import pytest

from polyladder.convert.source.sql_words import balanced, number


@pytest.mark.parametrize("value", [0.0, -0.0, 1 / 3, -1e-300, 12345678901234567.0, 5e-324])
def test_numbers_read_back_exactly(value):
    assert float(number(value)) == value


@pytest.mark.parametrize("count", [1, 2, 3, 17, 1000])
def test_sums_are_shallow_and_complete(count):
    text = balanced([f"t{i}" for i in range(count)])
    assert text.count("t") == count
    depth = deepest = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    assert depth == 0
    assert deepest <= math.ceil(math.log2(count)) + 1
