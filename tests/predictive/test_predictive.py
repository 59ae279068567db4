import numpy as np
import pytest

from polyladder.predictive.predictive import Predictive, check_level, seed_of
from tests.predictive.predictives import NUMBERS, classes


def test_all_kinds_are_predictives() -> None:
    assert all(isinstance(said, Predictive) for said in [*NUMBERS.values(), classes()])


def test_a_kind_must_answer_everything() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Predictive()  # type: ignore[abstract]


def test_rows_can_be_walked_through() -> None:
    said = classes()
    np.testing.assert_array_equal(np.concatenate([row.mean for row in said]), said.mean)


def test_seeds_come_from_numbers_and_generators() -> None:
    assert seed_of(5) == seed_of(np.int64(5)) == 5
    assert seed_of(np.random.default_rng(2)) == seed_of(np.random.default_rng(2))
    assert seed_of(None) != seed_of(None)


def test_levels_are_checked_by_their_name() -> None:
    check_level(0.5)
    with pytest.raises(ValueError, match="q must be between 0 and 1; got 2"):
        check_level(2, "q")
