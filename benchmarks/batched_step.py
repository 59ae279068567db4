"""
How much cheaper is one training step of 100 ladders as a batch than of 100 plain PyTorch ladders?

Each step is a forward and a backward pass on a mini-batch of 32 rows: 8 inputs, 50-50-50 units, batch norm, dropout.
Run: python benchmarks/batched_step.py [--compile]
"""

from __future__ import annotations

import argparse

import torch
from timing import alternate
from torch import Tensor, nn

from polyladder import LPNN

MODELS, ROWS, INPUTS, HIDDEN, DROPOUT = 100, 32, 8, (50, 50, 50), 0.1


class PlainLadder(nn.Module):
    """A single ladder as one would write it from PyTorch's own layers."""

    def __init__(self) -> None:
        super().__init__()
        sizes = (INPUTS, *HIDDEN)
        self.layer = nn.ModuleList(nn.Linear(i, k) for i, k in zip(sizes, HIDDEN, strict=False))
        self.gate = nn.ModuleList(nn.Linear(INPUTS, k) for k in HIDDEN)
        self.norm = nn.ModuleList(nn.BatchNorm1d(k) for k in HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)
        self.readout = nn.Linear(HIDDEN[-1], 1)

    def forward(self, x: Tensor) -> Tensor:
        h = x
        for layer, gate, norm in zip(self.layer, self.gate, self.norm, strict=True):
            h = self.dropout(norm(layer(h) * gate(x)))
        return self.readout(h)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true", help="also time torch.compile of the batch")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    x, y = torch.randn(ROWS, INPUTS), torch.randn(ROWS, 1)
    singles = [PlainLadder() for _ in range(MODELS)]
    batch = LPNN(INPUTS, HIDDEN, 1, batch_norm=True, dropout=DROPOUT, batch_shape=(MODELS,))

    def step_singles() -> None:
        for net in singles:
            nn.functional.mse_loss(net(x), y).backward()

    def step(net: nn.Module) -> None:
        (net(x) - y).square().mean((-1, -2)).sum().backward()

    rivals = {"100 plain ladders": step_singles, "one batched LPNN": lambda: step(batch)}
    if arguments.compile:
        compiled = torch.compile(batch)
        rivals["one batched LPNN, compiled"] = lambda: step(compiled)
    seconds = alternate(rivals, arguments.rounds, warmup=3)
    base = seconds["100 plain ladders"]
    for name, value in seconds.items():
        print(f"{name:28s} {value * 1e3:8.2f} ms   1/{base / value:.1f}")


if __name__ == "__main__":
    main()
