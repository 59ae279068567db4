import math
from typing import Any

import numpy as np
import pytest

from polyladder import LPNNRegressor
from polyladder.estimators.parameters import check_choice, check_number, refuse, seeds_from


def with_alpha(value: Any) -> LPNNRegressor:
    return LPNNRegressor(alpha=value)


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(3), "auto"])
def test_numbers_of_any_kind_within_the_range_are_taken(value: Any) -> None:
    check_number(with_alpha(value), "alpha", float, 0.0, "auto")


@pytest.mark.parametrize("value", [-1e-9, math.nan, -math.inf, math.inf, True, None, "best", "1", [1.0], 1j])
def test_other_values_are_refused_with_the_range(value: Any) -> None:
    with pytest.raises(
        ValueError, match=r"The 'alpha' parameter of LPNNRegressor must be a float in the range \[0, inf\)"
    ):
        check_number(with_alpha(value), "alpha", float, 0.0, "auto")


def test_ends_of_the_range() -> None:
    check_number(with_alpha(1), "alpha", int, 1, below=2)
    for value, options in ((2, {"below": 2}), (1, {"open_low": True}), (1.0, {}), (0, {})):
        with pytest.raises(ValueError, match="an int in the range"):
            check_number(with_alpha(value), "alpha", int, 1, **options)
    with pytest.raises(ValueError, match=r"a float in the range \(0, 1\) or 'auto' or 'none'\. Got 0 instead\."):
        check_number(with_alpha(0), "alpha", float, 0.0, "auto", "none", open_low=True, below=1.0)


@pytest.mark.parametrize("value", ["Auto", None, 3, np.array("auto")])
def test_a_choice_is_one_of_the_names(value: Any) -> None:
    check_choice(with_alpha("auto"), "alpha", iter(("auto", "best")))
    with pytest.raises(ValueError, match=r"must be a str among \{'auto', 'best'\}\. Got .* instead"):
        check_choice(with_alpha(value), "alpha", ("auto", "best"))


def test_a_refusal_says_whose_parameter_it_is_and_what_it_was() -> None:
    sentence = r"^The 'alpha' parameter of LPNNRegressor must be less than you think\. Got 7 instead\.$"
    with pytest.raises(ValueError, match=sentence):
        refuse(with_alpha(7), "alpha", "less than you think")


def test_seeds_follow_the_random_state() -> None:
    seeds = seeds_from(3, 5)
    assert seeds == seeds_from(np.random.RandomState(3), 5) == seeds_from(3, 8)[:5]
    assert len(set(seeds)) == 5
    assert all(type(s) is int and 0 <= s < 2**31 for s in seeds)
    generator = np.random.RandomState(3)
    assert seeds_from(generator, 5) != seeds_from(generator, 5)
    with pytest.raises(ValueError, match="cannot be used to seed"):
        seeds_from("seed", 1)
