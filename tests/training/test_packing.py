"""Tasks come back from their bytes as they were, and an array that several of them read is there once."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from polyladder.training.packing import LARGE, pack, unpack


def product(x, y, times):
    return times * float((torch.as_tensor(x).double() * torch.as_tensor(y).double()).sum())


def test_a_task_comes_back_and_shares_its_large_arrays():
    x = np.random.default_rng(0).normal(size=(LARGE, 2))
    y = torch.from_numpy(np.random.default_rng(1).normal(size=(LARGE, 2)))
    tasks = [partial(product, x, y, times) for times in (1, 2, 3)]
    packed = pack(tasks)
    assert all(len(each.task) < 1000 for each in packed)
    for mine, theirs in zip(packed[0].arrays, packed[1].arrays, strict=True):
        assert mine is theirs
    for each, task in zip(packed, tasks, strict=True):
        assert unpack(each.task, each.arrays)() == task()


def test_one_piece_of_memory_is_sent_once_and_a_view_of_another_shape_is_not_it():
    x = np.arange(4.0 * LARGE).reshape(-1, 4)
    same, other = torch.from_numpy(x), x.T
    packed = pack([partial(product, x, same, 1), partial(product, other, other, 1)])
    assert packed[0].arrays == (x,)
    assert packed[1].arrays[0] is other
    assert unpack(packed[0].task, packed[0].arrays)() == product(x, x, 1)


def test_small_arrays_and_odd_tensors_travel_in_the_bytes():
    learned = torch.ones(LARGE, requires_grad=True)
    (packed,) = pack([partial(len, (np.ones(3), torch.ones(3), np.array(["a"] * LARGE, dtype=object), learned))])
    assert packed.arrays == ()
    assert unpack(packed.task, ())() == 4


def test_the_numbers_of_a_sparse_table_are_shared_too():
    n = LARGE // 8
    x = torch.sparse_csr_tensor(torch.arange(n + 1), torch.arange(n), torch.arange(n).double(), (n, n))
    one, two = pack([partial(torch.clone, x), partial(torch.mul, x, 2.0)])
    assert len(one.arrays) == 3
    assert all(mine is theirs for mine, theirs in zip(one.arrays, two.arrays, strict=True))
    torch.testing.assert_close(unpack(two.task, two.arrays)().values(), 2 * x.values())


def test_memory_that_must_not_be_written_becomes_a_tensor_of_its_own():
    y = torch.ones(LARGE, dtype=torch.float64)
    (packed,) = pack([partial(torch.Tensor.add_, y, 1.0)])
    locked = packed.arrays[0].copy()
    locked.flags.writeable = False
    assert unpack(packed.task, (locked,))().sum() == 2 * LARGE
    assert locked.sum() == LARGE
