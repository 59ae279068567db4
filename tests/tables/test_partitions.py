"""Parts, folds and keys of rows."""

from __future__ import annotations

import operator
from threading import get_ident

import numpy as np
import pytest

from polyladder.tables.partitions import Coded, LocalPartitions, Part, ahead, row_keys


def test_a_fold_joins_every_row_once_in_order():
    batches = [(np.arange(3), np.arange(3)), (np.arange(0), np.arange(0)), (np.arange(3, 5), np.arange(3, 5))]
    rows = LocalPartitions(batches)
    assert rows.fold(lambda part: list(part.X), operator.add) == [0, 1, 2, 3, 4]
    assert rows.fold(lambda part: [part.first], operator.add) == [0, 3]
    odd = Coded(rows, lambda part: Part(part.first, part.X[part.X % 2 == 1], part.y))
    assert odd.fold(lambda part: int(part.X.sum()), operator.add) == 4


def test_rows_are_coded_by_the_thread_that_reads_them_and_computed_with_by_this_one():
    threads = []

    def code(part):
        threads.append(get_ident())
        return Part(part.first, part.X + 1, part.y)

    rows = Coded(Coded(LocalPartitions([(np.arange(3), np.arange(3))] * 4), code), code)
    here = rows.fold(lambda part: [(int(part.X.sum()), get_ident())], operator.add)
    assert here == [(9, get_ident())] * 4
    assert len(threads) == 8
    assert get_ident() not in threads


def test_keys_are_uniform_and_do_not_depend_on_the_parts():
    X = np.zeros((100_000, 1))
    whole = row_keys(Part(0, X, X), 3)
    split = np.concatenate([row_keys(Part(0, X[:37], X), 3), row_keys(Part(37, X[37:], X), 3)])
    np.testing.assert_array_equal(whole, split)
    counts = np.histogram(whole, 50, (0, 1))[0]
    # Chi-square with 49 degrees of freedom: beyond 100 once in 50,000 seeds.
    assert ((counts - 2000) ** 2 / 2000).sum() < 100
    assert abs(np.corrcoef(whole[1:], whole[:-1])[0, 1]) < 0.02
    assert (whole != row_keys(Part(0, X, X), 4)).all()


def test_an_error_of_the_source_reaches_the_reader():
    def broken():
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(ahead(broken()))
