"""How much cheaper is the exact minimum of a ladder along a line than the best of a 10,000-point grid, and is it lower?

All search the same random lines through one ladder of order 4: 8 inputs, 50-50-50 units, float64. The exact way
computes each line's polynomial and minimizes it. The grid evaluates the network, in chunks of rows whose activations
stay in the cache; a second grid evaluates the line's polynomial instead. The network itself judges the places found:
those of one line stand in the same row of equal matrix products, so that equal places have equal values.
Run: python benchmarks/line_vs_grid.py [--lines 1000] [--points 10000]
"""

from __future__ import annotations

import argparse

import torch
from timing import alternate
from torch import Tensor

from polyladder import LPNN, LadderPolynomial, line_polynomial, merge

INPUTS, HIDDEN, LO, HI, CHUNK = 8, (50, 50, 50), -2.0, 2.0, 500


def exact(p: LadderPolynomial, point: Tensor, direction: Tensor) -> Tensor:
    """Where each line is lowest. Shape (lines,)."""
    return line_polynomial(p, point, direction).minimize(LO, HI)[0].squeeze(-1)


def network_on_grid(p: LadderPolynomial, point: Tensor, direction: Tensor, grid: Tensor) -> Tensor:
    best = []
    for x, g in zip(point, direction, strict=True):
        value = torch.cat([p(torch.addcmul(x, t, g)) for t in grid.unsqueeze(-1).split(CHUNK)])
        best.append(value.squeeze(-1).argmin())
    return grid[torch.stack(best)]


def polynomial_on_grid(p: LadderPolynomial, point: Tensor, direction: Tensor, grid: Tensor) -> Tensor:
    line = line_polynomial(p, point, direction)
    low, best = torch.full((len(point), 1), torch.inf, dtype=grid.dtype), torch.zeros(len(point), 1, dtype=grid.dtype)
    for t in grid.split(CHUNK // 10):
        value, index = line(t[:, None, None]).min(0)
        low, best = torch.where(value < low, value, low), torch.where(value < low, t[index], best)
    return best.squeeze(-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    p = merge(LPNN(INPUTS, HIDDEN, 1, seed=0, dtype=torch.float64))
    g = torch.Generator().manual_seed(0)
    point, direction = torch.randn(2, arguments.lines, INPUTS, generator=g, dtype=torch.float64)
    grid = torch.linspace(LO, HI, arguments.points, dtype=torch.float64)

    found: dict[str, Tensor] = {}
    rivals = {
        "exact minimum": lambda: found.update(exact=exact(p, point, direction)),
        "network on the grid": lambda: found.update(network=network_on_grid(p, point, direction, grid)),
        "polynomial on the grid": lambda: found.update(polynomial=polynomial_on_grid(p, point, direction, grid)),
    }
    seconds = alternate(rivals, arguments.rounds)
    value = {name: p(torch.addcmul(point, t.unsqueeze(-1), direction)).squeeze(-1) for name, t in found.items()}
    print(f"{arguments.lines} lines, grid of {arguments.points} points, {arguments.threads} thread(s)")
    print(f"{'':24s} {'ms':>10s} {'times exact':>12s} {'exact <= it':>12s} {'mean excess':>12s}")
    for (name, taken), found_value in zip(seconds.items(), value.values(), strict=True):
        lower = int((value["exact"] <= found_value).sum())
        excess = (found_value - value["exact"]).mean().item()
        print(f"{name:24s} {taken * 1e3:10.2f} {taken / seconds['exact minimum']:12.1f} {lower:12d} {excess:12.1e}")


if __name__ == "__main__":
    main()
