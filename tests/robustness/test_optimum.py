import time

import pytest
import torch

from polyladder.robustness.optimum import SHARE, SPREAD, Optimum, Search


def search(**change: float) -> Search:
    return Search(
        **{"output": 1, "sign": -1, "tolerance": 0.1, "max_seconds": 10.0, "began": time.monotonic(), **change}
    )  # type: ignore[arg-type]


def test_the_gap_has_no_sign() -> None:
    for value, bound in ((3.0, 2.0), (2.0, 3.0)):
        assert Optimum(torch.zeros(1), value, bound, 1, 0.0).gap == 1


def test_the_weights_pick_the_output_and_its_way() -> None:
    assert search().weights(3).tolist() == [[0.0, -1.0, 0.0]]


def test_what_is_left_of_the_time_is_for_the_proof() -> None:
    begun = search(began=time.monotonic() - 8.0)
    stop = begun.stop(spread=5.0, ceiling=7.0)
    assert 1.5 < stop.seconds <= 2.0
    assert stop.absolute.item() == pytest.approx(0.1 * SPREAD * 5.0)
    assert (stop.relative, stop.ceiling) == (0.1, 7.0)
    assert begun.climbing_ends == pytest.approx(begun.began + SHARE * 10.0)
    assert search(began=0.0).stop(1.0).seconds == 0.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"output": 2}, "output must be from 0 to 1; got 2"),
        ({"output": True}, "output must be from 0 to 1; got True"),
        ({"tolerance": -1.0}, "tolerance must be a number that is not negative; got -1"),
        ({"max_seconds": -1.0}, "max_seconds must be a number of seconds that is not negative, or None; got -1"),
    ],
)
def test_what_is_refused(change: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        search(**change).check(2)
    search(max_seconds=torch.inf).check(2)
