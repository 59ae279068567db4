"""Folds over dask collections."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from polyladder.tables.dask_partitions import DaskPartitions, is_dask, join_all

da = pytest.importorskip("dask.array")


@pytest.mark.slow
def test_a_fold_joins_the_parts_in_order():
    X, y = da.arange(60, chunks=3).reshape(-1, 1), da.arange(60, chunks=3)
    assert is_dask(X)
    assert not is_dask(np.zeros(3))
    found = DaskPartitions(X, y).fold(lambda part: part.y.tolist(), operator.add)
    assert found == list(range(60))


@pytest.mark.slow
def test_parts_that_do_not_fit_are_refused():
    X = da.zeros((6, 1), chunks=(3, 1))
    with pytest.raises(ValueError, match="equally many partitions"):
        DaskPartitions(X, da.zeros(6, chunks=2)).fold(lambda part: 1, operator.add)
    with pytest.raises(ValueError, match="as many targets"):
        DaskPartitions(X, da.concatenate([da.zeros(2), da.zeros(4)])).fold(lambda part: 1, operator.add)


def test_empty_parts_join_to_what_there_is():
    assert join_all(operator.add, [None, 2, None, 3]) == 5
    assert join_all(operator.add, [None]) is None
