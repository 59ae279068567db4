import numpy as np
import pytest

from polyladder.tables.landmarks import BETWEEN, ENDS, Landmarks, landmark_rows, landmarks_of
from polyladder.tables.table import Table

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("n", "m", "columns"), [(5000, 1, 4), (5000, 3, 4), (300, 40, 4), (5000, 1, 1000), (2, 1, 3)])
def test_the_highest_and_lowest_of_every_output_are_among_few(n: int, m: int, columns: int) -> None:
    outputs = RNG.normal(size=(n, m))
    kept = landmark_rows(outputs, columns)
    assert set(outputs.argmax(0)) | set(outputs.argmin(0)) <= set(kept)
    assert len(set(kept)) == len(kept) <= min(n, 2 * max(m, ENDS) + BETWEEN)
    assert columns < 1000 or len(kept) <= 2 * ENDS + 16


def test_those_between_are_spread_over_the_predictions() -> None:
    outputs = np.exp(3 * RNG.normal(size=(2000, 1)))
    ranks = np.sort(outputs[:, 0].argsort().argsort()[landmark_rows(outputs, 3)])
    assert np.diff(ranks).max() <= 2000 / (BETWEEN - 1) + 1


def test_rows_are_kept_as_they_are() -> None:
    numbers = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, 6.0]])
    table = Table(numbers, {1: np.array(["a", None, "b"], dtype=object)}, (0, 2), ("x", "k", "y"))
    found = landmarks_of(table, lambda rows: rows.numbers[:, :1])
    assert len(found) == 3
    np.testing.assert_array_equal(found.numbers, numbers)
    assert found.categories[1].tolist() == ["a", None, "b"]
    earlier = Landmarks(numbers + 10, {1: np.array(["c", "d", "e"], dtype=object)})
    both = landmarks_of(table, lambda rows: rows.numbers[:, :1], earlier)
    assert both.numbers[:, 0].tolist() == [11.0, 12.0, 13.0, 1.0, 2.0, 3.0]
    assert both.categories[1].tolist() == ["c", "d", "e", "a", None, "b"]
