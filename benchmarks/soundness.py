"""Does any search leave a certified range? 10,000 drawn ladders and regions, two rows each. One thread, hours.

The ladders, the searches and the check in 400-bit arithmetic are those of the test; the result is one line of
results/soundness.jsonl.

    PYTHONPATH=src:. python benchmarks/soundness.py --ladders 10000
"""

from __future__ import annotations

import argparse
import time

import torch
from record import record

from tests.laws.test_soundness import ROWS, outside

EVERY = 100
"""Ladders between two lines of progress."""


def main() -> None:
    """Try the ladders of the seeds 0, 1, ... and record how many points lay outside."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ladders", type=int, default=10_000)
    count = parser.parse_args().ladders
    torch.set_num_threads(1)
    violations, finite, began = 0, 0, time.process_time()
    for seed in range(count):
        bad, ends = outside(seed)
        violations, finite = violations + len(bad), finite + ends
        if seed % EVERY == EVERY - 1:
            print(f"{seed + 1} ladders, {violations} violations, {time.process_time() - began:.0f} s", flush=True)
    seconds = round(time.process_time() - began)
    figures = {
        "ladders": count,
        "regions": ROWS * count,
        "regions_with_finite_upper_end": finite,
        "violations": violations,
        "processor_seconds": seconds,
    }
    record("soundness", figures, ("torch", "mpmath"))


if __name__ == "__main__":
    main()
