"""How every benchmark here times: rivals take turns in one run, and the median of their times is compared."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def alternate(rivals: dict[str, Callable[[], object]], rounds: int, warmup: int = 1) -> dict[str, float]:
    """Median seconds of each rival. Taking turns spreads a noisy machine's moods over all of them."""
    for _ in range(warmup):
        for run in rivals.values():
            run()
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, run in rivals.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}
