import warnings

import pytest
import torch

from polyladder import certify, minimize
from polyladder.renamed import renamed
from tests.ladders import random_ladder


@renamed("norm", "seconds", p="model")
def distance(model: float, x: float, *, norm: str = "inf", seconds: float = 0.0) -> tuple[float, float, str, float]:
    """Something to call."""
    return model, x, norm, seconds


def test_old_keywords_and_positions_work_and_say_the_new_ones() -> None:
    with pytest.warns(DeprecationWarning, match="The argument p of distance is called model") as said:
        assert distance(p=1, x=2) == (1, 2, "inf", 0.0)  # type: ignore[call-arg]
    assert said[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="distance takes norm as a keyword: write norm='two'"):
        assert distance(1, 2, "two", 3.0) == (1, 2, "two", 3.0)  # type: ignore[misc]
    with pytest.raises(TypeError, match="takes 2 positional arguments"), pytest.warns(DeprecationWarning, match="norm"):
        distance(1, 2, "two", 3.0, 4)  # type: ignore[misc]


def test_new_calls_say_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert distance(1, 2, norm="two") == (1, 2, "two", 0.0)


def test_searches_and_proofs_of_version_0_1() -> None:
    p, x = random_ladder(2, (3,), 1), torch.zeros(1, 2, dtype=torch.float64)
    with pytest.warns(DeprecationWarning, match="The argument budget of certify is called max_seconds"):
        old = certify(p, x, 0.1, budget=0.0)  # type: ignore[call-arg]
    assert torch.equal(old.upper, certify(p, x, 0.1, max_seconds=0.0).upper)
    with pytest.warns(DeprecationWarning, match="certify takes norm as a keyword: write norm=2"):
        ball = certify(p, x, 0.1, 2)  # type: ignore[misc, arg-type]
    assert torch.equal(ball.upper, certify(p, x, 0.1, norm=2).upper)
    with pytest.warns(DeprecationWarning, match="The argument seconds of minimize is called max_seconds"):
        assert minimize(p=p, lower=-1.0, upper=1.0, seconds=0.0).bound < 1e9  # type: ignore[call-arg]
