"""Block solves and Adam on Friedman #1, from the same eight starts: objective and test error against seconds."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import matplotlib.pyplot as plt
import torch
from sklearn.datasets import make_friedman1
from torch import Tensor

from polyladder import Adam, LadderPolynomial, fit_alternating, merge, random_start, train
from polyladder.models.merge import unmerge

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "training"

torch.set_num_threads(1)
ROWS, ALPHA, SWEEPS, EPOCHS, MODELS = 500, 1e-3, 20, 100, 8
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


@dataclass
class Curve:
    """Processor seconds so far, and the median over models of the objective and of the error on fresh rows."""

    seconds: list[float]
    medians: tuple[Tensor, Tensor]


def block_solves(alpha: float | Literal["auto"]) -> Curve:
    seconds, began = [], time.process_time()
    options = {"alpha": alpha, "sweeps": SWEEPS}
    fit = fit_alternating(
        start, x, y, **options, tolerance=0.0, progress=lambda *_: seconds.append(time.process_time() - began)
    )
    # The same fit once more, off the clock, with the fresh rows in view.
    fresh = torch.arange(ROWS, ROWS + len(x_test))
    again = fit_alternating(
        start,
        torch.cat([x, x_test]),
        torch.cat([y, y_test]),
        **options,
        validation=fresh,
        patience=SWEEPS,
    )
    return Curve(seconds, (fit.training_loss.median(0).values, again.validation_loss.median(0).values))


def adam(learning_rate: float) -> Curve:
    nets = unmerge(start).float()
    options = Adam(epochs=EPOCHS, batch_size=32, learning_rate=learning_rate, l2=ALPHA, clip=10.0)
    seconds, values, paused, began = [], [], [0.0], time.process_time()

    def progress(*_: object) -> None:
        now = time.process_time()
        seconds.append(now - began - paused[0])
        values.append(measure(merge(nets).to(torch.float64)))
        paused[0] += time.process_time() - now

    train(nets, x.float(), y.float(), options=options, progress=progress)
    objective, error = (torch.stack(v).median(1).values for v in zip(*values, strict=True))
    return Curve(seconds, (objective, error))


def main() -> None:
    block_solves(ALPHA)  # once to warm up
    curves = {f"block solves, alpha={ALPHA:g}": block_solves(ALPHA), "block solves, alpha='auto'": block_solves("auto")}
    curves |= {f"Adam, learning rate {rate:g}": adam(rate) for rate in (1e-3, 3e-3, 1e-2)}
    figure, axes = plt.subplots(1, 2, figsize=(9.8, 3.4), layout="constrained")
    shades = ["#00798c", "#2e4057", "#f0b27a", "#d1495b", "#6b2737"]
    titles = (f"regularized loss, alpha = {ALPHA:g}", "squared error on fresh rows")
    for which, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        for (name, curve), shade in zip(curves.items(), shades, strict=True):
            if which == 0 and "auto" in name:  # its objective changes from sweep to sweep
                continue
            dots = {"marker": "o", "markersize": 2.5} if "block" in name else {}
            axis.plot(curve.seconds, curve.medians[which], color=shade, label=name, linewidth=1.4, **dots)
        axis.set(xscale="log", yscale="log", xlabel="processor seconds for eight ladders")
        axis.set_title(title, loc="left", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_yticks([0.04, 0.06, 0.1, 0.2, 0.5, 1], labels=["0.04", "0.06", "0.1", "0.2", "0.5", "1"])
        axis.set_yticks([], minor=True)
        axis.set_xticks([0.1, 1], labels=["0.1", "1"])
    noise = 1 / outputs[:ROWS].var().item()
    axes[1].axhline(noise, color="#999999", linewidth=0.8, linestyle="--")
    axes[1].text(axes[1].get_xlim()[1], noise, "noise", ha="right", va="bottom", color="#777777", fontsize=9)
    axes[1].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
    for name, curve in curves.items():
        lowest = [f"{values.min():.4f}, at the end {values[-1]:.4f}" for values in curve.medians]
        print(f"{name}: {curve.seconds[0]:.3f} to {curve.seconds[-1]:.2f} s; objective {lowest[0]}; error {lowest[1]}")


if __name__ == "__main__":
    main()
