"""Seconds of block solves, gradient steps and draws, against what they add up to."""

import pytest

from polyladder.estimators.cost import BLOCK, RATE, SLOWER, STEP, Shape
from polyladder.estimators.posterior_size import count_weights
from polyladder.estimators.work import FULL, LONG, SHORT, STAGED_ROWS
from polyladder.training.solves.block_step import block_operations, direct_operations

SHAPE = Shape(n=500, d=7, width=5, order=4, outputs=2)


def test_a_sweep_costs_what_its_blocks_do() -> None:
    """Of order 4: four blocks read the inputs, two read the units of the layer below."""
    operations = 4 * block_operations(2, 5, 500, 8) + 2 * block_operations(2, 5, 500, 6)
    assert SHAPE.sweep_operations() == operations
    assert SHAPE.sweep_seconds() == pytest.approx(operations / RATE + 6 * BLOCK)
    assert SHAPE.sweep_operations(0.5) == Shape(250, 7, 5, 4, 2).sweep_operations()


def test_a_draw_costs_more_than_its_products() -> None:
    operations = 4 * direct_operations(2, 5, 500, 8) + 2 * direct_operations(2, 5, 500, 6)
    assert SHAPE.draw_seconds() == pytest.approx(SLOWER * operations / RATE)


def test_a_pass_costs_six_operations_for_each_weight_and_row_and_its_steps() -> None:
    offsets = 3 * 5 + 2
    weights = count_weights(7, 5, 4, 2) - offsets
    assert SHAPE.pass_seconds(64) == pytest.approx(6 * weights * 500 / RATE + 8 * STEP)


def test_stages_cost_what_their_sweeps_do() -> None:
    shape = Shape(STAGED_ROWS, 8, 12, 6, 1)
    assert shape.seconds(LONG) == pytest.approx(sum(s.sweeps * shape.sweep_seconds(s.share) for s in LONG))
    assert shape.seconds(SHORT) < shape.seconds(LONG) < shape.seconds(FULL)
