"""How much faster do two processes score encrypted rows than one?

A ladder of order 5 (8 inputs, 16-16-16-16 units), 65,536 rows in blocks that processes share. Starting them, loading
the libraries and handing over the blocks is counted. One and two processes take turns.

Run: python benchmarks/encrypted_workers.py
"""

from __future__ import annotations

import time

import numpy as np
from encrypted_rows import INPUTS, ladder
from record import record

from polyladder import encrypt

ROWS = 65_536


def main() -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (ROWS, INPUTS))
    made = encrypt(ladder(16, 4, 2.7), tolerance=0.2, ranges=[(-1.0, 1.0)] * INPUTS)
    keys = made.recipe.make_keys()
    rows = made.recipe.encrypt(keys.secret, x)
    seconds: dict[int, float] = {}
    for workers in (1, 2, 1, 2):
        start = time.perf_counter()
        made.score(keys.public, rows, workers=workers)
        seconds[workers] = min(seconds.get(workers, float("inf")), time.perf_counter() - start)
    print(f"one process {seconds[1]:.1f} s, two {seconds[2]:.1f} s: {seconds[1] / seconds[2]:.2f} times faster")
    record("encrypted_workers", {"rows": ROWS, "seconds": seconds}, ("tenseal", "numpy", "torch"))


if __name__ == "__main__":
    main()
