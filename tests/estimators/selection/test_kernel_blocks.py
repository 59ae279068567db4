"""Kernels over a table's columns: what they read, and how far inputs may go."""

from dataclasses import replace

import numpy as np
import pytest

from polyladder.estimators.selection.kernel_blocks import (
    EDGE,
    MARGIN,
    equal_block,
    fitted_features,
    ramp_block,
    ramps_for,
    smooth_block,
)
from polyladder.estimators.selection.options import EFFORTS, Options
from polyladder.estimators.selection.problem import Problem
from polyladder.fitted.features import RAMPS, Features
from polyladder.tables.table import Table
from tests.estimators.selection.problems import OPTIONS, problem_of

RNG = np.random.default_rng(4)


def options(clip: bool = True) -> Options:
    return replace(OPTIONS, features=Features(clip=clip, missing="error"), effort=EFFORTS["low"])


def numbers(X: np.ndarray) -> Table:
    return Table(X, {}, tuple(range(X.shape[1])), tuple(f"x{i}" for i in range(X.shape[1])))


def rows(n: int) -> tuple[Table, Problem]:
    X = RNG.uniform(size=(n, 3))
    y = X[:, :1] * X[:, 1:2]
    problem = problem_of((y - y.mean()) / y.std(), None, np.ones(n), np.arange(n), np.arange(n) % 4, 4)
    return numbers(X), problem


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 400])
def test_fewer_rows_leave_a_wider_margin(n: int) -> None:
    table, problem = rows(n)
    features, _ = smooth_block(table, problem, "standard", options(), RNG)
    assert features.margin == max(MARGIN, EDGE / n)
    low, high = table.numbers.min(0), table.numbers.max(0)
    np.testing.assert_allclose(features.high_, high + features.margin * (high - low))
    assert fitted_features(table, problem, "standard", options(clip=False), 1.0).margin == 0.0


@pytest.mark.slow
def test_an_idle_column_counts_least() -> None:
    table, problem = rows(150)
    _, block = smooth_block(table, problem, "standard", options(), RNG)
    assert block.scales.scales[2] < 0.3 * block.scales.scales[:2].min()
    alike = equal_block(block, problem, options(), RNG)
    assert len(set(alike.scales.scales)) == 1
    assert alike.scales.degree == 2


@pytest.mark.slow
def test_ramps_take_the_place_of_their_columns() -> None:
    table, problem = rows(150)
    plain, _ = smooth_block(table, problem, "standard", options(), RNG)
    found = ramp_block(table, problem, plain, options(), RNG)
    assert found is not None
    features, block = found
    assert block.features == "piecewise"
    assert not set(block.columns) & {0, 1, 2}  # read through their ramps alone
    assert len(block.scales.scales) == 3  # one scale per column, whatever its ramps
    np.testing.assert_array_equal(block.x, features.transform_table(table)[:, block.columns])
    np.testing.assert_allclose(block.along, block.directions.along(block.x))


def test_two_values_have_no_ramps() -> None:
    table = numbers(RNG.integers(0, 2, size=(60, 2)).astype(float))
    y = RNG.normal(size=(60, 1))
    problem = problem_of(y, None, np.ones(60), np.arange(60), np.arange(60) % 4, 4)
    plain, _ = smooth_block(table, problem, "standard", options(), RNG)
    assert ramp_block(table, problem, plain, options(), RNG) is None


def test_few_columns_of_enough_rows_have_more_ramps() -> None:
    assert [ramps_for(columns, 800) for columns in (1, 4, 7, 9, 50)] == [12, 12, 10, RAMPS, RAMPS]
    assert [ramps_for(4, rows) for rows in (100, 390, 470, 1000)] == [RAMPS, 9, 11, 12]
