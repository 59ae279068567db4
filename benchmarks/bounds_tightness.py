"""How far above the largest gradient that a search finds are the three Lipschitz bounds?

Ladders of width 10 over 6 inputs on balls of radius 1: random ones, and ones trained on Friedman's first function.
Run: python benchmarks/bounds_tightness.py [--seeds 5] [--steps 1500]
"""

from __future__ import annotations

import argparse
import math

import torch
from torch import Tensor

from polyladder import LPNN, LadderPolynomial, lipschitz_bound, merge

INPUTS, WIDTH, ROWS, RADIUS = 6, 10, 1000, 1.0
METHODS = ("paper", "recursive", "local")


def friedman() -> tuple[Tensor, Tensor]:
    """Friedman's first function on uniform inputs, the last of which it ignores; both sides standardized."""
    x = torch.rand(ROWS, INPUTS, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    y = 10 * torch.sin(math.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5).square() + 10 * x[:, 3] + 5 * x[:, 4]
    return (x - 0.5) * math.sqrt(12), ((y - y.mean()) / y.std()).unsqueeze(-1)


def random_ladders(order: int, seeds: int) -> LadderPolynomial:
    """A batch of ladders with normal weights, scaled so that outputs are of order one."""
    hidden, inputs = [WIDTH] * (order - 1), [INPUTS] + [WIDTH] * (order - 1)
    generator = torch.Generator().manual_seed(order)

    def draw(*shape: int) -> Tensor:
        return torch.randn(seeds, *shape, generator=generator, dtype=torch.float64)

    return LadderPolynomial(
        W=tuple(draw(k, i) / math.sqrt(i) for k, i in zip(hidden, inputs, strict=False)),
        b=tuple(0.3 * draw(k) for k in hidden),
        V=tuple(draw(k, INPUTS) / math.sqrt(INPUTS) for k in hidden),
        c=tuple(1 + 0.3 * draw(k) for k in hidden),
        readout=draw(1, inputs[-1]) / math.sqrt(inputs[-1]),
        offset=draw(1),
    )


def trained_ladders(order: int, seeds: int, steps: int) -> LadderPolynomial:
    """A batch of ladders trained with batch norm and Adam, then merged."""
    x, y = friedman()
    net = LPNN(
        INPUTS,
        [WIDTH] * (order - 1),
        1,
        batch_norm=True,
        batch_shape=(seeds,),
        seed=list(range(seeds)),
        dtype=torch.float64,
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    generator = torch.Generator().manual_seed(order)
    for _ in range(steps):
        rows = torch.randint(ROWS, (128,), generator=generator)
        loss = (net(x[rows]) - y[rows]).square().mean((-1, -2)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return merge(net.eval()).map(torch.detach)


def largest_gradient(p: LadderPolynomial, center: Tensor, radius: float, starts: int = 64, steps: int = 200) -> Tensor:
    """The largest gradient norm that projected ascent finds from many starts. One output; shape batch_shape."""
    generator = torch.Generator().manual_seed(0)
    step = torch.randn(*p.batch_shape, starts, p.in_features, generator=generator, dtype=p.dtype)
    step = (
        step
        * radius
        * torch.rand(*step.shape[:-1], 1, generator=generator, dtype=p.dtype)
        / step.norm(dim=-1, keepdim=True)
    )
    best = torch.zeros(p.batch_shape, dtype=p.dtype)
    for i in range(steps):
        x = (center + step).requires_grad_()
        (gradient,) = torch.autograd.grad(p(x).sum(), x, create_graph=True)
        size = gradient.norm(dim=-1)
        best = torch.maximum(best, size.detach().amax(-1))
        (uphill,) = torch.autograd.grad(size.sum(), x)
        step = step + 0.1 * radius * 0.98**i * uphill / uphill.norm(dim=-1, keepdim=True).clamp_min(1e-30)
        step = step * (radius / step.norm(dim=-1, keepdim=True)).clamp_max(1)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1500, help="of training")
    parser.add_argument("--orders", type=int, nargs="+", default=[2, 3, 4, 5, 6])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    x, _ = friedman()
    origin, row = torch.zeros(INPUTS, dtype=torch.float64), x[0]
    print("| ladders | center | order | found | paper | recursive | local | local, worst |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ("random", "trained"):
        for order in arguments.orders:
            if kind == "random":
                p = random_ladders(order, arguments.seeds)
            else:
                p = trained_ladders(order, arguments.seeds, arguments.steps)
            for place, center in {"origin": origin, "a row": row}.items():
                found = largest_gradient(p, center, RADIUS)
                ratios = [lipschitz_bound(p, RADIUS, center, method) / found for method in METHODS]
                cells = [f"{float(ratio.median()):.3g}" for ratio in ratios]
                line = [
                    kind,
                    place,
                    str(order),
                    f"{float(found.median()):.2f}",
                    *cells,
                    f"{float(ratios[-1].max()):.2f}",
                ]
                print("| " + " | ".join(line) + " |", flush=True)


if __name__ == "__main__":
    main()
