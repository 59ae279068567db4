"""How many threads a piece of work is computed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits

ONE_THREAD_ROWS = 100_000
"""Rows up to which a fit of many small blocks is computed on one thread."""


def threads_for(rows: int) -> int | None:
    """How many threads many small blocks over so many rows are worth; None for as many as there are."""
    return 1 if rows <= ONE_THREAD_ROWS else None


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Compute on at most this many threads while the block runs; None changes nothing.

    Small matrices are solved faster by one thread than by several that wait for each other, and on a busy machine a
    hundred times faster.
    """
    if threads is None:
        yield
        return
    with torch_limited(threads), threadpool_limits(threads):
        yield


@contextmanager
def torch_limited(threads: int | None) -> Iterator[None]:
    """The same for torch alone, in a microsecond: for a single prediction."""
    if threads is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(min(before, threads))
    try:
        yield
    finally:
        torch.set_num_threads(before)
