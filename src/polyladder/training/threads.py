"""How many threads a piece of work is computed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Compute on at most this many threads while the block runs; None changes nothing.

    Small matrices are solved faster by one thread than by several that wait for each other, and on a busy machine a
    hundred times faster.
    """
    if threads is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(min(before, threads))
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)
