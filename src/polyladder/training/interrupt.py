"""Solves in worker threads that can be told to end: Python delivers Ctrl-C to the main thread alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Stopping(threading.local):
    """What tells a thread to end, in each thread its own."""

    stop: threading.Event | None = None


_thread = Stopping()


def run_until(stop: threading.Event, task: Callable[[], T]) -> T:
    """Run a task in this thread; once ``stop`` is set, its next `check_interrupt` raises KeyboardInterrupt."""
    _thread.stop = stop
    try:
        return task()
    finally:
        _thread.stop = None


def check_interrupt() -> None:
    """Raise KeyboardInterrupt in a thread whose task is to end. Solves ask before every chunk of rows."""
    if _thread.stop is not None and _thread.stop.is_set():
        raise KeyboardInterrupt
