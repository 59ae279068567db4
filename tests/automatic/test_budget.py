"""Fits that end in time."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyladder.automatic import budget
from polyladder.automatic.budget import Deadline, RowsToFit, TimedFit, fit_in_time


class Clock:
    """Time that passes only where a fit says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class Slow:
    """Takes as long as it has rows."""

    def __init__(self, clock: Clock, per_row: float = 0.0) -> None:
        self.clock, self.per_row = clock, per_row
        self.sizes: list[int] = []

    def fit(self, X, y, sample_weight=None) -> None:
        assert len(X) == len(y)
        self.clock.now += self.per_row * len(y)
        self.sizes.append(len(y))
        self.classes, self.weight = set(y.tolist()), sample_weight


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(budget, "time", found)
    return found


def table(n: int) -> RowsToFit:
    return RowsToFit(np.zeros((n, 1)), np.zeros(n))


def test_all_rows_at_once_without_a_bound(clock: Clock) -> None:
    models = [Slow(clock), Slow(clock, 1e-3)]
    assert fit_in_time(models, table(9000), math.inf) == TimedFit(models[1], 1, 9000, pytest.approx(9.0))
    assert (models[0].sizes, models[1].sizes) == ([], [9000])


def test_more_and_more_rows_while_there_is_time(clock: Clock) -> None:
    model = Slow(clock)
    assert fit_in_time([model], table(40_000), 60.0).rows == 40_000
    assert model.sizes == [625, 2500, 10_000, 40_000]
    slow = Slow(clock, 1e-4)
    began = clock.now
    used = fit_in_time([slow], table(40_000), 1.0)
    assert slow.sizes[:2] == [625, 2500]
    assert used.rows == slow.sizes[-1]
    assert 5000 < used.rows < 8000
    assert clock.now - began < 1.0


def test_more_effort_once_all_rows_are_fitted(clock: Clock) -> None:
    models = [Slow(clock, 1e-4), Slow(clock, 4e-4), Slow(clock, 4e-3)]
    assert fit_in_time(models, table(1000), 5.0).level == 2
    assert [m.sizes for m in models] == [[1000]] * 3
    assert fit_in_time(models, table(1000), 2.0).level == 1
    assert fit_in_time(models, table(1000), 0.5).level == 0


@given(st.lists(st.floats(0.01, 500), min_size=2, max_size=2), st.integers(1, 60_000), st.floats(1e-6, 1e-2))
def test_a_larger_budget_is_never_a_smaller_fit(seconds: list[float], rows: int, per_row: float) -> None:
    found = []
    for each in sorted(seconds):
        clock = Clock()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(budget, "time", clock)
            fit = fit_in_time([Slow(clock, per_row * 5**k) for k in range(3)], table(rows), each)
        found.append((fit.level, fit.rows))
    assert found[0] <= found[1]


def test_no_attempt_lacks_a_class_or_its_weights(clock: Clock) -> None:
    y = np.array(["rare"] * 3 + ["common"] * 30_000, dtype=object)
    model = Slow(clock, 1.0)
    rows = RowsToFit(np.zeros((len(y), 1)), y, np.arange(len(y)) + 1.0)
    assert fit_in_time([model], rows, 1e-9).rows < 2000
    assert model.classes == {"rare", "common"}
    assert len(model.weight) == model.sizes[-1]


def test_what_can_be_afforded(clock: Clock) -> None:
    assert TimedFit(None, 0, 1000, 2.0).affordable(2.4) == 1000
    assert TimedFit(None, 0, 1000, 0.0).affordable(1.0) > 10**6
    assert TimedFit(None, 0, 1000, 1.0).affordable(math.inf) > 10**15


def test_a_deadline_in_shares() -> None:
    deadline = Deadline(time.monotonic() - 5.0, 10.0)
    assert 4.5 < deadline.left() < 5.1
    assert deadline.left(0.3) < 0
    assert Deadline(0.0).left() == math.inf
