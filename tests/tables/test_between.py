"""Rows between those of a table: where they lie, and what of a cell they keep."""

from typing import Any

import numpy as np
import pytest

from polyladder.tables.between import FEW_VALUES, NEAR, near_rows, rows_between
from polyladder.tables.table import Table, matrix_table


def table(n: int = 80) -> Table:
    """A column of many numbers, one of few, one with missing ones, and one of texts."""
    rng = np.random.default_rng(0)
    many, few, holes = rng.normal(size=n), rng.integers(0, 3, n).astype(float), rng.normal(size=n)
    holes[::4] = np.nan
    words = np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, n)]
    return Table(np.stack([many, few, holes], 1), {1: words}, (0, 2, 3), ("many", "word", "few", "holes"))


def inputs(rows: Table) -> np.ndarray[Any, Any]:
    return np.nan_to_num(rows.numbers)


def drawn(rows: Table, count: int, seed: int = 1) -> Table:
    return rows_between(rows, inputs(rows), count, np.random.default_rng(seed))


def test_cells_lie_between_those_of_the_table() -> None:
    rows = table()
    found = drawn(rows, 500)
    assert len(found) == 500
    assert (found.positions, found.names, found.dates) == (rows.positions, rows.names, rows.dates)
    low, high = np.nanmin(rows.numbers, 0), np.nanmax(rows.numbers, 0)
    known = found.numbers[:, 0]
    assert ((known >= low[0]) & (known <= high[0])).all()
    assert len(np.setdiff1d(known, rows.numbers[:, 0])) > 400  # in between, not the same once more
    held = found.numbers[~np.isnan(found.numbers[:, 2]), 2]
    assert ((held >= low[2]) & (held <= high[2])).all()


def test_few_values_categories_and_missing_cells_are_kept() -> None:
    found = drawn(table(), 500)
    assert set(found.numbers[:, 1]) == {0.0, 1.0, 2.0}
    assert set(found.categories[1]) == {"a", "b", None}
    missing = np.isnan(found.numbers[:, 2]).mean()
    assert 0.1 < missing < 0.4  # a quarter of the table's


@pytest.mark.parametrize(("values", "kept"), [(FEW_VALUES, True), (FEW_VALUES + 1, False)])
def test_how_many_values_are_few(values: int, kept: bool) -> None:
    rows = matrix_table(np.repeat(np.arange(values, dtype=float), 5)[:, None])
    assert set(drawn(rows, 300).numbers[:, 0]).issubset(set(rows.numbers[:, 0])) is kept


def test_the_same_seed_gives_the_same_rows() -> None:
    first, second, third = drawn(table(), 50), drawn(table(), 50), drawn(table(), 50, seed=2)
    np.testing.assert_array_equal(first.numbers, second.numbers)
    assert first.categories[1].tolist() == second.categories[1].tolist()
    assert not np.array_equal(first.numbers, third.numbers, equal_nan=True)


def test_rows_take_turns() -> None:
    # Clusters of one value each: a new row shows which row it came from, and neighbors are of the same cluster.
    clusters = np.repeat(np.arange(FEW_VALUES, dtype=float), NEAR)
    rows = matrix_table(clusters[:, None])
    found = rows_between(rows, clusters[:, None], 2 * len(rows), np.random.default_rng(0))
    assert np.unique(found.numbers[:, 0], return_counts=True)[1].tolist() == [2 * NEAR] * FEW_VALUES
    fewer = rows_between(rows, clusters[:, None], 7, np.random.default_rng(0))
    assert len(fewer) == 7


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows(n: int) -> None:
    rows = matrix_table(np.arange(2.0 * n).reshape(n, 2))
    found = drawn(rows, 20)
    assert found.numbers.shape == (20, 2)
    assert found.numbers.min() >= 0
    assert found.numbers.max() <= 2 * n - 1


def test_a_table_of_texts_alone() -> None:
    rows = Table(np.empty((6, 0)), {0: np.array(list("abcabc"), dtype=object)}, (), ("word",))
    found = rows_between(rows, np.eye(6), 30, np.random.default_rng(0))
    assert set(found.categories[0]) <= {"a", "b", "c"}
    assert found.numbers.shape == (30, 0)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_near_rows_are_the_nearest(shift: float) -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=(200, 3)) * [1.0, 100.0, 0.01]
    scaled = z / z.std(0)
    asked = np.array([0, 7, 7, 199])
    found = near_rows(z + shift * z.std(0), asked, rng)
    for row, near in zip(asked, found, strict=True):
        nearest = np.argsort(((scaled - scaled[row]) ** 2).sum(1))[:NEAR]
        assert set(near) == set(nearest)


def test_a_column_that_does_not_vary_is_no_distance() -> None:
    z = np.stack([np.arange(40.0), np.full(40, 3.0)], 1)
    found = near_rows(z, np.array([0]), np.random.default_rng(0))
    assert sorted(found[0]) == list(range(NEAR))


def test_few_values_and_texts_come_from_both_rows() -> None:
    # Of the rows alone there would be as many of each as in the table, however often they are drawn.
    half = np.repeat([0.0, 1.0], 20)
    rows = Table(half[:, None], {1: np.where(half > 0, "a", "b").astype(object)}, (0,), ("few", "word"))
    z = np.random.default_rng(0).normal(size=(40, 2))
    found = [rows_between(rows, z, 40, np.random.default_rng(seed)) for seed in range(5)]
    assert any(each.numbers.sum() != 20 for each in found)
    assert any((each.categories[1] == "a").sum() != 20 for each in found)


def test_how_many_rows_are_near() -> None:
    """Rows at whole numbers: the middle one sees those within (near - 1) / 2; with one, each sees itself alone."""
    line = matrix_table(np.arange(101.0)[:, None])
    for near in (1, 3, 5):
        found = near_rows(line.numbers, np.array([50]), np.random.default_rng(0), near)
        assert sorted(found[0]) == list(range(50 - near // 2, 51 + near // 2))
    same, moved = (rows_between(line, line.numbers, 101, np.random.default_rng(0), near=near) for near in (1, 3))
    assert sorted(same.numbers[:, 0]) == list(range(101))
    # Of the rows at the two ends the farthest of three is 2 away, of others 1; a quarter more is beyond.
    off = np.sort(np.abs(moved.numbers - same.numbers)[:, 0])
    assert 0.5 < off[-3] <= 1.25
    assert off[-1] <= 2.5
