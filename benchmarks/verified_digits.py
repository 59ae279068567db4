"""How many digits are decided, and how fast, at the radii of VPN (arXiv 2209.07235)? One thread.

Ladders of order 4, three layers of 100 units, of mnist with pixels in [0, 1]: one trained with no thought of
robustness, one on bounded rows. Test rows that they classify rightly; boxes cut to [0, 1]. A row is decided when its
class is proven to stay, or when the attack finds an input where it changes. The result is one line of
results/verified_digits.jsonl.

    python benchmarks/verified_digits.py
"""

from __future__ import annotations

import time
from typing import Any

import torch
from attack_vs_pgd import mnist_ladder
from record import record
from torch import Tensor

from polyladder import LadderPolynomial, Robust, attack, certify_margins

ROWS, RADII = 100, (0.001, 0.005, 0.026)


def decided(p: LadderPolynomial, x: Tensor, y: Tensor, radius: float) -> dict[str, Any]:
    """How many rows are proven and how many attacked, and the seconds that each took."""
    low, high = (x - radius).clamp(0, 1), (x + radius).clamp(0, 1)
    center, reach = (low + high) / 2, (high - low) / 2 * (1 + 1e-12)
    began = time.perf_counter()
    broken = attack(p, center, y, reach, certificate=False, restarts=1).success
    middle = time.perf_counter()
    left = ~broken
    proven = certify_margins(p, center[left], y[left], reach[left]) < 0
    ended = time.perf_counter()
    return {
        "radius": radius,
        "proven": int(proven.sum()),
        "attacked": int(broken.sum()),
        "undecided": len(x) - int(proven.sum()) - int(broken.sum()),
        "seconds_per_row_attack": round((middle - began) / len(x), 3),
        "seconds_per_row_proof": round((ended - middle) / max(1, int(left.sum())), 3),
    }


def main() -> None:
    """Print the table and record it."""
    torch.set_num_threads(1)
    measured: dict[str, Any] = {"rows": ROWS}
    for name, robust in (("plain", None), ("bounded rows", Robust(0.026, "bound", warmup=2))):
        p, x, y = mnist_ladder((100, 100, 100), epochs=3, robust=robust)
        right = p(x).argmax(-1) == y
        at = right.nonzero().squeeze(-1)[:ROWS]
        found = [decided(p, x[at].double(), y[at], radius) for radius in RADII]
        measured[name] = {"test_error": 1 - float(right.double().mean()), "radii": found}
        print(name, *found, sep="\n", flush=True)
    record("verified_digits", measured, ("torch",))


if __name__ == "__main__":
    main()
