import math
from dataclasses import replace

import pytest

from polyladder.estimators.cost import usual_seconds
from polyladder.estimators.gradient_training import GradientTraining
from polyladder.estimators.selection.options import EFFORTS
from polyladder.estimators.training_size import (
    BATCHES,
    EPOCHS,
    LEAST_ROWS,
    MULTIPLE,
    ROW,
    SIZES,
    training_for,
    usual_batch,
)
from tests.estimators.selection.problems import OPTIONS


@pytest.mark.parametrize(
    ("n", "d", "outputs"), [(30_000, 5, 1), (100_000, 5, 1), (400_000, 54, 7), (20_000, 500, 5), (60_000, 784, 10)]
)
def test_the_default_is_bounded_on_any_table(n: int, d: int, outputs: int) -> None:
    found = training_for(n, d, max(d, 160), outputs, 5, OPTIONS)
    assert found.seconds <= found.budget == pytest.approx(MULTIPLE * (usual_seconds(n, d, outputs) + ROW * n * outputs))
    assert found.share == 1
    assert EPOCHS[0] / 2 <= found.epochs <= EPOCHS[1]
    assert (found.width, found.ladders) in SIZES


def test_fewer_seconds_never_buy_more() -> None:
    found = [
        training_for(100_000, 20, 160, 2, 5, replace(OPTIONS, max_seconds=s)) for s in (1e4, 50.0, 20.0, 10.0, 3.0, 0.1)
    ]
    spent = [each.seconds for each in found]
    assert spent == sorted(spent, reverse=True)
    assert (found[0].width, found[0].ladders, found[0].share) == (*SIZES[0], 1.0)
    assert (found[-1].width, found[-1].ladders) == SIZES[-1]
    assert found[-1].share < 1
    assert all(each.seconds <= each.budget for each in found)


def test_some_rows_are_trained_on_whatever_the_seconds() -> None:
    found = training_for(10**6, 20, 160, 2, 5, replace(OPTIONS, max_seconds=1e-6))
    assert found.share == pytest.approx(LEAST_ROWS / 10**6)
    assert found.epochs == 1


def test_what_is_given_stays() -> None:
    steps = GradientTraining(batch_size=100)
    given = replace(OPTIONS, width=16, models=3, iterations=7, steps=steps, max_seconds=1.0)
    found = training_for(10**6, 20, 160, 2, 5, given)
    assert (found.width, found.ladders, found.epochs, found.batch_size, found.budget) == (16, 3, 7, 100, 1.0)
    long = training_for(10**6, 20, 160, 2, 5, replace(OPTIONS, width=512, iterations=1000))
    assert (long.width, long.epochs, long.share) == (512, 1000, 1.0)
    assert long.seconds > long.budget


def test_effort_lengthens_training() -> None:
    low, usual, high = (
        training_for(400_000, 54, 160, 7, 5, replace(OPTIONS, effort=EFFORTS[name]))
        for name in ("low", "default", "high")
    )
    assert low.epochs < usual.epochs < high.epochs
    assert math.isclose(high.budget, 3 * usual.budget)


def test_batches_leave_an_epoch_its_steps() -> None:
    assert [usual_batch(n) for n in (1, 1000, 12_600, 10**6)] == [BATCHES[0], BATCHES[0], 256, BATCHES[1]]


def test_a_part_of_the_rows_is_named() -> None:
    assert "of the rows" in str(training_for(10**6, 20, 160, 2, 5, replace(OPTIONS, max_seconds=0.1)))
    assert "of the rows" not in str(training_for(10**5, 20, 160, 2, 5, OPTIONS))
