"""How many threads a piece of work is computed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import torch
from threadpoolctl import threadpool_limits

from polyladder.polynomial.ladder import LadderPolynomial

Options = ParamSpec("Options")
Result = TypeVar("Result")

ONE_THREAD_ROWS = 100_000
"""Up to this many rows a fit of many small blocks is computed on one thread."""


FEW_ROWS = 10_000
"""Up to this many rows a prediction is computed on one thread: several would wait for each other longer than they
compute, above all on a busy machine."""

SMALL_LAYER = 2**15
"""Many steps with a ladder are computed on one thread if its largest layer has at most this many weights."""


def threads_for(rows: int) -> int | None:
    """How many threads many small blocks over this many rows should use; None for all."""
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


def small_on_one_thread(function: Callable[Options, Result]) -> Callable[Options, Result]:
    """Let a function use all threads where it is given a ladder with large layers, and else one.

    Where a function takes many small steps, threads wait for each other longer than they compute.
    """

    @wraps(function)
    def limited_function(*args: Options.args, **kwargs: Options.kwargs) -> Result:
        ladders = [each for each in (*args, *kwargs.values()) if isinstance(each, LadderPolynomial)]
        layers = [layer for each in ladders for layer in (*each.W, *each.V, each.readout)]
        large = any(layer.shape[-2] * layer.shape[-1] > SMALL_LAYER for layer in layers)
        with torch_limited(None if large else 1):
            return function(*args, **kwargs)

    return limited_function


def rows_on_one_thread(method: Callable[Concatenate[Any, Any, Options], Result]) -> Callable[..., Result]:
    """Let a method that predicts rows X use one thread where these are few."""

    @wraps(method)
    def limited_method(self: Any, X: Any, *args: Options.args, **kwargs: Options.kwargs) -> Result:
        try:
            few = len(X) <= FEW_ROWS
        except TypeError:  # not a table: the method itself reports that better
            few = True
        with torch_limited(1 if few else None):
            return method(self, X, *args, **kwargs)

    return limited_method
