"""Threads are limited for a while."""

import torch
from threadpoolctl import threadpool_info

from polyladder.training.threads import ONE_THREAD_ROWS, limited, threads_for, torch_limited


def test_all_pools_have_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    before = torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]
    with limited(1):
        assert torch.get_num_threads() == 1
        assert all(pool["num_threads"] == 1 for pool in threadpool_info())
    assert (torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]) == before


def test_none_changes_nothing() -> None:
    before = torch.get_num_threads()
    with limited(None), torch_limited(None):
        assert torch.get_num_threads() == before


def test_torch_alone_is_limited_and_freed_after_an_error() -> None:
    before = torch.get_num_threads()
    try:
        with torch_limited(1):
            assert torch.get_num_threads() == 1
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert torch.get_num_threads() == before


def test_only_many_rows_are_worth_several_threads() -> None:
    assert threads_for(ONE_THREAD_ROWS) == 1
    assert threads_for(ONE_THREAD_ROWS + 1) is None
