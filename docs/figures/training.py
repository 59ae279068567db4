"""Block solves and Adam on Friedman #1, from the same eight starts: objective and test error against seconds."""

import time
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import make_friedman1
from torch import Tensor

from polyladder import Adam, LadderPolynomial, fit_alternating, merge, train
from polyladder.models.unmerge import unmerge
from polyladder.training.alternating import random_start

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "training"

torch.set_num_threads(1)
ROWS, ALPHA, SWEEPS, EPOCHS, MODELS = 500, 1e-3, 40, 100, 8
inputs, outputs = (torch.from_numpy(t) for t in make_friedman1(ROWS + 1000, noise=1.0, random_state=0))
x = (inputs - inputs[:ROWS].mean(0)) / inputs[:ROWS].std(0)
y = ((outputs - outputs[:ROWS].mean()) / outputs[:ROWS].std()).unsqueeze(-1)
x, x_test, y, y_test = x[:ROWS], x[ROWS:], y[:ROWS], y[ROWS:]
start = random_start(10, (10, 10, 10), 1, range(MODELS), MODELS)


def measure(p: LadderPolynomial) -> tuple[Tensor, Tensor]:
    """The objective of the block solves, and the squared error on fresh rows, for each model."""
    ridge = sum(t.square().flatten(1).sum(1) for name, t in p.tensors().items() if name != "offset")
    errors = [(p(a) - b).square().mean((1, 2)) for a, b in ((x, y), (x_test, y_test))]
    return errors[0] + ALPHA * ridge, errors[1]


class Curve:
    """Measurements of a run; the clock (processor time) stands still while they are taken."""

    def __init__(self, current: Callable[[], LadderPolynomial]) -> None:
        self.current, self.seconds, self.values = current, [0.0], [measure(start)]
        self.running = time.process_time()

    def __call__(self, *_: object) -> None:
        self.seconds.append(self.seconds[-1] + time.process_time() - self.running)
        self.values.append(measure(self.current()))
        self.running = time.process_time()

    def medians(self, which: int) -> Tensor:
        return torch.stack([v[which] for v in self.values]).median(1).values


def block_solves() -> Curve:
    # One sweep at a time from where the last one ended, which is what a longer fit does.
    p = start
    curve = Curve(lambda: p)
    for _ in range(SWEEPS):
        p = fit_alternating(p, x, y, alpha=ALPHA, sweeps=1).polynomial
        curve()
    return curve


def adam(learning_rate: float) -> Curve:
    nets = unmerge(start).float()
    options = Adam(epochs=EPOCHS, batch_size=32, learning_rate=learning_rate, l2=ALPHA, clip=10.0)
    curve = Curve(lambda: merge(nets).to(torch.float64))
    train(nets, x.float(), y.float(), options=options, progress=curve)
    return curve


def main() -> None:
    block_solves()  # once to warm up
    curves = {"block solves": block_solves()}
    curves |= {f"Adam, rate {rate:g}": adam(rate) for rate in (1e-3, 3e-3, 1e-2)}
    figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.4), layout="constrained")
    shades = ["#00798c", "#f0b27a", "#d1495b", "#6b2737"]
    for which, (axis, title) in enumerate(zip(axes, ("regularized loss", "squared error on fresh rows"), strict=True)):
        for (name, curve), shade in zip(curves.items(), shades, strict=True):
            dots = {"marker": "o", "markersize": 2.5} if name == "block solves" else {}
            axis.plot(curve.seconds[1:], curve.medians(which)[1:], color=shade, label=name, linewidth=1.4, **dots)
        axis.set(xscale="log", yscale="log", xlabel="processor seconds for eight ladders")
        axis.set_title(title, loc="left", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    noise = 1 / outputs[:ROWS].var().item()
    axes[1].axhline(noise, color="#999999", linewidth=0.8, linestyle="--")
    axes[1].text(axes[1].get_xlim()[1], noise, "noise", ha="right", va="bottom", color="#777777", fontsize=9)
    axes[1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})

    exact = curves["block solves"]
    for name, curve in curves.items():
        lowest = [curve.medians(which).min().item() for which in (0, 1)]
        ends = [curve.medians(which)[-1].item() for which in (0, 1)]
        reach = [
            next((t for t, v in zip(exact.seconds, exact.medians(w), strict=True) if v <= lowest[w]), None)
            for w in (0, 1)
        ]
        print(name, f"{curve.seconds[-1]:.2f} s", "lowest", lowest, "end", ends, "block solves are there after", reach)


if __name__ == "__main__":
    main()
