"""What does robustness cost in accuracy? Ladders of mnist trained in four ways, each at several strengths. One thread.

Order 3, two layers of 64 units, pixels in [0, 1], 10,000 training rows, 6 epochs. The accuracy is of all test rows;
the shares that stand the attack, or are proven to stand any, are of the first 150. Pixels may leave [0, 1]. The result
is one line of results/robust_training.jsonl, which docs/figures/robust_training.py draws.

    python benchmarks/robust_training.py
"""

from __future__ import annotations

import os
import time
from typing import Any

import torch
from record import record
from torch import Tensor

from polyladder import LPNN, Adam, LadderPolynomial, Robust, attack, certify_margins, merge, train
from polyladder_lab import load_dataset

RADII = (0.01, 0.03, 0.1)
ROWS, TRAINED, EPOCHS = 150, 10_000, 6
OPTIONS = Adam(epochs=EPOCHS, batch_size=128, learning_rate=2e-3, schedule="cosine", clip=5.0)


def settings() -> list[tuple[str, float, dict[str, Any]]]:
    """How each ladder is trained: the way, its strength, and the options."""
    return [
        ("plain", 0.0, {}),
        *(("jacobian", weight, {"jacobian_penalty": weight}) for weight in (0.01, 0.1)),
        *(("attack", radius, {"robust": Robust(radius, warmup=3)}) for radius in (0.03, 0.1)),
        *(("bound", radius, {"robust": Robust(radius, "bound", warmup=4)}) for radius in (0.01, 0.03, 0.1)),
    ]


def standing(p: LadderPolynomial, x: Tensor, y: Tensor, radius: float) -> tuple[float, float]:
    """The shares of rows that the attack does not break, and that no attack can."""
    held = ~attack(p, x, y, radius, certificate=False, restarts=1).success
    proven = certify_margins(p, x[held].double(), y[held], radius) < 0
    return float(held.double().mean()), float(proven.double().sum() / len(x))


def main() -> None:
    """Train, measure, print and record."""
    torch.set_num_threads(1)
    data = load_dataset("mnist", os.environ.get("POLYLADDER_DATA"))
    x = torch.as_tensor(data.features, dtype=torch.float32) / float(data.features.max())
    y = torch.as_tensor(data.target)
    rows, test = (torch.as_tensor(part) for part in (data.splits[0].train, data.splits[0].test))
    found = []
    for way, strength, options in settings():
        began = time.perf_counter()
        net = LPNN(784, (64, 64), 10, seed=0)
        used = Adam(**{**vars(OPTIONS), **options})
        train(net, x, y, loss="softmax", rows=rows[:TRAINED], options=used)
        p, trained = merge(net), time.perf_counter()
        right = float((p(x[test]).argmax(-1) == y[test]).double().mean())
        shares = [standing(p, x[test][:ROWS], y[test][:ROWS], radius) for radius in RADII]
        ended = time.perf_counter()
        found.append(
            {
                "way": way,
                "strength": strength,
                "accuracy": round(right, 4),
                "attacked": [round(a, 4) for a, _ in shares],
                "certified": [round(c, 4) for _, c in shares],
                "training_seconds": round(trained - began, 1),
                "measuring_seconds": round(ended - trained, 1),
            }
        )
        print(found[-1], flush=True)
    record("robust_training", {"radii": RADII, "test_rows": ROWS, "ladders": found}, ("torch",))


if __name__ == "__main__":
    main()
