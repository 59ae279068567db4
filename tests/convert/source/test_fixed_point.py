import numpy as np
import pytest

from polyladder.convert.source.fixed_point import Fixed, affine_error, bits_after_point, integers
from polyladder.polynomial.ball import product_error


@pytest.mark.parametrize("size", [1e-6, 0.3, 1.0, 1.5, 1000.0, 3e9])
@pytest.mark.parametrize("bits", [16, 32])
def test_numbers_of_a_size_fit_and_use_the_word(size, bits):
    (word,) = integers([size], bits_after_point(size, bits))
    assert 2 ** (bits - 3) < word < 2 ** (bits - 1)


def test_errors_of_products_and_sums_are_not_exceeded():
    rng = np.random.default_rng(0)
    exact, error = rng.normal(size=(2, 500)), np.abs(rng.normal(size=(2, 500))) * 0.1
    fixed = [Fixed(0, np.abs(v), e) for v, e in zip(exact, error, strict=True)]
    moved = exact + error * rng.uniform(-1, 1, size=exact.shape)
    a, b = fixed
    assert (np.abs(moved.prod(0) - exact.prod(0)) <= product_error(a.size, a.error, b.size, b.error)).all()
    matrix, vector = rng.normal(size=(3, 500)), rng.normal(size=3)
    rows, start = [integers(r, 6) for r in matrix], integers(vector, 6)
    stored, constants = np.array(rows) / 64, np.array(start) / 64
    bound = affine_error(matrix, vector, rows, start, 6, a)
    assert (np.abs(stored @ moved[0] + constants - matrix @ exact[0] - vector) <= bound).all()
