"""How tight are certified ranges beside auto_LiRPA's, and how long do they take? One run, one thread.

Ladders of two, three and five layers of 16 units on the concrete data, inputs scaled to [0, 1], strength in MPa; boxes
around 20 test rows. auto_LiRPA (intervals, CROWN, optimized CROWN) needs an environment of its own: run this file
there, with this package's source on PYTHONPATH. Without it, its columns stay empty.

    python benchmarks/certified_ranges.py
"""

from __future__ import annotations

import itertools
import os

import torch
from record import record
from timing import alternate
from torch import Tensor, nn

from polyladder import LPNN, Adam, LadderPolynomial, certify, merge, train
from polyladder_lab import load_dataset

ROWS, RADII, DEPTHS = 20, (0.01, 0.05), (2, 3, 5)


class Network(nn.Module):
    """The ladder as auto_LiRPA reads it: linear layers and products."""

    def __init__(self, p: LadderPolynomial) -> None:
        super().__init__()
        self.layers = nn.ModuleList(linear(W, b) for W, b in zip(p.W, p.b, strict=True))
        self.gates = nn.ModuleList(linear(V, c) for V, c in zip(p.V, p.c, strict=True))
        self.readout = linear(p.readout, p.offset)

    def forward(self, x: Tensor) -> Tensor:
        h = x
        for layer, gate in zip(self.layers, self.gates, strict=True):
            h = layer(h) * gate(x)
        return self.readout(h)


def linear(weight: Tensor, intercept: Tensor) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    layer.weight.data, layer.bias.data = weight.float(), intercept.float()
    return layer


def trained(depth: int, count: int = ROWS) -> tuple[LadderPolynomial, Tensor]:
    """A ladder trained on the first split of concrete, and test rows."""
    data = load_dataset("concrete", os.environ.get("POLYLADDER_DATA"))
    split = data.splits[0]
    X = torch.as_tensor(data.features, dtype=torch.float32)
    low, high = X.amin(0), X.amax(0)
    x, y = (X - low) / (high - low), torch.as_tensor(data.target, dtype=torch.float32)
    net = LPNN(8, (16,) * depth, 1, batch_norm=True, seed=0)
    rows = torch.as_tensor(split.train)
    mean, scale = y[rows].mean(), y[rows].std()
    train(net, x, (y - mean) / scale, rows=rows, options=Adam(epochs=200, learning_rate=3e-3, schedule="cosine"))
    p = merge(net).to(torch.float64)
    units = float(scale)
    p = LadderPolynomial(p.W, p.b, p.V, p.c, p.readout * units, p.offset * units + float(mean))
    test = torch.as_tensor(split.test)
    error = (p(x[test].double())[:, 0] - y[test]).square().mean().sqrt()
    print(f"order {depth + 1}: test RMSE {error:.2f} MPa")
    return p.to(torch.float32), x[test[:count]]


def corners(p: LadderPolynomial, x: Tensor, radius: float) -> Tensor:
    """The range over all corners: a lower estimate of the true range. Shape (n,)."""
    steps = radius * torch.tensor(list(itertools.product([-1.0, 1.0], repeat=8)), dtype=torch.float64)
    values = p.to(torch.float64)((x.double().unsqueeze(1) + steps).flatten(0, 1)).view(len(x), -1)
    return values.amax(1) - values.amin(1)


def rivals(p: LadderPolynomial, x: Tensor, radius: float) -> dict[str, object]:
    """auto_LiRPA's methods as functions that return widths."""
    try:
        from auto_LiRPA import BoundedModule, BoundedTensor
        from auto_LiRPA.perturbations import PerturbationLpNorm
    except ImportError:
        return {}
    model = BoundedModule(Network(p), torch.empty_like(x))
    region = BoundedTensor(x, PerturbationLpNorm(norm=float("inf"), eps=radius))

    def width(method: str) -> Tensor:
        lower, upper = model.compute_bounds(x=(region,), method=method)
        return (upper - lower).detach()[:, 0]

    return {
        "intervals": lambda: width("IBP"),
        "CROWN": lambda: width("CROWN"),
        "optimized CROWN": lambda: width("CROWN-Optimized"),
    }


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print("| order | radius | method | mean width | beside corners | ms, 20 rows |\n|---|---|---|---|---|---|")
    lines, measured = [], []
    for depth in DEPTHS:
        p, x = trained(depth)
        for radius in RADII:
            inner = corners(p, x, radius)

            def ours(budget: float | None = None, p=p, x=x, radius=radius) -> Tensor:
                found = certify(p, x, radius, max_seconds=budget, tolerance=1e-3)
                return (found.upper - found.lower)[:, 0]

            methods = {**rivals(p, x, radius), "polyladder": ours}
            seconds = alternate(methods, rounds=5)
            methods["polyladder, splitting"] = lambda ours=ours: ours(20.0)
            seconds |= alternate({"polyladder, splitting": methods["polyladder, splitting"]}, rounds=1, warmup=0)
            lines.append(f"| {depth + 1} | {radius} | corners | {inner.mean():.3f} | 1 | |")
            for name, method in methods.items():
                width = method().double()
                loss, time = float((width / inner).mean()), 1000 * seconds[name]
                lines.append(f"| {depth + 1} | {radius} | {name} | {width.mean():.3f} | {loss:.4f} | {time:.1f} |")
                measured.append(
                    {
                        "order": depth + 1,
                        "radius": radius,
                        "method": name,
                        "mean_width": round(float(width.mean()), 4),
                        "beside_corners": round(loss, 4),
                        "milliseconds": round(time, 1),
                    }
                )
    print("\n".join(lines))
    record("certified_ranges", {"rows": len(x), "methods": measured}, ("torch",))


if __name__ == "__main__":
    main()
