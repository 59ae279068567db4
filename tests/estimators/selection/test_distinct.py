"""Rows given twice and rows of weight two become the same."""

import numpy as np

from polyladder.estimators.selection.distinct import distinct_rows
from polyladder.tables.table import Table

RNG = np.random.default_rng(5)
NUMBERS = RNG.integers(0, 3, size=(30, 2)).astype(float)
NUMBERS[::9, 1] = np.nan
TEXT = RNG.choice(np.array(["a", "b", None], dtype=object), 30)
TARGET = RNG.integers(0, 2, size=30).astype(float)


def table(rows=slice(None)) -> Table:
    return Table(NUMBERS[rows], {2: TEXT[rows]}, (0, 1), ("x", "y", "z"))


def test_repetitions_and_weights_agree_in_any_order() -> None:
    weight = RNG.integers(0, 4, size=30)
    repeated = RNG.permutation(np.repeat(np.arange(30), weight))
    one = distinct_rows(table(), TARGET, weight.astype(float))
    two = distinct_rows(table(repeated), TARGET[repeated], None)
    np.testing.assert_array_equal(one[0].numbers, two[0].numbers)
    np.testing.assert_array_equal(one[0].categories[2], two[0].categories[2])
    for mine, other in zip(one[1:], two[1:], strict=True):
        np.testing.assert_array_equal(mine, other)
    assert one[2].sum() == weight.sum()


def test_every_row_is_there_once() -> None:
    found, values, weight = distinct_rows(table(), TARGET, None)
    keys = {(*map(str, row), text, y) for row, text, y in zip(found.numbers, found.categories[2], values, strict=True)}
    given = {(*map(str, row), text, y) for row, text, y in zip(NUMBERS, TEXT, TARGET, strict=True)}
    assert keys == given
    assert len(keys) == len(values)
    assert weight.sum() == 30


def test_labels_are_told_apart() -> None:
    labels = np.array(["no", "yes"] * 15)
    _, values, _ = distinct_rows(Table(np.ones((30, 1)), {}, (0,), ("x",)), labels, None)
    assert sorted(values) == ["no", "yes"]
