import numpy as np
import pytest

from polyladder_lab.experiments.runners.synthetic import DRAWN, ROWS, draw, product, rectified


def square(points: int = 801) -> np.ndarray:
    """Midpoints of a fine grid of the square."""
    at = (np.arange(points) + 0.5) / points * 2 - 1
    return np.stack(np.meshgrid(at, at), -1).reshape(-1, 2)


@pytest.mark.parametrize("name", DRAWN)
def test_the_mean_absolute_value_over_the_square_is_one(name: str) -> None:
    assert np.abs(DRAWN[name](square())).mean() == pytest.approx(1, rel=1e-4)


def test_the_functions_at_a_few_points() -> None:
    x = np.array([[0.5, -0.5], [1.0, 1.0], [-1.0, 0.5], [1.0, -1.0]])
    assert product(x).tolist() == [-1.0, 4.0, -2.0, -4.0]
    np.testing.assert_allclose(rectified(x) * 7 / 18, [0.0, 2.0, 0.25, 0.0])


@pytest.mark.parametrize("name", DRAWN)
def test_draws_belong_to_their_run(name: str) -> None:
    x, y = draw(name, 3)
    assert x.shape == (ROWS, 2)
    assert np.array_equal(y, DRAWN[name](x))
    assert np.abs(x).max() <= 1
    assert np.array_equal(draw(name, 3)[0], x)
    assert not np.array_equal(draw(name, 4)[0], x)
