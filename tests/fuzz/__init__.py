"""Random and damaged inputs. POLYLADDER_FUZZ_EXAMPLES asks for more of them, and for others each time."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis

fuzz = hypothesis.settings(
    max_examples=int(os.environ.get("POLYLADDER_FUZZ_EXAMPLES", "40")),
    deadline=None,
    derandomize="POLYLADDER_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
"""How long to try."""


@contextmanager
def limited_memory(extra: int) -> Iterator[None]:
    """No more than this many bytes beyond what the process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
