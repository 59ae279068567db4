import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyladder_lab.experiments.engine.scores import packed, score, unpacked


def test_scores() -> None:
    assert score("rmse", np.array([1.0, 2.0]), np.array([1.0, 4.0])).value == pytest.approx(math.sqrt(2))
    assert score("rmse", np.array([1e200, 2.0]), np.array([1.0, 4.0])).value is None
    result = score("error", np.array([0, 1, 2, 1]), np.array([0, 1, 1, 0]))
    assert result.value == 0.5
    assert unpacked(result.more["wrong"], 4).tolist() == [False, False, True, True]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_model_that_blew_up_has_no_score(bad: float) -> None:
    assert score("rmse", np.array([1.0, bad]), np.zeros(2)).value is None


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_wrong_rows_come_back(wrong: list[bool]) -> None:
    assert unpacked(packed(np.array(wrong)), len(wrong)).tolist() == wrong


def test_another_number_of_rows_is_refused() -> None:
    text = packed(np.ones(20, dtype=bool))
    for count in (1, 16, 25, 10**9):
        with pytest.raises(ValueError, match=f"text must hold {count} booleans; got another number of them"):
            unpacked(text, count)
    # Up to eight rows share a byte, so that their number is only known to that.
    assert unpacked(text, 17).tolist() == [True] * 17


@pytest.mark.parametrize("text", ["AAAA", "%%%", "é"])
def test_text_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        unpacked(text, 3)


def test_no_more_is_unpacked_than_is_wanted() -> None:
    bomb = packed(np.zeros(8 * 10**7, dtype=bool))
    assert len(bomb) < 20_000
    with pytest.raises(ValueError, match="must hold 3 booleans"):
        unpacked(bomb, 3)
