"""Does exact ascent find at least as large a loss as PGD-100 with 10 restarts, and in which time? One run, one thread.

Concrete: a ladder of order 4, error away from a number, inputs scaled to [0, 1], radius 0.05. mnist: a ladder of
order 3 with 100 units per layer, pixels in [0, 1], the margin of the nearest other class, radius 0.05; pixels may
leave [0, 1] for both. PGD takes 100 sign steps of 2.5 radius / 100 from each of 10 random starts and keeps its best
point. The cost of a step of either is counted in evaluations of the polynomial: a gradient is two, an exact line search
is the order.

    python benchmarks/attack_vs_pgd.py
"""

from __future__ import annotations

import os
from dataclasses import replace

import torch
from certified_ranges import trained
from record import record
from timing import alternate
from torch import Tensor

from polyladder import LPNN, Adam, LadderPolynomial, Robust, attack, merge, train
from polyladder.robustness.attack import Attack
from polyladder_lab import load_dataset

STEPS, RESTARTS, ROWS, RADIUS = 100, 10, 100, 0.05


def mnist_ladder(
    hidden: tuple[int, ...], epochs: int = 4, robust: Robust | None = None
) -> tuple[LadderPolynomial, Tensor, Tensor]:
    """A ladder of mnist, pixels in [0, 1], and its test rows and classes; with batch norm unless it is made robust."""
    data = load_dataset("mnist", os.environ.get("POLYLADDER_DATA"))
    x = torch.as_tensor(data.features, dtype=torch.float32) / float(data.features.max())
    y = torch.as_tensor(data.target)
    split = data.splits[0]
    net = LPNN(784, hidden, 10, batch_norm=robust is None, seed=0)
    rows = torch.as_tensor(split.train)
    options = Adam(epochs=epochs, batch_size=256, l2=1e-5, schedule="cosine")
    if robust is not None:
        options = replace(options, learning_rate=2e-3, clip=5.0, l2=0.0, robust=robust)
    train(net, x, y, loss="softmax", rows=rows, options=options)
    p, test = merge(net), torch.as_tensor(split.test)
    print(f"mnist {hidden}: test error {(p(x[test]).argmax(-1) != y[test]).float().mean():.4f}")
    return p, x[test], y[test]


def pgd(p: LadderPolynomial, x: Tensor, y: Tensor, radius: float, seed: int = 0) -> tuple[Tensor, int]:
    """The largest loss that projected gradient ascent finds for each row, and its evaluations."""
    p, n = p.to(torch.float64), len(x)
    center = x.double().repeat(RESTARTS, 1)
    target = y.repeat(RESTARTS)
    noise = torch.rand(center.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    at = center + radius * (2 * noise - 1)
    best = torch.full((len(at),), -torch.inf, dtype=torch.float64)
    for _ in range(STEPS):
        at.requires_grad_(True)
        value = loss(p, at, target)
        (slope,) = torch.autograd.grad(value.sum(), at)
        best = torch.maximum(best, value.detach())
        with torch.no_grad():
            at = at + 2.5 * radius / STEPS * slope.sign()
            at = torch.minimum(torch.maximum(at, center - radius), center + radius)
    best = torch.maximum(best, loss(p, at, target).detach())
    return best.view(RESTARTS, n).amax(0), len(center) * (2 * STEPS + 1)


def loss(p: LadderPolynomial, x: Tensor, y: Tensor) -> Tensor:
    """The distance from a number, or the margin by which another class wins."""
    f = p(x)
    if y.is_floating_point():
        return (f[:, 0] - y).abs()
    own = f.gather(1, y.unsqueeze(1))[:, 0]
    return f.scatter(1, y.unsqueeze(1), -torch.inf).amax(1) - own


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    concrete, rows = trained(3, ROWS)
    digits, images, classes = mnist_ladder((100, 100))
    clean = concrete(rows)[:, 0].double()
    print(
        "| data | rows where ours is no smaller | mean loss PGD | ours | evaluations PGD | ours | seconds PGD | ours |"
    )
    print("|---|---|---|---|---|---|---|---|")
    measured = {}
    for name, p, x, y in (("concrete", concrete, rows, clean + 1.0), ("mnist", digits, images[:ROWS], classes[:ROWS])):
        runs = {"PGD": lambda p=p, x=x, y=y: pgd(p, x, y, RADIUS), "ours": lambda p=p, x=x, y=y: exact(p, x, y)}
        seconds = alternate(runs, rounds=3)
        (theirs, calls), ours = runs["PGD"](), runs["ours"]()
        wins = (ours.value >= theirs - 1e-9 * theirs.abs()).float().mean()
        measured[name] = {
            "rows_where_ours_is_no_smaller": float(wins),
            "mean_loss": {"PGD": float(theirs.mean()), "ours": float(ours.value.mean())},
            "evaluations": {"PGD": calls, "ours": ours.evaluations},
            "seconds": {name: round(value, 3) for name, value in seconds.items()},
        }
        print(
            f"| {name} | {wins:.0%} | {theirs.mean():.4f} | {ours.value.mean():.4f} | {calls:,} | {ours.evaluations:,} "
            f"| {seconds['PGD']:.2f} | {seconds['ours']:.2f} |"
        )
    record("attack_vs_pgd", {"radius": RADIUS, "rows": ROWS, **measured}, ("torch",))


def exact(p: LadderPolynomial, x: Tensor, y: Tensor) -> Attack:
    """Our attack without its certificate, which PGD has none of."""
    return attack(p, x, y, RADIUS, certificate=False, restarts=2)


if __name__ == "__main__":
    main()
