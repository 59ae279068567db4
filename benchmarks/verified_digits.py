"""How many digits are decided, and how fast, at the radii of VPN (arXiv 2209.07235)? One thread.

A ladder of order 4, three layers of 100 units, trained on mnist with pixels in [0, 1] and no thought of robustness;
test rows that it classifies rightly; boxes cut to [0, 1]. A row is decided when its class is proven to stay, or when
the attack finds an input where it changes.

    python benchmarks/verified_digits.py
"""

from __future__ import annotations

import time

import torch
from attack_vs_pgd import mnist_ladder
from record import record

from polyladder import attack, certify_margins

ROWS, RADII = 20, (0.001, 0.005, 0.026)


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    p, x, y = mnist_ladder((100, 100, 100), epochs=3)
    right = (p(x).argmax(-1) == y).nonzero().squeeze(-1)[:ROWS]
    x, y = x[right].double(), y[right]
    print("| radius | rows | proven | attacked | undecided | seconds per row, attack | seconds per row, proof |")
    print("|---|---|---|---|---|---|---|", flush=True)
    measured = []
    for radius in RADII:
        low, high = (x - radius).clamp(0, 1), (x + radius).clamp(0, 1)
        center, reach = (low + high) / 2, (high - low) / 2 * (1 + 1e-12)
        began = time.perf_counter()
        broken = attack(p, center, y, reach, certificate=False, restarts=1).success
        middle = time.perf_counter()
        proven = torch.zeros(ROWS, dtype=torch.bool)
        open_rows = (~broken).nonzero().squeeze(-1)
        for row in open_rows.tolist():
            at = slice(row, row + 1)
            bound = certify_margins(p, center[at], y[at], reach[at])
            proven[row] = bool(bound < 0)
        ended = time.perf_counter()
        measured.append(
            {
                "radius": radius,
                "proven": int(proven.sum()),
                "attacked": int(broken.sum()),
                "seconds_per_row_attack": (middle - began) / ROWS,
                "seconds_per_row_proof": (ended - middle) / max(1, len(open_rows)),
            }
        )
        left = ROWS - int(proven.sum()) - int(broken.sum())
        print(
            f"| {radius} | {ROWS} | {int(proven.sum())} | {int(broken.sum())} | {left} | {(middle - began) / ROWS:.2f} "
            f"| {(ended - middle) / max(1, len(open_rows)):.2f} |",
            flush=True,
        )
    record("verified_digits", {"rows": ROWS, "radii": measured}, ("torch",))


if __name__ == "__main__":
    main()
