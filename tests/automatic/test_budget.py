"""Fits that end in time."""

import math
import time

import numpy as np
import pytest

from polyladder.automatic.budget import Deadline, fit_in_time


class Slow:
    """Takes as long as it has rows."""

    def __init__(self, per_row: float) -> None:
        self.per_row = per_row
        self.sizes: list[int] = []

    def fit(self, X, y, sample_weight=None) -> None:
        time.sleep(self.per_row * len(y))
        self.sizes.append(len(y))
        self.classes, self.weight = set(y.tolist()), sample_weight


def test_all_rows_at_once_without_a_bound() -> None:
    model = Slow(0.0)
    assert fit_in_time(model, np.zeros((9000, 1)), np.zeros(9000), math.inf) == 9000
    assert model.sizes == [9000]


@pytest.mark.slow
def test_more_and_more_rows_while_there_is_time() -> None:
    model = Slow(0.0)
    assert fit_in_time(model, np.zeros((40_000, 1)), np.zeros(40_000), 60.0) == 40_000
    assert model.sizes == [625, 2500, 10_000, 40_000]
    slow = Slow(1e-4)
    began = time.monotonic()
    used = fit_in_time(slow, np.zeros((40_000, 1)), np.zeros(40_000), 1.0)
    assert slow.sizes[:2] == [625, 2500]
    assert used == slow.sizes[-1]
    assert 3000 < used < 8000
    assert time.monotonic() - began < 1.2


def test_no_attempt_lacks_a_class_or_its_weights() -> None:
    y = np.array(["rare"] * 3 + ["common"] * 30_000, dtype=object)
    model = Slow(0.0)
    assert fit_in_time(model, np.zeros((len(y), 1)), y, 1e-9, weight=np.arange(len(y)) + 1.0) < 2000
    assert model.classes == {"rare", "common"}
    assert len(model.weight) == model.sizes[-1]


def test_a_deadline_in_shares() -> None:
    deadline = Deadline(time.monotonic() - 5.0, 10.0)
    assert 4.5 < deadline.left() < 5.1
    assert deadline.left(0.3) < 0
    assert Deadline(0.0).left() == math.inf
