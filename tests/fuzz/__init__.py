"""Random and damaged inputs. POLYLADDER_FUZZ_EXAMPLES asks for more of them, and for others each time."""

import os

import hypothesis

fuzz = hypothesis.settings(
    max_examples=int(os.environ.get("POLYLADDER_FUZZ_EXAMPLES", "40")),
    deadline=None,
    derandomize="POLYLADDER_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
"""How long to try."""
